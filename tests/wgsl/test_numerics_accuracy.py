"""The table of accuracy, on SwiftShader against NumPy in float64, and every special argument.

A unit in the last place is that of the right result's binade. A result below 2^-126 in magnitude
may be flushed to 0, and such an argument may be read as 0: SwiftShader does both.
"""

import math

import numpy as np
import pytest

from aiogpu.kernels.numerics import ACCURACY

POINTS = 1 << 17
TINY = 2.0**-126
SPECIALS = np.hstack(
    [
        [0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, 2.5, -8, 1 / 3, np.inf, -np.inf, np.nan],
        [2.0**-149, -(2.0**-149), TINY, -TINY, 3.4028234663852886e38, -3.4028234663852886e38],
        [2.0**24, -(2.0**24), 2.0**24 - 1, 2.0**23 + 1, 1 - 2.0**-24, 2.0**-24 - 1, 1 + 2.0**-23],
        [88.72283, 88.72284, -87.33654, -87.33655, -104, 89.415985, 89.41599, 9.02, 9.2, 9.4, 44],
        [127.99999, 128, -126, -126.00001, -150, 13.3, -13.3, -13.4, 0.625, 1e6, 3e3, 1e10, -1e30],
    ]
).astype(np.float32)

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _silu(x: np.ndarray) -> np.ndarray:
    return np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x)))


def _gelu(x: np.ndarray) -> np.ndarray:
    return np.where(x == -np.inf, -0.0, x * _erfc(-x / math.sqrt(2)) / 2)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), x, np.logaddexp(0, x))


def _hypot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x) | np.isinf(y), np.inf, np.sqrt(x * x + y * y))


REFERENCE = {
    "ag_div_f32": np.divide,
    "ag_reciprocal": np.reciprocal,
    "ag_sqrt": np.sqrt,
    "ag_rsqrt": lambda x: 1 / np.sqrt(x),
    "ag_hypot": _hypot,
    "ag_exp": np.exp,
    "ag_exp2": np.exp2,
    "ag_expm1": np.expm1,
    "ag_log": np.log,
    "ag_log2": np.log2,
    "ag_log10": np.log10,
    "ag_log1p": np.log1p,
    "ag_logaddexp": np.logaddexp,
    "ag_pow_f32": np.power,
    "ag_sin": np.sin,
    "ag_cos": np.cos,
    "ag_tan": np.tan,
    "ag_asin": np.arcsin,
    "ag_acos": np.arccos,
    "ag_atan": np.arctan,
    "ag_atan2": np.arctan2,
    "ag_sinh": np.sinh,
    "ag_cosh": np.cosh,
    "ag_tanh": np.tanh,
    "ag_asinh": np.arcsinh,
    "ag_acosh": np.arccosh,
    "ag_atanh": np.arctanh,
    "ag_erf": _erf,
    "ag_erfc": _erfc,
    "ag_sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "ag_silu": _silu,
    "ag_softplus": _softplus,
    "ag_gelu": _gelu,
}
BINARY = {"ag_div_f32", "ag_hypot", "ag_logaddexp", "ag_pow_f32", "ag_atan2"}


def floats_between(least: float, greatest: float, count: int) -> np.ndarray:
    """Floats of the range, as many from each binade as from the next, in order."""
    ends = np.array([least, greatest], np.float32).view(np.int32).astype(np.int64)
    low, high = np.where(ends < 0, -(2**31) - ends, ends)
    order = np.linspace(low, high, count).astype(np.int64)
    bits = np.where(order < 0, -(2**31) - order, order)
    return bits.astype(np.int32).view(np.float32)


