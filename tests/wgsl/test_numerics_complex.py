"""The complex functions on both software adapters, against NumPy in complex128, specials and all.

What is right, and how far a result is from it, is in tests/plane.py. Special quotients are those of
the Array API standard, or C99, from which NumPy's deviate.
"""

import numpy as np
import pytest

from aiogpu.kernels.numerics import COMPLEX_ACCURACY
from plane import HUGE, REFERENCE, TINY, UNIT, differing, joined, overflows, right, units

POINTS = 1 << 15
EDGES = np.array(
    [0.0, -0.0, 1, -1, 0.5, -2, TINY, -TINY, HUGE, -HUGE, np.inf, -np.inf, np.nan], np.float32
)
BINARY = {"ag_cmul", "ag_cdiv", "ag_cpow"}
OVERFLOWING = {
    "ag_cdiv", "ag_cpow", "ag_cexp", "ag_cexpm1", "ag_csin", "ag_ccos", "ag_csinh", "ag_ccosh",
}  # fmt: skip
# Poles, zeros, ends of cuts, and where the parts of a result cancel.
POLES = np.array([1, -1, 1j, -1j, 2, -2, 0.5, *np.pi * np.array([0.5, 1, 0.5j, 2j, 100j])])


def parts(rng: np.random.Generator, least: float, most: float) -> np.ndarray:
    """Floats of both signs, as many from each binade as from the next."""
    low, high = np.array([least, most], np.float32).view(np.uint32)
    magnitude = rng.integers(low, high, POINTS, np.uint32, endpoint=True).view(np.float32)
    return np.copysign(magnitude, rng.uniform(-1, 1, POINTS)).astype(np.float32)


def plane(seed: int, most: float) -> np.ndarray:
    """Points by binades, evenly, on the axes and the unit circle, and next to the poles."""
    rng = np.random.default_rng(seed)
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, POINTS))
    sides = joined(parts(rng, TINY, most), np.zeros(POINTS))
    shift = joined(parts(rng, 2.0**-30, 1), parts(rng, 2.0**-30, 1))
    points = [
        joined(parts(rng, TINY, most), parts(rng, TINY, most)),
        joined(parts(rng, 2.0**-12, 128), parts(rng, 2.0**-12, 128)),
        joined(*rng.uniform(-20, 20, (2, POINTS))),
        circle,
        circle * (1 + parts(rng, 2.0**-23, 0.5)),
        rng.choice(POLES, POINTS) + shift,
        sides,
        joined(sides.imag, sides.real),
    ]
    return np.concatenate([each.astype(np.complex64) for each in points])


def dense(name: str) -> tuple[np.ndarray, ...]:
    """The arguments at which a function is tried."""
    most = COMPLEX_ACCURACY[name][0]
    seed = len(name)
    rng = np.random.default_rng(seed)
    if name != "ag_cpow":
        z = plane(seed, most)
        return (z, rng.permutation(z)) if name in BINARY else (z,)
    # Exponents that bring w * log(z) up to the magnitude of the table, some of them real.
    z = plane(seed, HUGE)
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi, len(z)))
    turn = np.where(rng.uniform(size=len(z)) < 0.2, turn.real, turn)
    with np.errstate(all="ignore"):
        w = turn * rng.uniform(0, most, len(z)) / np.abs(np.log(z.astype(complex)))
        w = w.astype(np.complex64)
    return z, np.where(np.isfinite(w), w, np.complex64(2.5))


@pytest.fixture(scope="module")
def results(evaluate):
    arguments = {name: dense(name) for name in COMPLEX_ACCURACY}
    got = evaluate(arguments)
    return {name: (arguments[name], got[name]) for name in arguments}


def test_every_function_of_the_table_has_a_reference():
    assert COMPLEX_ACCURACY.keys() == REFERENCE.keys()


