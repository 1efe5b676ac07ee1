from math import prod

import pytest

from aiogpu import dtypes
from aiogpu.graph import build
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

LIMITS = Limits(immediate_nbytes=64)


def program(name, shape, axes, dtype=dtypes.float32):
    node = build.reduction(name, build.leaf(object(), shape, dtype), axes, keepdims=False)
    *_, step = schedule([node], LIMITS)
    return render(step, LIMITS, TextCache())


@pytest.mark.parametrize("count", [1, 100, 257, 100_000, 2**24 + 16])
def test_passes_follow_until_one_share_is_left(count):
    made = program("sum", (count,), None)
    assert len(made.temporaries) == len(made.launches) - 1
    left = count
    for launch in made.launches:
        outer, inner, shares = launch.params[1:4]
        assert (outer, inner) == (1, left)
        left = shares
    assert left == 1
    assert (len(made.launches) == 1) == (count <= 256)


def test_every_pass_reads_what_the_one_before_wrote():
    made = program("max", (1_000_000,), None, dtypes.int32)
    output = 1
    assert made.launches[0].bindings == (0, 2)
    assert made.launches[-1].bindings[-1] == output
    for before, after in zip(made.launches, made.launches[1:], strict=False):
        assert after.bindings[0] == before.bindings[-1]
        assert after.writes == 0b10


def test_sums_of_floats_carry_their_errors():
    assert "err +=" in program("sum", (1000,), None).launches[0].wgsl
    assert "err" not in program("sum", (1000,), None, dtypes.int32).launches[0].wgsl
    partial = program("sum", (1000,), None).temporaries[0]
    assert partial == 2 * program("max", (1000,), None).temporaries[0]


def test_many_results_need_no_second_pass():
    made = program("sum", (5000, 200), 1)
    (launch,) = made.launches
    assert launch.params[1:4] == (5000, 200, 1)
    assert launch.groups == -(-5000 // 64)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_reduced_axes_are_walked_last(axes):
    shape = (3, 4, 5)
    made = program("sum", shape, axes)
    outer, inner = made.launches[0].params[1:3]
    assert inner == prod(shape[a] for a in axes)
    assert outer * inner == prod(shape)


def test_no_barrier_is_used():
    for launch in program("sum", (1_000_000,), None).launches:
        assert "Barrier" not in launch.wgsl
        assert "workgroup>" not in launch.wgsl
