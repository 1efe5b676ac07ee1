"""The functions of the numerics library that are exact, on both software adapters, against NumPy.

An adapter may read arguments below 2^-126 in magnitude as 0 and flush such results: where that
matters they are left out. Everything else is compared bit for bit, any NaN with any other.
"""

import numpy as np
import pytest

RNG = np.random.default_rng(20)
SPECIALS = np.hstack(
    [
        [0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 0.25, -0.25, 1.5, 2.5, -2.5, 3.9, -3.9, 7, -7],
        [np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-126), 1 + 2.0**-23],
        [1e10, -1e10, 3.4028234663852886e38, -3.4028234663852886e38, 8388607.5, 8388608, -8388609],
        [2.0**24, 2.0**31, -(2.0**31), 2147483520, -2147483904, 2.0**32, 4294967040],
        [65504, 65519.996, 65520, 65535.9, 65536, 70000, 32767.5, -32768.9, -32769],
        [127.9, 128, -128.9, -129, 255.9, 256],
    ]
).astype(np.float32)
ANY = np.concatenate([RNG.integers(0, 2**32, 1 << 16, dtype=np.uint32).view(np.float32), SPECIALS])
MODERATE = (RNG.normal(size=1 << 15) * 10).astype(np.float32)
FLOATS = np.concatenate([ANY, MODERATE, np.round(MODERATE)])
WORDS = np.concatenate(
    [
        RNG.integers(0, 2**32, 1 << 16, dtype=np.uint32),
        RNG.integers(-20, 20, 1 << 15).astype(np.int32).view(np.uint32),
        np.array([0, 1, 2, 2**31 - 1, 2**31, 2**31 + 128, 2**32 - 128, 2**32 - 1], np.uint32),
    ]
)
INTS = WORDS.view(np.int32)
EDGES = np.array([-(2**31), -1, 0, 1, 2, 3, -3, 768, 2**31 - 1], np.int32)
SHIFTS = RNG.integers(-3, 40, len(WORDS)).astype(np.int32)
BASES = np.concatenate([RNG.integers(-(2**31), 2**31, 4096), RNG.integers(-3, 4, 4096)])
EXPONENTS = RNG.integers(-6, 40, len(BASES))
HALVES = np.arange(1 << 16, dtype=np.uint32)


def pairs(values: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = (grid.ravel() for grid in np.meshgrid(edges, edges))
    return np.concatenate([values, first]), np.concatenate([RNG.permutation(values), second])


TWO_FLOATS = pairs(FLOATS, SPECIALS)
TWO_INTS = pairs(INTS, EDGES)
TWO_WORDS = tuple(each.view(np.uint32) for each in TWO_INTS)


def around_halves() -> np.ndarray:
    """Every float16 and its neighbours, the ties between them among these, and anything else."""
    halves = HALVES.astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    steps = [halves + np.uint32(step) for step in (0, 1, 0xFFF, 0x1000, 0x1001)]
    ties = np.arange(4096, dtype=np.float32) * np.float32(2.0**-25)
    return np.concatenate([*(each.view(np.float32) for each in steps), ties, FLOATS])


def two_halves() -> tuple[np.ndarray, np.ndarray]:
    """Pairs of float16 numbers: any, neighbours, and every one of the edges with every other."""
    edges = np.array([0, 1, 2, 0x3FF, 0x400, 0x3C00, 0x7BFE, 0x7BFF, 0x7C00, 0x7E00], np.uint16)
    every = HALVES.astype(np.uint16)
    first, second = pairs(every, np.concatenate([edges, edges | 0x8000]))
    first, second = (
        np.concatenate([first, every, every]),
        np.concatenate([second, every + 1, every]),
    )
    return first.view(np.float16), second.view(np.float16)


def saturated(least: int, greatest: int, dtype: type) -> np.ndarray:
    """NumPy's own casts are not defined outside of the range."""
    whole = np.trunc(np.nan_to_num(FLOATS.astype(np.float64), nan=0.0))
    return np.clip(whole, least, greatest).astype(np.int64).astype(dtype)


def extreme(choose, zeros) -> np.ndarray:
    """NumPy's maximum or minimum, where -0 is below 0."""
    a, b = TWO_FLOATS
    negative = zeros(np.signbit(a), np.signbit(b))
    return np.where((a == 0) & (b == 0), np.where(negative, -0.0, 0.0), choose(a, b))


def divided(function, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """An integer function of NumPy's, widened lest it overflow, 0 where it divides by 0."""
    wide = function(a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64))
    return np.where(b == 0, 0, wide).astype(np.uint32)


def power(base: int, exponent: int) -> int:
    if exponent < 0:
        return {1: 1, -1: 1 - 2 * (exponent % 2)}.get(base, 0) % 2**32
    return pow(base, exponent, 2**32)


def bfloat16(x: np.ndarray) -> np.ndarray:
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), (bits >> 16) | 0x40, rounded)


