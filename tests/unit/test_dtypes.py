import struct

import numpy as np
import pytest

from aiogpu import dtypes
from aiogpu.errors import DTypeError, IntegerOverflowError

NUMBERS = [d for d in dtypes.ALL if d.kind != "bool"]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_widths_and_formats_are_numpys(dtype):
    assert np.dtype(dtype.name).itemsize == dtype.itemsize == struct.calcsize(dtype.format)
    assert dtype.lanes * dtype.itemsize == 4
    assert dtype.is_packed == (dtype.itemsize < 4)


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("f4"), float, dtypes.float32])
def test_spellings_of_float32(given):
    assert dtypes.as_dtype(given, "test") is dtypes.float32


@pytest.mark.parametrize(("given", "wanted"), [(bool, "bool"), (np.bool_, "bool"), (int, "int32")])
def test_python_types(given, wanted):
    assert dtypes.as_dtype(given, "test").name == wanted


@pytest.mark.parametrize("given", ["float64", np.int64, "no", 3, None, object()])
def test_what_is_missing_is_refused_by_name(given):
    with pytest.raises(DTypeError, match=r"test: dtype .*: .*float32"):
        dtypes.as_dtype(given, "test")


def test_promotion_is_symmetric_and_refuses_what_the_standard_leaves_open():
    refused = {frozenset(("int32", "uint32"))} | {
        frozenset(("bool", number.name)) for number in NUMBERS
    }
    for one in dtypes.ALL:
        for two in dtypes.ALL:
            if frozenset((one.name, two.name)) in refused:
                with pytest.raises(DTypeError, match="promote"):
                    dtypes.promote(one, two, "test")
                continue
            met = dtypes.promote(one, two, "test")
            assert met is dtypes.promote(two, one, "test")
            assert met is one if one is two else met in {one, two}


@pytest.mark.parametrize("dtype", NUMBERS, ids=repr)
def test_python_numbers_are_weak(dtype):
    assert dtypes.promote_scalar(dtype, 3, "test") is dtype
    assert dtypes.promote_scalar(dtype, True, "test") is dtype
    assert dtypes.promote_scalar(dtype, 2.5, "test") is dtypes.float32


def test_python_numbers_that_do_not_fit():
    with pytest.raises(IntegerOverflowError, match=r"256: outside of uint8, 0 to 255"):
        dtypes.promote_scalar(dtypes.uint8, 256, "test")
    with pytest.raises(IntegerOverflowError):
        dtypes.promote_scalar(dtypes.uint32, -1, "test")
    with pytest.raises(DTypeError):
        dtypes.promote_scalar(dtypes.bool_, 1, "test")
    assert dtypes.promote_scalar(dtypes.float32, 2**200, "test") is dtypes.float32


@pytest.mark.parametrize(
    ("value", "dtype", "word"),
    [
        (1.0, dtypes.float32, 0x3F800000), (1e300, dtypes.float32, 0x7F800000),
        (-1e300, dtypes.float32, 0xFF800000), (-1, dtypes.int32, 0xFFFFFFFF),
        (2**32 - 1, dtypes.uint32, 0xFFFFFFFF), (True, dtypes.bool_, 1), (200, dtypes.uint8, 200),
    ],
)  # fmt: skip
def test_words_of_parameters(value, dtype, word):
    assert dtypes.word(value, dtype) == word
