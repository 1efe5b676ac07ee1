"""What creation refuses, and which dtypes it chooses; the values are compared in the browser."""

import pytest

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.errors import DTypeError, IntegerOverflowError

NUMBERS = [dtype for dtype in dtypes.ALL if dtype.kind != "bool"]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_every_dtype_can_be_made(dtype):
    made = [gpu.zeros(3, dtype=dtype), gpu.ones((), dtype=dtype.name), gpu.eye(3, dtype=dtype)]
    made += [gpu.full(2, True, dtype=dtype), gpu.empty_like(gpu.zeros(1, dtype=dtype))]
    made += [gpu.linspace(0, 1, 5, dtype=dtype)]
    assert {x.dtype for x in made} == {dtype}


def test_numbers_choose_the_dtype():
    for value, name in ((True, "bool"), (1, "int32"), (1.0, "float32"), (1j, "complex64")):
        assert gpu.full(2, value).dtype.name == name
        assert gpu.array(value).dtype.name == name
        assert gpu.array([[value]]).dtype.name == name
    assert gpu.linspace(0, 1j, 5).dtype is gpu.complex64
    assert gpu.arange(3.0).dtype is gpu.float32


def test_complex_numbers_are_not_cut():
    for dtype in NUMBERS:
        if dtype is gpu.complex64:
            continue
        for make in (
            lambda dtype=dtype: gpu.full(2, 1j, dtype=dtype),
            lambda dtype=dtype: gpu.array([1j], dtype=dtype),
            lambda dtype=dtype: gpu.linspace(0, 1j, 3, dtype=dtype),
        ):
            with pytest.raises(DTypeError, match=f": complex64 to {dtype.name}: "):
                make()


def test_ranges_are_real_numbers():
    for arguments, options in (
        ((3,), {"dtype": "complex64"}),
        ((0, 3j), {}),
        ((3,), {"dtype": bool}),
    ):
        with pytest.raises(DTypeError, match=r"arange: .*real numbers"):
            gpu.arange(*arguments, **options)
    for dtype in NUMBERS:
        if dtype is not gpu.complex64:
            assert gpu.arange(100, dtype=dtype).dtype is dtype
    for dtype, end in (("int8", 129), ("uint8", 257), ("int16", 2**15 + 1), ("uint16", 2**16 + 1)):
        with pytest.raises(IntegerOverflowError, match=f"arange: {end - 1}: outside of {dtype}"):
            gpu.arange(end, dtype=dtype)
        assert gpu.arange(end - 1, dtype=dtype).size == end - 1


def test_numbers_that_do_not_fit():
    for dtype, value in (("int8", -129), ("uint8", 256), ("int16", 2**15), ("uint16", -1)):
        with pytest.raises(IntegerOverflowError, match=f"full: {value}: outside of {dtype}"):
            gpu.full(3, value, dtype=dtype)
        with pytest.raises(DTypeError, match="a float"):
            gpu.full(3, 1.5, dtype=dtype)
