import array
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiogpu import dtypes, hostdata
from aiogpu.errors import DTypeError, IntegerOverflowError, ShapeError, UsageError

KEPT = ["?", "i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4", "c8"]
kinds = st.sampled_from([*KEPT, ">f2", ">f4", ">i2", ">i4", ">u2", ">c8", "f8", "c16", ">c16"])
BECOMES = {"float64": "float32", "complex128": "complex64"}


def captured(given, dtype=None):
    """What an array of ``given`` holds, as NumPy's."""
    data, shape, found = hostdata.capture(given, dtype, "array")
    assert data.nbytes == int(np.prod(shape)) * found.itemsize
    return hostdata.as_numpy(memoryview(bytes(data.data)), shape, found), found


@given(kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=4))))
def test_arrays_of_numpy_keep_their_values(host):
    want = BECOMES.get(host.dtype.name, host.dtype.name)
    inexact = host.dtype.kind in "fc"
    for data in (host, memoryview(host)) if host.size else (host,):
        read, found = captured(data)
        assert (found.name, read.shape) == (want, host.shape)
        with np.errstate(all="ignore"):
            assert np.array_equal(read, host.astype(want), equal_nan=inexact)


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
    assert captured([1, 2.0, True, 3j])[1] is dtypes.complex64
    assert captured(1 - 2j)[0].tolist() == 1 - 2j
    assert captured([])[1] is dtypes.float32
    assert captured(7)[0].shape == ()
    assert captured([[], []])[0].shape == (2, 0)


def test_buffers_of_any_kind():
    assert captured(b"\x01\xff")[0].tolist() == [1, 255]
    assert captured(array.array("d", [0.5]))[1] is dtypes.float32
    assert captured(array.array("q", [-3]))[0].tolist() == [-3]
    assert captured(memoryview(array.array("f", [1, 2, 3, 4]))[::2])[0].tolist() == [1, 3]
    for code, name in (("b", "int8"), ("h", "int16"), ("H", "uint16"), ("B", "uint8")):
        read, found = captured(array.array(code, [1, 2, 100]))
        assert (found.name, read.tolist()) == (name, [1, 2, 100])
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
        ([-129], dtypes.int8, "-129 does not fit int8, -128 to 127"),
        (np.array([2**15], "u2"), dtypes.int16, "uint16 data: 32768 does not fit int16"),
        (array.array("h", [-1]), dtypes.uint16, "-1 does not fit uint16"),
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
    for dtype in (dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16):
        low, high = dtype.range
        wanted = [3, max(-3, low), high, low, 0, high]
        for host in (values, np.array(values), np.array(values, "f4")):
            read, found = captured(host, dtype)
            assert (found, read.tolist()) == (dtype, wanted)


def test_floats_round_to_float16_once():
    values = [1 / 3, 1 + 2**-11 + 2**-40, 65519.99, 65520.0, -1e300, 2**-25, float("nan"), -0.0]
    with np.errstate(all="ignore"):
        wanted = np.array(values).astype("f2")
    for host in (values, np.array(values), array.array("d", values)):
        read, found = captured(host, dtypes.float16)
        assert found is dtypes.float16
        assert repr(read.tolist()) == repr(wanted.tolist())


def test_complex_data_rounds_and_stays_complex():
    values = [1 / 3 - 1e300j, complex(float("nan"), -0.0), -2]
    with np.errstate(all="ignore"):
        wanted = np.array(values).astype("c8")
    for host in (values, np.array(values), memoryview(np.array(values, ">c16"))):
        read, found = captured(host)
        assert found is dtypes.complex64
        assert repr(read.tolist()) == repr(wanted.tolist())
    assert captured([0j, 1j, complex("nan")], dtypes.bool_)[0].tolist() == [False, True, True]
    assert captured(np.array([0j, 1j]), dtypes.bool_)[0].tolist() == [False, True]
    assert captured([True, 2, 0.5], dtypes.complex64)[0].tolist() == [1, 2, 0.5]
    for host in (values, np.array(values), memoryview(wanted)):
        for wrong in (dtypes.float32, dtypes.int8, dtypes.float16):
            with pytest.raises(DTypeError, match=f"array: complex64 to {wrong.name}"):
                captured(host, wrong)


def test_what_no_array_can_be_made_of():
    for wrong in ("text", None, object(), {1: 2}, [1, "a"]):
        with pytest.raises(UsageError):
            captured(wrong)
    with pytest.raises(ShapeError, match="uneven lengths at axis 1"):
        captured([[1, 2], [3]])
    with pytest.raises(DTypeError, match="datetime64"):
        captured(np.zeros(2, "M8[s]"))


@given(hnp.arrays(st.sampled_from(KEPT), hnp.array_shapes(min_dims=0, min_side=0)))
def test_values_come_back_as_lists_and_memoryviews(host):
    dtype = dtypes.as_dtype(host.dtype, "test")
    data = memoryview(host.tobytes())
    assert repr(hostdata.as_list(data, host.shape, dtype)) == repr(host.tolist())
    assert [*hostdata.elements(data, dtype)] == [*host.ravel().tolist()] or host.dtype.kind in "fc"
    if dtype is dtypes.float16 and sys.version_info < (3, 12):
        with pytest.raises(UsageError, match=r"float16: .* before Python 3\.12"):
            hostdata.as_memoryview(data, host.shape, dtype)
        return
    view = hostdata.as_memoryview(data, host.shape, dtype)
    assert view.nbytes == host.nbytes
    parts = host.reshape(-1).view("f4").reshape(*host.shape, 2) if dtype.kind == "complex" else host
    if host.size:
        assert (view.format, view.shape) == (memoryview(parts).format, parts.shape)
        assert repr(view.tolist()) == repr(parts.tolist())
    else:
        assert view.shape == (0,)
