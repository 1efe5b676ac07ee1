import itertools
from math import prod

import pytest

from aiogpu import dtypes
from aiogpu.graph import build
from aiogpu.kernels.folding import HUGE, SHORT
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

GPU = Limits(immediate_nbytes=64, max_invocations=1024)
SOFTWARE = Limits(immediate_nbytes=64, is_fallback=True)


def program(name, shape, axes, dtype=dtypes.float32, limits=SOFTWARE):
    node = build.reduction(name, build.leaf(object(), shape, dtype), axes, keepdims=False)
    *_, step = schedule([node], limits)
    return render(step, limits, TextCache())


@pytest.mark.parametrize("limits", [GPU, SOFTWARE])
@pytest.mark.parametrize("count", [1, 100, 257, 100_000, 2**24 + 16])
def test_passes_follow_until_one_split_is_left(count, limits):
    made = program("sum", (count,), None, limits=limits)
    assert len(made.temporaries) == len(made.launches) - 1
    left = count
    for launch in made.launches:
        outer, inner, splits = launch.params[1:4]
        assert (outer, inner) == (1, left)
        left = splits
    assert left == 1
    assert (len(made.launches) == 1) == (count <= (HUGE if limits is GPU else SHORT))


@pytest.mark.parametrize("limits", [GPU, SOFTWARE])
@pytest.mark.parametrize("inner", [5, 1000, 2**24])
def test_no_rows_are_folded_by_no_workgroup(inner, limits):
    (launch,) = program("sum", (0, inner), (1,), limits=limits).launches
    assert launch.groups == 0


def test_every_pass_reads_what_the_one_before_wrote():
    made = program("max", (1_000_000,), None, dtypes.int32)
    output = 1
    assert made.launches[0].bindings == (0, 2)
    assert made.launches[-1].bindings[-1] == output
    for before, after in itertools.pairwise(made.launches):
        assert after.bindings[0] == before.bindings[-1]
        assert after.writes == 0b10


def test_sums_of_floats_carry_their_errors():
    assert "err +=" in program("sum", (1000,), None).launches[0].wgsl
    assert "err" not in program("sum", (1000,), None, dtypes.int32).launches[0].wgsl
    partial = program("sum", (1000,), None).temporaries[0]
    assert partial == 2 * program("max", (1000,), None).temporaries[0]


@pytest.mark.parametrize("limits", [GPU, SOFTWARE])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(5000, 200), (4096, 4096), (64, 4096), (300, 40), (3, 5)])
def test_a_matrix_is_reduced_in_one_launch(shape, axis, limits):
    (launch,) = program("mean", shape, axis, limits=limits).launches
    assert launch.params[1:4] == (shape[1 - axis], shape[axis], 1)


@pytest.mark.parametrize("limits", [GPU, SOFTWARE])
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_reduced_axes_are_walked_last(axes, limits):
    shape = (3, 4, 5)
    made = program("sum", shape, axes, limits=limits)
    outer, inner = made.launches[0].params[1:3]
    assert inner == prod(shape[a] for a in axes)
    assert outer * inner == prod(shape)


def test_software_adapters_meet_no_barrier():
    for launch in program("sum", (1_000_000,), None).launches:
        assert "Barrier" not in launch.wgsl
        assert "workgroup>" not in launch.wgsl


def test_neighbours_read_neighbours():
    along = program("sum", (4096, 4096), 1, limits=GPU).launches[0].wgsl
    across = program("sum", (4096, 4096), 0, limits=GPU).launches[0].wgsl
    assert "let s = lid % 256u;" in along
    assert "let c = lid % 32u;" in across


def test_workgroups_stay_within_the_limit():
    for most in (256, 512, 1024):
        limits = Limits(max_invocations=most)
        for axis in (0, 1):
            (launch,) = program("sum", (4096, 4096), axis, limits=limits).launches
            size = int(launch.wgsl.partition("@workgroup_size(")[2].partition(")")[0])
            assert size <= most


def test_packed_results_of_a_workgroup_leave_their_neighbours():
    (launch,) = program("any", (64, 4096), 1, dtypes.bool_, GPU).launches
    assert "atomicOr(&out" in launch.wgsl