@pytest.mark.parametrize("name", COMPLEX_ACCURACY)
def test_is_as_exact_as_the_table_says(results, name):
    arguments, got = results[name]
    want = right(name, arguments)
    where = ~overflows(want)
    assert where.sum() > POINTS * 4
    error = np.where(where, units(got, want), -1)
    place = int(np.argmax(error))
    given = ", ".join(repr(complex(each[place])) for each in arguments)
    shown = f"{name}({given}) is {got[place]!r}, not {want[place]!r}: {error[place]:.2f} units"
    assert error[place] <= COMPLEX_ACCURACY[name][1], shown


@pytest.mark.parametrize("name", sorted(OVERFLOWING))
def test_what_overflows_is_not_finite(results, name):
    arguments, got = results[name]
    beyond = overflows(right(name, arguments))
    near = np.maximum(np.abs(got.real), np.abs(got.imag)) > HUGE * (1 - 32 * UNIT)
    assert beyond.sum() > 100
    assert (near | ~np.isfinite(got))[beyond].all()


def grid(edges: np.ndarray = EDGES) -> np.ndarray:
    x, y = np.meshgrid(edges, edges)
    return joined(x.ravel(), y.ravel())


def test_special_arguments_give_what_numpy_or_the_standard_gives(evaluate):
    names = sorted(COMPLEX_ACCURACY.keys() - BINARY - {"ag_csquare", "ag_creciprocal"})
    z = grid()
    got = evaluate(dict.fromkeys(names, (z,)))
    for name in names:
        want = right(name, (z,))
        wrong = differing(got[name], want)
        shown = [(complex(z[i]), complex(got[name][i]), want[i]) for i in wrong[:5]]
        assert not shown, f"{name}: argument, result, right result: {shown}"


def test_products_are_those_of_the_textbook(evaluate):
    """By parts, since NumPy's own are fused on some processors and lose a zero's sign."""
    z = grid()
    a, b = (each.ravel() for each in np.meshgrid(z, z))
    got = evaluate({"ag_cmul": (a, b), "ag_csquare": (z,)})
    with np.errstate(all="ignore"):
        re, im = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
        square = z.real * z.real - z.imag * z.imag, z.real * z.imag + z.imag * z.real
    wrong = differing(got["ag_cmul"], joined(re, im, complex))
    assert not [(a[i], b[i], got["ag_cmul"][i]) for i in wrong[:5]]
    assert differing(got["ag_csquare"], joined(*square, complex)).size == 0


def test_quotients_know_one_infinity(evaluate):
    """C99, G.5.1: NumPy gives NaN for half of these."""
    z = grid()
    a, b = (each.ravel() for each in np.meshgrid(z, z))
    quotients = evaluate({"ag_cdiv": (a, b), "ag_creciprocal": (z,)})
    one = np.ones(len(z), np.complex64)
    got = np.concatenate([quotients["ag_cdiv"], quotients["ag_creciprocal"]])
    a, b = np.concatenate([a, one]), np.concatenate([b, z])
    infinite_a, infinite_b = np.isinf(a), np.isinf(b)
    infinite = infinite_a & np.isfinite(b) | (~np.isnan(a) & (a != 0) & (b == 0))
    vanishing = np.isfinite(a) & infinite_b
    assert np.isinf(got[infinite]).all()
    assert (got[vanishing] == 0).all()
    regular = np.isfinite(a) & np.isfinite(b) & (b != 0)
    unknown = ~infinite & ~vanishing & ~regular & ((a == 0) | ~infinite_a | infinite_b)
    assert np.isnan(got[unknown]).all()
    want = right("ag_cdiv", (a, b))
    finite = regular & ~overflows(want)
    assert (units(got, want)[finite] <= COMPLEX_ACCURACY["ag_cdiv"][1]).all()


