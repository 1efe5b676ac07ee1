import pytest

from aiogpu import dtypes
from aiogpu.errors import AxisError, DTypeError, ShapeError, UsageError
from aiogpu.graph import build, table
from aiogpu.shapes import View


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape, dtype)


def test_operands_meet_in_one_dtype_and_shape():
    made = build.elementwise("add", leaf(3, 1, dtype=dtypes.int32), leaf(4))
    assert (made.shape, made.dtype) == ((3, 4), dtypes.float32)
    assert [each.dtype for each in made.inputs] == [dtypes.float32] * 2
    assert made.inputs[0].op is table.CAST


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("add", "uint8", "uint8"), ("divide", "int32", "float32"), ("exp", "uint8", "float32"),
        ("less", "int32", "bool"), ("isnan", "int32", "bool"), ("logical_not", "float32", "bool"),
        ("floor", "int32", "int32"), ("maximum", "bool", "bool"), ("bitwise_and", "bool", "bool"),
    ],
)  # fmt: skip
def test_dtype_rules(name, given, wanted):
    operands = [leaf(3, dtype=dtypes.BY_NAME[given])] * table.TABLE[name].arity
    assert build.elementwise(name, *operands).dtype.name == wanted


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("add", "bool"),
        ("bitwise_and", "float32"),
        ("bitwise_left_shift", "bool"),
        ("signbit", "int32"),
    ],
)
def test_dtypes_that_an_operation_refuses(name, given):
    operands = [leaf(3, dtype=dtypes.BY_NAME[given])] * table.TABLE[name].arity
    with pytest.raises(DTypeError, match=rf"{name}: {given}: takes"):
        build.elementwise(name, *operands)


def test_numbers_are_weak_and_travel_as_constants():
    made = build.elementwise("multiply", leaf(3, dtype=dtypes.uint8), 7)
    number = made.inputs[1]
    assert (number.op, number.dtype, number.attrs["value"]) == (table.CONSTANT, dtypes.uint8, 7)


def test_where_takes_its_condition_as_bool():
    made = build.elementwise("where", leaf(3), leaf(3, dtype=dtypes.int32), 2)
    assert (made.dtype, made.inputs[0].dtype) == (dtypes.int32, dtypes.bool_)


def test_casts_of_numbers_happen_at_once():
    number = build.constant(3, dtypes.int32, (2,))
    made = build.cast(number, dtypes.float32)
    assert (made.op, made.attrs["value"]) == (table.CONSTANT, 3.0)
    assert build.cast(number, dtypes.int32) is number
    assert build.cast(build.constant(300, dtypes.int32), dtypes.uint8).op is table.CAST


def test_views_of_views_stand_on_the_owner():
    x = leaf(4, 6)
    y = build.permute(build.broadcast_to(build.permute(x, (1, 0)), (2, 6, 4)), (2, 0, 1))
    owner, how = build.view_of(y)
    assert owner is x
    assert how == View((4, 2, 6), (6, 0, 1))
    assert y.inputs == (x,)


def test_views_of_numbers_are_numbers():
    x = build.permute(build.constant(2.0, dtypes.float32, (3, 4)), (1, 0))
    assert (x.op, x.shape) == (table.CONSTANT, (4, 3))


def test_reshape_copies_only_where_strides_cannot_say_it():
    x = leaf(4, 6)
    assert build.reshape(x, (4, 6)) is x
    assert build.view_of(build.reshape(x, (2, 12)))[0] is x
    copied, how = build.view_of(build.reshape(build.permute(x, (1, 0)), (24,)))
    assert (copied.op, how) == (table.COPY, View((24,), (1,)))


def test_reductions_give_their_dtype_and_shape():
    x = leaf(2, 3, 4, dtype=dtypes.uint8)
    assert build.reduction("sum", x, 1, keepdims=False).shape == (2, 4)
    assert build.reduction("sum", x, (0, -1), keepdims=True).shape == (1, 3, 1)
    kinds = {
        n: build.reduction(n, x, None, keepdims=False).dtype.name
        for n in ("sum", "max", "any", "mean")
    }
    assert kinds == {"sum": "uint32", "max": "uint8", "any": "bool", "mean": "float32"}
    flags = leaf(3, dtype=dtypes.bool_)
    assert build.reduction("prod", flags, None, keepdims=False).dtype is dtypes.int32
    with pytest.raises(AxisError):
        build.reduction("sum", x, 3, keepdims=False)


def test_reductions_of_nothing():
    x = leaf(0, 3)
    number = build.reduction("prod", x, 0, keepdims=False)
    assert (number.op, number.shape, number.attrs["value"]) == (table.CONSTANT, (3,), 1.0)
    with pytest.raises(UsageError, match="no elements"):
        build.reduction("max", x, 0, keepdims=False)
    assert build.reduction("max", x, 1, keepdims=False).shape == (0,)


def test_products():
    assert build.matmul(leaf(2, 1, 3, 4), leaf(5, 4, 6)).shape == (2, 5, 3, 6)
    assert build.matmul(leaf(4), leaf(2, 4, 6)).shape == (2, 6)
    assert build.matmul(leaf(4), leaf(4)).shape == ()
    empty = build.matmul(leaf(2, 0), leaf(0, 3))
    assert (empty.op, empty.attrs["value"]) == (table.CONSTANT, 0.0)
    packed = build.matmul(leaf(2, 3, dtype=dtypes.uint8), leaf(3, 2, dtype=dtypes.uint8))
    assert packed.dtype is dtypes.uint8
    with pytest.raises(ShapeError, match="inner sizes 3 and 4 differ"):
        build.matmul(leaf(2, 3), leaf(4, 2))
    with pytest.raises(DTypeError):
        build.matmul(leaf(2, 2, dtype=dtypes.bool_), leaf(2, 2, dtype=dtypes.bool_))
