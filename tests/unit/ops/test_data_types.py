import numpy as np
import pytest

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.errors import DTypeError, IntegerOverflowError, UsageError

INTEGERS = [dtype for dtype in dtypes.ALL if dtype.kind in {"int", "uint"}]
INEXACT = [dtype for dtype in dtypes.ALL if dtype.kind in {"float", "complex"}]
KINDS = [
    "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating",
    "numeric",
]  # fmt: skip


@pytest.mark.parametrize("dtype", INEXACT, ids=repr)
def test_limits_of_floats_are_numpys(dtype):
    want = np.finfo(dtype.name)
    for given in (dtype, dtype.name, gpu.zeros(2, dtype=dtype)):
        found = gpu.finfo(given)
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(found, name) == getattr(want, name)
        assert found.dtype.name == want.dtype.name


@pytest.mark.parametrize("dtype", INTEGERS, ids=repr)
def test_limits_of_integers_are_numpys(dtype):
    want = np.iinfo(dtype.name)
    for given in (dtype, np.dtype(dtype.name), gpu.zeros((), dtype=dtype)):
        found = gpu.iinfo(given)
        assert (found.bits, found.min, found.max) == (want.bits, want.min, want.max)
        assert found.dtype is dtype


def test_limits_of_another_kind_are_refused():
    for dtype in (*INTEGERS, gpu.bool):
        with pytest.raises(DTypeError, match=f"finfo: {dtype.name}"):
            gpu.finfo(dtype)
    for dtype in (*INEXACT, gpu.bool):
        with pytest.raises(DTypeError, match=f"iinfo: {dtype.name}"):
            gpu.iinfo(dtype)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_kinds_are_numpys(dtype):
    for kind in KINDS:
        wanted = np.dtype(dtype.name).kind == "b" if kind == "bool" else None
        if wanted is None:
            wanted = np.isdtype(np.dtype(dtype.name), kind)
        assert gpu.isdtype(dtype, kind) == wanted
    assert gpu.isdtype(dtype, dtype)
    assert gpu.isdtype(dtype, (gpu.int32, "bool")) == (dtype.name in {"int32", "bool"})
    assert not gpu.isdtype(dtype, ())


def test_an_unknown_kind_is_refused_wherever_it_stands():
    for kind in ("real", ("numeric", "real"), 3):
        with pytest.raises(DTypeError, match="isdtype"):
            gpu.isdtype(gpu.float32, kind)


def test_result_type_of_arrays_dtypes_and_numbers():
    x = gpu.zeros(2, dtype="int8")
    assert gpu.result_type(x) is gpu.int8
    assert gpu.result_type(x, gpu.uint8, "int16") is gpu.int16
    assert gpu.result_type(1.5, x, gpu.float16) is gpu.float16
    assert gpu.result_type(1.5, x) is gpu.float32
    assert gpu.result_type(x, 1j) is gpu.complex64
    assert gpu.result_type(x, 100, True) is gpu.int8
    assert gpu.result_type(1, 2.0) is gpu.float32
    with pytest.raises(IntegerOverflowError, match="result_type: 128"):
        gpu.result_type(x, 128)
    with pytest.raises(DTypeError, match="result_type: uint32 and int8"):
        gpu.result_type(gpu.uint32, x)
    with pytest.raises(UsageError, match="nothing given"):
        gpu.result_type()


@pytest.mark.parametrize("given", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("wanted", dtypes.ALL, ids=repr)
def test_can_cast_where_promotion_leads(given, wanted):
    reached = {gpu.result_type(given, other) for other in dtypes.ALL if promotes(given, other)}
    assert gpu.can_cast(given, wanted) == (wanted in reached)
    assert gpu.can_cast(gpu.zeros(1, dtype=given), wanted.name) == (wanted in reached)


def promotes(one, two):
    try:
        dtypes.promote(one, two, "test")
    except DTypeError:
        return False
    return True