def test_powers_have_the_special_cases_of_the_exponential_of_the_logarithm(evaluate):
    # Without the ends of the range, where the logarithm or the product is 0 or infinite in float32.
    edges = np.append(EDGES[~np.isin(np.abs(EDGES), [TINY, HUGE])], np.float32(2.5))
    a, w = (each.ravel() for each in np.meshgrid(grid(edges), grid(edges)))
    got = evaluate({"ag_cpow": (a, w)})["ag_cpow"]
    whole = (w.imag == 0) & np.isin(w.real, np.arange(5.0))
    special = ~np.isfinite(a) | ~np.isfinite(w) | (a == 0)
    with np.errstate(all="ignore"):
        want = np.exp(w.astype(complex) * np.log(a.astype(complex)))
    # The signs of zeros come of exp(-inf + NaN i), where they are unspecified.
    wrong = [i for i in differing(got + 0, want + 0) if special[i] and not whole[i]]
    assert not [(a[i], w[i], got[i], want[i]) for i in wrong[:5]]
    assert (got[w == 0] == 1).all()
    identical = differing(got[w == 1], a[w == 1].astype(complex))
    assert identical.size == 0


def test_whole_numbers_stay_whole(evaluate):
    whole = np.arange(-6, 7, dtype=np.float32)
    z = grid(whole)
    w = np.random.default_rng(5).permutation(z)
    wide = z.astype(complex)
    divisor = np.where(w == 0, 1, w)
    got = evaluate(
        {
            "ag_csqrt": (np.square(z),),
            "ag_cdiv": (z * divisor, divisor),
            "ag_cpow": (np.tile(z, 4), np.repeat(np.arange(1, 5), len(z)).astype(np.complex64)),
            "ag_cabs": (np.square(z),),
            "ag_clog2": (np.exp2(np.arange(-126, 128)).astype(np.complex64),),
        }
    )
    np.testing.assert_array_equal(got["ag_csqrt"], np.sqrt(np.square(z).astype(complex)))
    np.testing.assert_array_equal(got["ag_cdiv"], z)
    np.testing.assert_array_equal(got["ag_cpow"], np.concatenate([wide**n for n in range(1, 5)]))
    np.testing.assert_array_equal(got["ag_cabs"], z.real**2 + z.imag**2)
    np.testing.assert_array_equal(got["ag_clog2"], np.arange(-126, 128))


def test_the_logarithm_of_the_modulus_does_not_cancel(evaluate):
    """Next to the unit circle; nearer than 2^-34 of its squared modulus only to that distance."""
    rng = np.random.default_rng(6)
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, POINTS)).astype(np.complex64)
    got = evaluate({"ag_clog": (circle,)})["ag_clog"].real
    x, y = circle.real.astype(float), circle.imag.astype(float)
    want = np.log1p((np.abs(x) - 1) * (np.abs(x) + 1) + y * y) / 2
    assert (np.abs(got - want) <= 4 * UNIT * np.abs(want) + 2.0**-35).all()


def test_tests_of_parts_and_comparisons(evaluate):
    z = grid()
    a, b = (each.ravel() for each in np.meshgrid(z, z))
    got = evaluate(
        {
            "ag_cisnan": (z,), "ag_cisinf": (z,), "ag_cisfinite": (z,), "ag_conj": (z,),
            "ag_ceq": (a, b), "ag_cne": (a, b),
        }
    )  # fmt: skip
    np.testing.assert_array_equal(got["ag_cisnan"], np.isnan(z))
    np.testing.assert_array_equal(got["ag_cisinf"], np.isinf(z))
    np.testing.assert_array_equal(got["ag_cisfinite"], np.isfinite(z))
    np.testing.assert_array_equal(got["ag_ceq"], a == b)
    np.testing.assert_array_equal(got["ag_cne"], a != b)
    np.testing.assert_array_equal(got["ag_conj"].view(np.float32), np.conj(z).view(np.float32))
    zero = np.signbit(got["ag_conj"].imag) != np.signbit(z.imag)
    assert zero.all()
