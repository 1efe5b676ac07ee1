"""Calls of kernels: grids, and arguments that do not fit."""

import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.lang.binding import grid_of


def test_threads_are_rounded_up_to_workgroups():
    assert grid_of("k", (16, 32), (20, 65), None, ()) == ((3, 2, 1), 2)
    assert grid_of("k", (64,), (3, 65), None, ()) == ((2, 3, 1), 2)
    assert grid_of("k", (2, 2, 2), 5, None, ()) == ((3, 1, 1), 3)
    assert grid_of("k", (64,), None, None, (5, 100)) == ((2, 5, 1), 2)
    assert grid_of("k", (64,), None, (7, 3), ()) == ((3, 7, 1), 2)
    assert grid_of("k", (64,), None, None, ()) == ((1, 1, 1), 1)


@pytest.mark.parametrize(
    ("threads", "workgroups", "said"),
    [
        (1, 1, "both"), ((1, 1, 1, 1), None, "at most 3 axes"), (-1, None, "negative"),
        (1 << 31, None, "ids are i32"), (None, (70000, 70000), "2\\^32 - 1 in all"),
    ],
)  # fmt: skip
def test_grids_that_cannot_be(threads, workgroups, said):
    with pytest.raises(UsageError, match=said):
        grid_of("k", (64,), threads, workgroups, ())


@gpu.kernel
def scaled(
    x: gl.In[gl.f32], by: gl.u32, y: gl.Out[gl.f32] = gl.like("x"), add: gl.const[int] = 0
) -> None:
    i = gl.global_id(1)
    y[i] = x[i] * float(by) + add


@pytest.mark.parametrize(
    ("args", "more", "error", "said"),
    [
        ((), {}, UsageError, "scaled: x: is not given"),
        ((gpu.ones(3), 1, 2, 3), {}, UsageError, "4 arguments: takes 3: x, by, add"),
        ((gpu.ones(3), 1), {"what": 1}, UsageError, "what: no such parameter"),
        ((gpu.ones(3), 1), {"x": 1}, UsageError, "x: given twice"),
        ((gpu.ones(3), 1), {"y": 1}, UsageError, "y: no such parameter"),
        (([1.0], 1), {}, UsageError, "x: list: takes an array"),
        ((gpu.ones(3), gpu.ones(())), {}, UsageError, "by: Array: takes a number"),
        ((gpu.arange(3), 1), {}, DTypeError, "x: int32: takes float32; cast with astype"),
        ((gpu.ones(3), 1.5), {}, DTypeError, "by: 1.5: takes uint32"),
        ((gpu.ones(3), -1), {}, gpu.errors.IntegerOverflowError, "-1"),
        ((gpu.ones(3), 1), {"out_shape": -1}, ShapeError, "negative"),
        ((gpu.ones(3), 1), {"out_shape": [(1,), (2,)]}, UsageError, "2 shapes"),
        ((gpu.ones(3), 1), {"add": [1]}, UsageError, "a const that cannot be hashed"),
    ],
)
def test_arguments_that_do_not_fit(args, more, error, said):
    with pytest.raises(error, match=said):
        scaled(*args, **more)


def test_defaults_are_shapes_and_constants():
    assert scaled(gpu.ones(7), 2).shape == (7,)
    assert scaled(gpu.ones(7), 2, out_shape=3, add=5).shape == (3,)
