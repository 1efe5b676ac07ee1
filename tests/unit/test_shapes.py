import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiogpu import shapes
from aiogpu.errors import AxisError, ShapeError, UsageError
from aiogpu.shapes import View

small_shapes = st.lists(st.integers(1, 5), max_size=5).map(tuple)


def walked(view, data):
    """The elements of a flat buffer as a view walks it."""
    item = data.itemsize
    start = data[view.offset :]
    return np.lib.stride_tricks.as_strided(start, view.shape, [s * item for s in view.strides])


@st.composite
def views(draw):
    """A view made by permuting, cutting and broadcasting, and NumPy's of the same data."""
    shape = draw(small_shapes)
    data = np.arange(max(1, int(np.prod(shape))))
    array = data.reshape(shape)
    view = View.contiguous(shape)
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()) and array.ndim:
            axes = draw(st.permutations(range(array.ndim)))
            array, view = array.transpose(axes), view.permute(axes)
        elif array.ndim < 5:
            new = (draw(st.integers(1, 3)), *array.shape)
            array, view = np.broadcast_to(array, new), view.broadcast_to(new, "test")
    return view, array, data


@given(views())
def test_views_walk_as_numpys(case):
    view, array, data = case
    assert view.shape == array.shape
    assert np.array_equal(walked(view, data), array)


@st.composite
def reshapes(draw):
    """A view, and another shape of as many elements."""
    view, array, data = draw(views())
    factors = [f for size in array.shape for f in {4: (2, 2)}.get(size, (size,))]
    shape = []
    for factor in draw(st.permutations(factors)):
        if shape and draw(st.booleans()):
            shape[-1] *= factor
        else:
            shape.append(factor)
    return view, array, data, tuple(shape)


@given(reshapes())
def test_reshape_is_a_view_exactly_where_numpy_has_one(case):
    view, array, data, shape = case
    made = view.reshape(shape)
    if made is not None:
        assert np.array_equal(walked(made, data), array.reshape(shape))
    else:
        assert not np.shares_memory(walked(view, data).reshape(shape), data)


@given(views())
def test_reshape_of_what_is_contiguous_is_always_a_view(case):
    view, array, _ = case
    if view.is_contiguous and view.offset == 0:
        assert view.reshape((array.size,)) is not None
        assert view.reshape((1, *array.shape, 1)) is not None


@given(views())
def test_contiguous_means_in_order_without_gaps(case):
    view, array, _ = case
    if array.size > 1:
        in_order = np.array_equal(array.ravel(), np.arange(array.size) + array.ravel()[0])
        assert view.is_contiguous == in_order


@st.composite
def operands(draw):
    """Two operands of one shape: each permuted in memory, and repeated along some axes."""
    shape = draw(small_shapes)
    made = []
    for _ in range(2):
        order = draw(st.permutations(range(len(shape))))
        repeated = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        data = np.arange(max(1, int(np.prod(shape))))
        view = View.contiguous(tuple(shape[a] for a in order)).permute(np.argsort(order).tolist())
        strides = tuple(0 if r else s for r, s in zip(repeated, view.strides, strict=True))
        made.append((View(shape, strides), data))
    return shape, made


@given(operands())
def test_coalesced_axes_walk_the_same_elements(case):
    shape, made = case
    sizes, walks = shapes.coalesce(shape, [view.strides for view, _ in made])
    assert len(sizes) <= len(shape)
    assert all(size != 1 for size in sizes)
    for walk, (view, data) in zip(walks, made, strict=True):
        again = walked(View(sizes, walk, view.offset), data)
        assert np.array_equal(again.ravel(), walked(view, data).ravel())


def test_coalesce_joins_what_all_operands_walk_alike():
    dense = shapes.contiguous_strides((4, 5, 6))
    assert shapes.coalesce((4, 5, 6), [dense]) == ((120,), [(1,)])
    assert shapes.coalesce((4, 5, 6), [dense, (0, 6, 1)]) == ((4, 30), [(30, 1), (0, 1)])
    assert shapes.coalesce((1, 1), [(1, 1)]) == ((), [()])


@given(small_shapes, small_shapes)
def test_broadcasting_is_numpys(one, two):
    try:
        wanted = np.broadcast_shapes(one, two)
    except ValueError:
        with pytest.raises(ShapeError, match=r"axis -\d do"):
            shapes.broadcast([one, two], "test")
    else:
        assert shapes.broadcast([one, two], "test") == wanted


def test_broadcast_names_the_axis_and_both_sizes():
    with pytest.raises(
        ShapeError, match=r"add: shapes \(2, 3\) and \(4, 3\): sizes 2 and 4 of axis -2"
    ):
        shapes.broadcast([(2, 3), (4, 3)], "add")
    assert shapes.broadcast([(2, 0), (2, 1)], "add") == (2, 0)


def test_axes():
    assert shapes.axis_indices(None, 3, "sum") == (0, 1, 2)
    assert shapes.axis_indices((-1, 0), 3, "sum") == (0, 2)
    assert shapes.axis_indices((), 3, "sum") == ()
    with pytest.raises(AxisError, match="axis 3: the array has 3 axes"):
        shapes.axis_indices(3, 3, "sum")
    with pytest.raises(UsageError, match="twice"):
        shapes.axis_indices((0, -3), 3, "sum")


def test_sizes_that_are_inferred_or_refused():
    assert shapes.infer_size((3, -1), 12, "reshape") == (3, 4)
    assert shapes.infer_size((0, 4), 0, "reshape") == (0, 4)
    for wrong in ((5, -1), (-1, -1), (3, 5), (0, -1)):
        with pytest.raises(ShapeError):
            shapes.infer_size(wrong, 12, "reshape")
    with pytest.raises(ShapeError, match="9 axes, 8 allowed"):
        shapes.check((1,) * 9, "zeros")
    with pytest.raises(ShapeError, match="negative"):
        shapes.check(-1, "zeros")
