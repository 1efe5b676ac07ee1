"""NumPy's numbers stand for Python's: as axes, sizes, counts and values."""

import drive
import numpy as np
import pytest
from rows import TABLE, each

import aiogpu as gpu

TWO = np.int64(2)


def with_numpys(given):
    """Arguments whose integers are NumPy's; operands stay as they are."""
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**63:
        return np.int64(given)
    if isinstance(given, list):
        return [with_numpys(part) for part in given]
    if type(given) is tuple:
        return tuple(with_numpys(part) for part in given)
    return given


# A NumPy number as an operand is an array of its dtype; a key keeps its slices.
ROWS = [name for name, row in TABLE.items() if row.part != "of_elements" and name != "isin"]


@pytest.mark.parametrize("name", ROWS)
def test_integers_of_numpy_are_taken_where_pythons_are(name):
    row = TABLE[name]
    for call in drive.drawn(row, 6, 1):
        usual = drive.Trial(row, call)
        if not usual.arrays:
            continue
        args, kwargs = each(call, lambda x: x.array())
        given = {name: with_numpys(value) for name, value in kwargs.items()}
        made = row.function(*with_numpys(args), **given)
        made = made if isinstance(made, list | tuple) else [made]
        for one, two in zip(made, usual.arrays, strict=True):
            assert (one.shape, one.dtype) == (two.shape, two.dtype)


def test_numbers_of_numpy_make_arrays_of_their_dtype():
    for value in (np.float32(2), np.int8(2), np.bool_(True), np.complex64(2), np.float16(2)):
        assert gpu.full(3, value).dtype.name == value.dtype.name
    assert gpu.full(3, np.int64(2)).dtype is gpu.int32
    assert gpu.full(3, np.float64(2)).dtype is gpu.float32
    assert gpu.arange(np.int64(5)).dtype is gpu.int32
    assert gpu.arange(np.int16(1), np.float32(5)).dtype is gpu.float32
    assert gpu.linspace(np.int64(0), np.float32(5), TWO).shape == (2,)


def test_one_integer_stands_for_a_shape_of_one_axis():
    x = gpu.ones((2, 3))
    assert gpu.reshape(x, 6).shape == gpu.reshape(x, np.int64(6)).shape == (6,)
    assert gpu.tile(x, 2).shape == gpu.tile(x, TWO).shape == (2, 6)
    assert x.reshape(np.int64(3), -1).shape == x.reshape(np.array([3, 2])).shape == (3, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: gpu.zeros((2.5, 3)), lambda x: gpu.zeros("3"), lambda x: x.reshape(2.0, 3),
        lambda x: gpu.sum(x, axis=1.0), lambda x: gpu.flip(x, axis="0"),
        lambda x: gpu.broadcast_to(x, None), lambda x: gpu.repeat(x, 1.5),
        lambda x: gpu.full(3, "2"), lambda x: gpu.arange(None), lambda x: gpu.full(3, [1, 2]),
    ],
)  # fmt: skip
def test_what_is_no_integer_and_no_number_is_refused(call):
    with pytest.raises(gpu.errors.DTypeError, match=r"must be an? (integer|number)"):
        call(gpu.ones((2, 3)))


def test_arrays_name_the_await_form():
    for call in (lambda n: gpu.zeros(n), lambda n: gpu.sum(gpu.ones((2, 3)), axis=n)):
        with pytest.raises(gpu.errors.SyncAccessError, match="await"):
            call(gpu.full((), 1))