def cases() -> dict[str, tuple[tuple[np.ndarray, ...], np.ndarray]]:
    """For each function its arguments and the right results."""
    x, (a, b), (i, j), (u, v) = FLOATS, TWO_FLOATS, TWO_INTS, TWO_WORDS
    tall = around_halves()
    g, h = two_halves()
    wide = g.astype(np.float32), h.astype(np.float32)
    # The standard has the second of two zeros, as NumPy's float32; its float16 has the first.
    next_half = np.where(g == h, h, np.nextafter(g, h))
    bases, exponents = BASES.astype(np.int32), EXPONENTS.astype(np.int32)
    powers = [power(int(p), int(q)) for p, q in zip(BASES, EXPONENTS, strict=True)]
    unsigned = [power(int(p), int(q) % 2**32) for p, q in zip(BASES, EXPONENTS, strict=True)]
    counts = SHIFTS.view(np.uint32)
    return {
        "ag_isnan": ((x,), np.isnan(x)),
        "ag_isinf": ((x,), np.isinf(x)),
        "ag_isfinite": ((x,), np.isfinite(x)),
        "ag_signbit": ((x,), np.signbit(x)),
        "ag_floor": ((x,), np.floor(x)),
        "ag_ceil": ((x,), np.ceil(x)),
        "ag_trunc": ((x,), np.trunc(x)),
        "ag_round": ((x,), np.rint(x)),
        "ag_sign_f32": ((x,), np.sign(x)),
        "ag_copysign": ((a, b), np.copysign(a, b)),
        "ag_nextafter": ((a, b), np.nextafter(a, b)),
        "ag_nextafter_f16": (wide, next_half.astype(np.float32)),
        "ag_max_f32": ((a, b), extreme(np.maximum, np.logical_and)),
        "ag_min_f32": ((a, b), extreme(np.minimum, np.logical_or)),
        "ag_add_f32": ((a, b), a + b),
        "ag_sub_f32": ((a, b), a - b),
        "ag_mod_f32": ((a, b), np.remainder(a, b)),
        "ag_f32_to_i32": ((x,), saturated(-(2**31), 2**31 - 1, np.int32)),
        "ag_f32_to_u32": ((x,), saturated(0, 2**32 - 1, np.uint32)),
        "ag_f32_to_i16": ((x,), saturated(-(2**15), 2**15 - 1, np.int32)),
        "ag_f32_to_u16": ((x,), saturated(0, 2**16 - 1, np.uint32)),
        "ag_f32_to_i8": ((x,), saturated(-128, 127, np.int32)),
        "ag_f32_to_u8": ((x,), saturated(0, 255, np.uint32)),
        "ag_i32_to_f32": ((INTS,), INTS.astype(np.float32)),
        "ag_u32_to_f32": ((WORDS,), WORDS.astype(np.float32)),
        "ag_truth": ((x,), x != 0),
        "ag_round_f16": ((tall,), tall.astype(np.float16).astype(np.float32)),
        "ag_f32_to_bf16": ((tall,), bfloat16(tall).astype(np.uint32)),
        "ag_bf16_to_f32": ((HALVES,), (HALVES << 16).view(np.float32)),
        "ag_f16_to_f32": ((HALVES,), HALVES.astype(np.uint16).view(np.float16)),
        "ag_floordiv_i32": ((i, j), divided(np.floor_divide, i, j).view(np.int32)),
        "ag_mod_i32": ((i, j), divided(np.remainder, i, j).view(np.int32)),
        "ag_floordiv_u32": ((u, v), divided(np.floor_divide, u, v)),
        "ag_mod_u32": ((u, v), divided(np.remainder, u, v)),
        "ag_pow_i32": ((bases, exponents), np.array(powers, np.uint32).view(np.int32)),
        "ag_pow_u32": (
            (bases.view(np.uint32), exponents.view(np.uint32)),
            np.array(unsigned, np.uint32),
        ),
        "ag_shl_i32": ((INTS, SHIFTS), np.left_shift(INTS, SHIFTS)),
        "ag_shr_i32": ((INTS, SHIFTS), np.right_shift(INTS, SHIFTS)),
        "ag_shl_u32": ((WORDS, counts), np.left_shift(WORDS, counts)),
        "ag_shr_u32": ((WORDS, counts), np.right_shift(WORDS, counts)),
        "ag_abs_i32": ((INTS,), np.abs(INTS)),
        "ag_sign_i32": ((INTS,), np.sign(INTS)),
    }


with np.errstate(all="ignore"):
    CASES = cases()
