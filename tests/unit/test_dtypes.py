import numpy as np
import pytest

from aiogpu import dtypes
from aiogpu.errors import DTypeError, IntegerOverflowError

NUMBERS = [d for d in dtypes.ALL if d.kind != "bool"]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_widths_and_formats_are_numpys(dtype):
    host = np.zeros(1, dtype.name)
    assert host.itemsize == dtype.itemsize
    assert memoryview(host).format == dtype.format
    assert dtype.lanes == max(1, 4 // dtype.itemsize)
    assert dtype.is_packed == (dtype.itemsize < 4)
    assert dtype.kind[0] == host.dtype.kind


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if "int" in d.kind], ids=repr)
def test_ranges_of_integers_are_numpys(dtype):
    assert dtype.range == (np.iinfo(dtype.name).min, np.iinfo(dtype.name).max)


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("f4"), float, dtypes.float32])
def test_spellings_of_float32(given):
    assert dtypes.as_dtype(given, "test") is dtypes.float32


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(bool, "bool"), (np.bool_, "bool"), (int, "int32"), (complex, "complex64"), (np.int8, "int8")],
)
def test_python_types(given, wanted):
    assert dtypes.as_dtype(given, "test").name == wanted


@pytest.mark.parametrize("given", ["float64", "complex128", np.int64, "no", 3, None, object()])
def test_what_is_missing_is_refused_by_name(given):
    with pytest.raises(DTypeError, match=r"test: dtype .*: not available"):
        dtypes.as_dtype(given, "test")


# The Array API's table within a kind, and NumPy's for integers with floats, in at most 32 bits.
MIXED = {
    ("uint8", "int8"): "int16", ("uint8", "int16"): "int16", ("uint8", "int32"): "int32",
    ("uint16", "int8"): "int32", ("uint16", "int16"): "int32", ("uint16", "int32"): "int32",
    ("int8", "float16"): "float16", ("uint8", "float16"): "float16",
    ("int16", "float16"): "float32", ("uint16", "float16"): "float32",
    ("int32", "float16"): "float32", ("uint32", "float16"): "float32",
}  # fmt: skip


def meeting(one, two):
    """What two dtypes of the tables meet in, by name; None where they do not promote."""
    for pair in ((one.name, two.name), (two.name, one.name)):
        if pair in MIXED:
            return MIXED[pair]
    kinds = {one.kind, two.kind}
    if len(kinds) == 1:
        return max((one, two), key=lambda dtype: dtype.itemsize).name
    if "bool" in kinds or kinds == {"int", "uint"}:
        return None
    return "complex64" if "complex" in kinds else "float32"


