import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiogpu import dtypes
from aiogpu.errors import AxisError, ShapeError, UsageError
from aiogpu.graph import build, select

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@st.composite
def keys(draw):
    shape = draw(shapes)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=6))


@given(keys())
def test_keys_name_what_numpys_name(case):
    shape, key = case
    data = np.arange(int(np.prod(shape)) or 1)
    host = data[: int(np.prod(shape))].reshape(shape)
    made = select.cut(build.leaf(object(), shape, dtypes.int32), key)
    wanted = host[key]
    assert made.shape == np.shape(wanted)
    if made.nelems:
        _, how = build.view_of(made)
        start = data[how.offset :]
        walked = np.lib.stride_tricks.as_strided(start, how.shape, [8 * s for s in how.strides])
        assert np.array_equal(walked, wanted)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (3, AxisError), (-4, AxisError), ((0, 0, 0), AxisError), ((..., ...), UsageError),
        (1.5, UsageError), (True, UsageError), ("a", UsageError), ([0, 1], UsageError),
    ],
)  # fmt: skip
def test_keys_that_are_refused(key, error):
    with pytest.raises(error, match="index: "):
        select.cut(build.leaf(object(), (3, 4), dtypes.int32), key)


@pytest.mark.parametrize(
    ("key", "before", "text"),
    [
        (1, None, "1"), ((0, slice(1, None)), None, "0, 1:"), (slice(None, None, -1), None, "::-1"),
        ((..., None), None, "..., None"), (2, "0", "0, 2"), (slice(2), "1:", "1:, :2"),
    ],
)  # fmt: skip
def test_keys_are_spelled_as_they_are_written(key, before, text):
    assert select.spell(key, before) == text


def test_assignment_keeps_shape_and_dtype_and_checks_the_value():
    x = build.leaf(object(), (4, 5), dtypes.uint8)
    made = select.assign(x, (slice(None, None, -2), 1), build.leaf(object(), (2,), dtypes.float32))
    assert (made.shape, made.dtype) == ((4, 5), dtypes.uint8)
    assert select.assign(x, (slice(2, 2),), 3) is x
    with pytest.raises(ShapeError):
        select.assign(x, 0, build.leaf(object(), (4,), dtypes.uint8))
    with pytest.raises(AxisError):
        select.assign(x, 4, 1)