FLUSHED = {"ag_floor", "ag_ceil", "ag_add_f32", "ag_sub_f32", "ag_mod_f32"}


@pytest.fixture(scope="module")
def results(evaluate):
    return evaluate({name: arguments for name, (arguments, _) in CASES.items()})


def unimportant(name: str) -> np.ndarray:
    """Where an adapter's flushing of subnormal floats is allowed to show."""
    arguments, want = CASES[name]
    # A remainder passes through that of truncated division, which is flushed where it is subnormal.
    least = 2.0**-102 if name == "ag_mod_f32" else 2.0**-126
    small = [(np.abs(each) < least) & (each != 0) for each in (*arguments, want)]
    return np.logical_or.reduce(small)


def equal(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    if got.dtype == np.float32:
        same = got.view(np.uint32) == want.astype(np.float32).view(np.uint32)
        return same | (np.isnan(got) & np.isnan(want))
    return got == want


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(results, name):
    arguments, want = CASES[name]
    matters = ~unimportant(name) if name in FLUSHED else np.full(len(want), fill_value=True)
    wrong = np.flatnonzero(~equal(results[name], want) & matters)[:5]
    given = [[each[place] for each in arguments] for place in wrong]
    assert not given, f"{given} give {results[name][wrong]}, not {want[wrong]}"


def test_float16_rounds_to_nearest_even(evaluate):
    x = around_halves()
    with np.errstate(all="ignore"):
        want = x.astype(np.float16)
    got = evaluate({"ag_f32_to_f16": (x,)})["ag_f32_to_f16"]
    assert got.max() <= 0xFFFF
    got = got.astype(np.uint16)
    nan = np.isnan(want)
    assert np.isnan(got.view(np.float16)[nan]).all()
    np.testing.assert_array_equal(got[~nan], want.view(np.uint16)[~nan])


def test_floor_division_is_numpys_to_a_unit(evaluate):
    """To a unit only where the quotient is past 2^23: there NumPy's own is rounded three times."""
    a, b = TWO_FLOATS
    with np.errstate(all="ignore"):
        # Of infinities the standard wants the quotient, NumPy what the remainder says.
        want = np.where(np.isinf(a) | np.isinf(b), a / b, np.floor_divide(a, b))
    got = evaluate({"ag_floordiv_f32": (a, b)})["ag_floordiv_f32"]
    matters = (np.abs(a) > 2.0**-100) & (np.abs(b) > 2.0**-100) | (a == 0) | (b == 0)
    large = np.isfinite(want) & (np.abs(want) >= 2.0**23) & matters
    assert (np.abs(got[large] / want[large] - 1) <= 2.0**-23).all()
    wrong = np.flatnonzero(~equal(got, want) & matters & ~large)[:5]
    assert wrong.size == 0, (a[wrong], b[wrong], got[wrong], want[wrong])


def test_differences_of_what_is_the_same_keep_infinities_and_nan(evaluate):
    """A compiler that folds ``x - x`` or ``x + -x`` to 0 gives 0 for these."""
    x = np.array([1, np.inf, -np.inf, np.nan, 0, -0.0], np.float32)
    got = evaluate({"ag_sub_f32": (x, x), "ag_add_f32": (x, -x)})
    want = np.array([0, np.nan, np.nan, np.nan, 0, 0], np.float32)
    np.testing.assert_array_equal(got["ag_sub_f32"], want)
    np.testing.assert_array_equal(got["ag_add_f32"], want)


def test_casts_saturate_and_nan_gives_zero(evaluate):
    x = np.array([3.9, -3.9, 1e10, -1e10, 2.0**31, np.nan, np.inf, -np.inf], np.float32)
    got = evaluate({"ag_f32_to_i32": (x,), "ag_f32_to_u32": (x,)})
    most, least = 2**31 - 1, -(2**31)
    assert got["ag_f32_to_i32"].tolist() == [3, -3, most, least, most, 0, most, least]
    assert got["ag_f32_to_u32"].tolist() == [3, 0, 2**32 - 1, 0, 2**31, 0, 2**32 - 1, 0]


def test_integer_division_floors(evaluate):
    a = np.array([-7, 7, -7, 7, -1, -1, -5, -(2**31), 5], np.int32)
    b = np.array([3, -3, -3, 3, 3, 768, 3, -1, 0], np.int32)
    got = evaluate({"ag_mod_i32": (a, b), "ag_floordiv_i32": (a, b)})
    assert got["ag_mod_i32"].tolist() == [2, -2, -1, 1, 2, 767, 1, 0, 0]
    assert got["ag_floordiv_i32"].tolist() == [-3, -3, 2, 2, -1, -1, -2, -(2**31), 0]
