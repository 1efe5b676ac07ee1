"""The table of accuracy, on both software adapters against NumPy in float64: dense and special."""

import math

import numpy as np
import pytest

from aiogpu.kernels.numerics import ACCURACY
from trial import POINTS, arguments, inside
from ulp import REFERENCE, errors, worst


@pytest.fixture(scope="module")
def tried(evaluate):
    """Each function's arguments, results and errors in units of the last place."""
    given = {name: arguments(name) for name in ACCURACY}
    results = evaluate(given)
    return {
        name: (given[name], got, errors(name, given[name], got)) for name, got in results.items()
    }


def test_every_function_of_the_table_has_a_reference():
    assert ACCURACY.keys() == REFERENCE.keys()


@pytest.mark.parametrize("name", ACCURACY)
def test_is_as_exact_as_the_table_says(tried, name):
    given, got, error = tried[name]
    where = inside(name, given)
    assert where.sum() > POINTS
    assert error[where].max() <= ACCURACY[name][2], worst(
        name, given, got, np.where(where, error, 0)
    )


@pytest.mark.parametrize("name", ACCURACY)
def test_specials_and_ends_are_right(tried, name):
    """Outside the range of the table too; there a result next to overflow may still be finite."""
    given, got, error = tried[name]
    assert not inside(name, given).all()
    assert error.max() <= ACCURACY[name][2], worst(name, given, got, error)


def test_errors_are_counted_in_units_of_the_right_result():
    x = np.array([1, 2, 0.3, 3e-39, 0, -np.inf, np.nan, 100], np.float32)
    exact = np.exp2(x.astype(np.float64)).astype(np.float32)
    above = np.nextafter(exact, np.float32(np.inf))
    np.testing.assert_array_equal(errors("ag_exp2", (x,), exact) <= 0.5, [True] * len(x))
    off = errors("ag_exp2", (x,), above)
    assert off[:2].tolist() == [1, 1]
    assert 0.5 < off[2] < 1.5
    zero = np.zeros(3, np.float32)
    assert errors("ag_sin", (zero,), -zero).tolist() == [np.inf] * 3
    wrong = np.array([np.nan, np.inf, 0], np.float32)
    given = np.array([1, 2, np.nan], np.float32)
    assert errors("ag_exp", (given,), wrong).tolist() == [np.inf] * 3


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