@pytest.mark.parametrize("one", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("two", dtypes.ALL, ids=repr)
def test_promotion(one, two):
    want = meeting(one, two)
    if want is None:
        with pytest.raises(DTypeError, match=f"test: {one.name} and {two.name}: do not promote"):
            dtypes.promote(one, two, "test")
        return
    assert dtypes.promote(one, two, "test").name == want
    numpys = np.promote_types(one.name, two.name)
    if numpys.name in dtypes.BY_NAME:
        assert numpys == want
    else:
        assert numpys.name in {"float64", "complex128"}


def test_what_is_only_stored_does_not_promote():
    with pytest.raises(DTypeError, match="bfloat16 and float32"):
        dtypes.promote(dtypes.bfloat16, dtypes.float32, "test")
    assert "bfloat16" not in dtypes.BY_NAME


@pytest.mark.parametrize("dtype", NUMBERS, ids=repr)
def test_python_numbers_are_weak(dtype):
    assert dtypes.promote_scalar(dtype, 3, "test") is dtype
    assert dtypes.promote_scalar(dtype, True, "test") is dtype
    inexact = dtype if dtype.kind in {"float", "complex"} else dtypes.float32
    assert dtypes.promote_scalar(dtype, 2.5, "test") is inexact
    assert dtypes.promote_scalar(dtype, 2j, "test") is dtypes.complex64


def test_python_numbers_have_dtypes():
    found = [dtypes.scalar_dtype(value).name for value in (True, 1, 1.0, 1j)]
    assert found == ["bool", "int32", "float32", "complex64"]


def test_python_numbers_that_do_not_fit():
    with pytest.raises(IntegerOverflowError, match=r"256: outside of uint8, 0 to 255"):
        dtypes.promote_scalar(dtypes.uint8, 256, "test")
    for dtype, value in (("uint32", -1), ("int8", 128), ("int8", -129), ("uint16", 65536)):
        with pytest.raises(IntegerOverflowError, match=f"{value}: outside of {dtype}"):
            dtypes.promote_scalar(dtypes.BY_NAME[dtype], value, "test")
    for value in (1, 1.5, 1j):
        with pytest.raises(DTypeError, match="a bool array with a number"):
            dtypes.promote_scalar(dtypes.bool_, value, "test")
    assert dtypes.promote_scalar(dtypes.float32, 2**200, "test") is dtypes.float32


@pytest.mark.parametrize(
    ("value", "dtype", "word"),
    [
        (1.0, dtypes.float32, 0x3F800000), (1e300, dtypes.float32, 0x7F800000),
        (-1e300, dtypes.float32, 0xFF800000), (-1, dtypes.int32, 0xFFFFFFFF),
        (2**32 - 1, dtypes.uint32, 0xFFFFFFFF), (True, dtypes.bool_, 1), (200, dtypes.uint8, 200),
        (2**2000, dtypes.float32, 0x7F800000), (-1, dtypes.int8, 0xFFFFFFFF),
        (0.5, dtypes.bool_, 1), (7, dtypes.bool_, 1), (-0.0, dtypes.float32, 0x80000000),
        # float16 rounds once, from the double, to even; past 65520 it is infinite.
        (1 / 3, dtypes.float16, 0x3EAAA000), (65519.99, dtypes.float16, 0x477FE000),
        (65520, dtypes.float16, 0x7F800000), (-1e300, dtypes.float16, 0xFF800000),
        (1 + 2**-11, dtypes.float16, 0x3F800000), (1 + 2**-11 + 2**-40, dtypes.float16, 0x3F802000),
        (2**-24, dtypes.float16, 0x33800000), (2**-25, dtypes.float16, 0),
    ],
)  # fmt: skip
def test_words_of_parameters(value, dtype, word):
    assert dtypes.word(value, dtype) == word
    assert dtypes.words(value, dtype) == (word,)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0 - 2.5j, (0x3F800000, 0xC0200000)), (complex(-0.0, -0.0), (0x80000000, 0x80000000)),
        (1e300j, (0, 0x7F800000)), (-1, (0xBF800000, 0)), (True, (0x3F800000, 0)),
        (2**2000, (0x7F800000, 0)), (0.1, (0x3DCCCCCD, 0)),
    ],
)  # fmt: skip
def test_complex_parameters_are_two_words(value, words):
    assert dtypes.words(value, dtypes.complex64) == words


def test_complex_numbers_are_no_parameters_of_real_dtypes():
    for dtype in dtypes.ALL:
        if dtype.kind in {"bool", "complex"}:
            assert len(dtypes.words(1j, dtype)) == 1 + (dtype.kind == "complex")
        else:
            with pytest.raises(DTypeError, match=f"complex64 to {dtype.name}"):
                dtypes.words(1j, dtype)


def test_casts_keep_imaginary_parts():
    for given in dtypes.ALL:
        for wanted in dtypes.ALL:
            if given is dtypes.complex64 and wanted.kind not in {"complex", "bool"}:
                with pytest.raises(DTypeError, match=f"^cut: complex64 to {wanted.name}: .*imag"):
                    dtypes.check_cast(given, wanted, "cut")
            else:
                dtypes.check_cast(given, wanted, "cut")
