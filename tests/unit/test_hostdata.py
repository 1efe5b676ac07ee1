import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiogpu import dtypes, hostdata
from aiogpu.errors import DTypeError, IntegerOverflowError, ShapeError, UsageError

kinds = st.sampled_from(["f4", "i4", "u4", "u1", "?", ">f4", ">i4", "f8", "i2", "u2", "i1", "f2"])


def captured(given, dtype=None):
    """What an array of ``given`` holds, as NumPy's."""
    data, shape, found = hostdata.capture(given, dtype, "array")
    assert data.nbytes == int(np.prod(shape)) * found.itemsize
    return hostdata.as_numpy(memoryview(bytes(data.data)), shape, found), found


@given(kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=4))))
def test_arrays_of_numpy_keep_their_values(host):
    read, found = captured(host)
    assert read.shape == host.shape
    with np.errstate(all="ignore"):
        assert np.array_equal(read, host.astype(found.name), equal_nan=host.dtype.kind == "f")


@given(hnp.arrays("i4", hnp.array_shapes(min_dims=2, max_dims=3)))
def test_layouts_do_not_matter(host):
    for laid in (host.T, host[::-1], np.asfortranarray(host), host[:, ::2], host[1:]):
        assert np.array_equal(captured(laid)[0], laid)


@given(st.lists(st.lists(st.floats(width=32), min_size=2, max_size=2), max_size=4))
def test_nested_lists(rows):
    read, found = captured(rows)
    assert found is dtypes.float32
    assert np.array_equal(read.ravel(), np.array(rows, "f4").ravel(), equal_nan=True)


def test_kinds_of_lists():
    assert captured([True, False])[1] is dtypes.bool_
    assert captured([True, 2])[1] is dtypes.int32
    assert captured([1, 2.0])[1] is dtypes.float32
    assert captured([])[1] is dtypes.float32
    assert captured(7)[0].shape == ()
    assert captured([[], []])[0].shape == (2, 0)


def test_buffers_of_any_kind():
    assert captured(b"\x01\xff")[0].tolist() == [1, 255]
    assert captured(array.array("d", [0.5]))[1] is dtypes.float32
    assert captured(array.array("q", [-3]))[0].tolist() == [-3]
    assert captured(memoryview(array.array("f", [1, 2, 3, 4]))[::2])[0].tolist() == [1, 3]
    with pytest.raises(DTypeError, match="buffer format"):
        captured(memoryview(b"12345678").cast("P"))


def test_the_copy_is_private():
    host = np.zeros(3, "f4")
    data, _, _ = hostdata.capture(host, None, "array")
    host[:] = 1
    assert bytes(data.data) == bytes(12)


def test_integers_that_do_not_fit_are_named():
    for data, dtype, shown in (
        ([2**31], None, "2147483648 does not fit int32"),
        (np.array([2**40]), None, "1099511627776 does not fit int32"),
        ([300], dtypes.uint8, "300 does not fit uint8, 0 to 255"),
        (array.array("q", [-1]), dtypes.uint32, "-1 does not fit uint32"),
    ):
        with pytest.raises(IntegerOverflowError, match=shown):
            captured(data, dtype)


def test_floats_to_integers_truncate_and_saturate():
    values = [3.9, -3.9, 1e20, -1e20, float("nan"), float("inf")]
    wanted = [3, -3, 2**31 - 1, -(2**31), 0, 2**31 - 1]
    assert captured(values, dtypes.int32)[0].tolist() == wanted
    assert captured(np.array(values), dtypes.int32)[0].tolist() == wanted
    assert captured(np.array([-1.0, 1e20]), dtypes.uint32)[0].tolist() == [0, 2**32 - 1]


def test_what_no_array_can_be_made_of():
    for wrong in ("text", None, object(), {1: 2}, [1, "a"]):
        with pytest.raises(UsageError):
            captured(wrong)
    with pytest.raises(ShapeError, match="uneven lengths at axis 1"):
        captured([[1, 2], [3]])
    with pytest.raises(DTypeError, match="complex"):
        captured(np.zeros(2, "c8"))


@given(
    hnp.arrays(
        st.sampled_from(["f4", "i4", "u4", "u1", "?"]), hnp.array_shapes(min_dims=0, min_side=0)
    )
)
def test_values_come_back_as_lists_and_memoryviews(host):
    dtype = dtypes.as_dtype(host.dtype, "test")
    data = memoryview(host.tobytes())
    assert repr(hostdata.as_list(data, host.shape, dtype)) == repr(host.tolist())
    view = hostdata.as_memoryview(data, host.shape, dtype)
    assert view.nbytes == host.nbytes
    if host.size:
        assert view.shape == host.shape
        assert repr(view.tolist()) == repr(host.tolist())