def dense(name: str) -> tuple[np.ndarray, ...]:
    """The arguments at which a function is tried: its domain by binades and evenly, specials."""
    least, greatest, _ = ACCURACY[name]
    rng = np.random.default_rng(len(name))
    near = rng.uniform(max(least, -20), min(greatest, 20), POINTS // 2).astype(np.float32)
    x = np.concatenate([floats_between(least, greatest, POINTS // 2), near])
    if name not in BINARY:
        return (np.concatenate([x, SPECIALS]),)
    y = rng.permutation(x)
    if name == "ag_pow_f32":
        # Exponents that give results over the whole range, whatever the base.
        with np.errstate(all="ignore"):
            y = (rng.uniform(-125, 127.9, len(x)) / np.log2(x.astype(np.float64))).astype(
                np.float32
            )
            y = np.clip(np.nan_to_num(y, nan=1.0), -3e38, 3e38)
    first, second = (grid.ravel() for grid in np.meshgrid(SPECIALS, SPECIALS))
    return np.concatenate([x, first]), np.concatenate([y, second])


def right(name: str, arguments: tuple[np.ndarray, ...]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return REFERENCE[name](*(argument.astype(np.float64) for argument in arguments))


def units(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Units in the last place between them; inf where NaN, infinity or a zero's sign is wrong."""
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        binade = np.maximum(np.frexp(want)[1] - 1, -126)
        error = np.abs(got - want) / np.ldexp(1.0, binade - 23)
    error = np.where(got == rounded, np.fmin(error, 0.5), error)
    error = np.where(np.isnan(want) & np.isnan(got), 0, error)
    error = np.where((want == 0) & (np.signbit(got) != np.signbit(want)), np.inf, error)
    error = np.where((want != 0) & (np.abs(want) < TINY) & (np.abs(got) <= TINY), 0, error)
    return np.where(np.isnan(error), np.inf, error)


def flushed(argument: np.ndarray) -> np.ndarray:
    return np.where(np.abs(argument) < TINY, np.copysign(np.float32(0), argument), argument)


@pytest.fixture(scope="module")
def errors(evaluate):
    """Each function's arguments, results and errors in units of the last place."""
    arguments = {name: dense(name) for name in ACCURACY}
    results = evaluate(arguments)
    table = {}
    for name, got in results.items():
        exact = units(got, right(name, arguments[name]))
        read_as_zero = units(got, right(name, tuple(map(flushed, arguments[name]))))
        table[name] = arguments[name], got, np.minimum(exact, read_as_zero)
    return table


def inside(name: str, arguments: tuple[np.ndarray, ...]) -> np.ndarray:
    least, greatest, _ = ACCURACY[name]
    if name == "ag_pow_f32":
        arguments = arguments[:1]
    low, high = np.float32(least), np.float32(greatest)
    return np.logical_and.reduce([(low <= each) & (each <= high) for each in arguments])


def worst(name: str, table, where: np.ndarray) -> str:
    arguments, got, error = table[name]
    place = int(np.argmax(np.where(where, error, -1)))
    given = ", ".join(repr(float(each[place])) for each in arguments)
    want = right(name, tuple(each[place : place + 1] for each in arguments))[0]
    return f"{name}({given}) is {got[place]!r}, not {want!r}: {error[place]:.2f} units"


def test_every_function_of_the_table_has_a_reference():
    assert ACCURACY.keys() == REFERENCE.keys()


@pytest.mark.parametrize("name", ACCURACY)
def test_is_as_exact_as_the_table_says(errors, name):
    arguments, _, error = errors[name]
    where = inside(name, arguments)
    assert where.sum() > POINTS / 2
    assert error[where].max() <= ACCURACY[name][2], worst(name, errors, where)


@pytest.mark.parametrize("name", sorted(ACCURACY.keys() - {"ag_logaddexp"}))
def test_specials_and_ends_are_right(errors, name):
    """Outside the range of the table too; there a result next to overflow may still be finite."""
    _, _, error = errors[name]
    assert error.max() <= ACCURACY[name][2], worst(name, errors, error >= 0)


def test_sums_of_logarithms_keep_infinities_and_nan(errors):
    arguments, got, _ = errors["ag_logaddexp"]
    want = right("ag_logaddexp", tuple(map(flushed, arguments)))
    special = ~np.isfinite(arguments).all(axis=0)
    np.testing.assert_array_equal(got[special], want[special])
    scale = np.maximum(np.abs(arguments[0]), np.abs(arguments[1])).astype(np.float64)
    assert (np.abs(got[~special] - want[~special]) <= 2.0**-23 * (scale[~special] + 1)).all()


def test_whole_logarithms_and_powers_are_whole(evaluate):
    tens = np.float32(10.0) ** np.arange(11, dtype=np.float32)
    twos = np.exp2(np.arange(-126, 128)).astype(np.float32)
    base, exponent = (g.ravel() for g in np.meshgrid(np.arange(1.0, 65), np.arange(5.0)))
    whole = base.astype(np.float32), exponent.astype(np.float32)
    steps = np.arange(-126, 128, dtype=np.float32)
    got = evaluate(
        {"ag_log10": (tens,), "ag_log2": (twos,), "ag_exp2": (steps,), "ag_pow_f32": whole}
    )
    np.testing.assert_array_equal(got["ag_log10"], np.arange(11))
    np.testing.assert_array_equal(got["ag_log2"], steps)
    np.testing.assert_array_equal(got["ag_exp2"], twos)
    np.testing.assert_array_equal(got["ag_pow_f32"], base**exponent)


def test_hyperbolic_tangent_saturates(evaluate):
    x = [0, 9.02, 43.7, 44, 44.36, 45, 88.8, 89, 1000, np.inf, -44, -1000, np.nan, 12, -12]
    got = evaluate({"ag_tanh": (np.array(x, np.float32),)})["ag_tanh"]
    want = [0, got[1], 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, np.nan, 1, -1]
    np.testing.assert_array_equal(got, np.array(want, np.float32))
    assert abs(got[1] - math.tanh(9.02)) < 2**-24


def test_powers_have_the_special_cases_of_c(evaluate):
    base = [-2, -2, -2, -8, 0, 0, -0.0, np.nan, 1, -1, -1, np.inf, -np.inf, -np.inf, 0.5, 2]
    exponent = [2, 3, -1, 1 / 3, 0, -1, -1, 0, np.nan, np.inf, 0.5, -1, 3, -3, np.inf, -np.inf]
    want = [4, -8, -0.5, np.nan, 1, np.inf, -np.inf, 1, 1, 1, np.nan, 0, -np.inf, -0.0, 0, 0]
    arguments = np.array(base, np.float32), np.array(exponent, np.float32)
    got = evaluate({"ag_pow_f32": arguments})["ag_pow_f32"]
    np.testing.assert_array_equal(got, np.array(want, np.float32))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(np.where(np.isnan(want), got, want)))
