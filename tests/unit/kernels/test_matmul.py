import pytest

from aiogpu import dtypes
from aiogpu.graph import build, select
from aiogpu.kernels.matmul import HUGE, LARGE, MIDDLE, SMALL, choose
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape, dtype)


def launch(first, second, *, is_fallback=False, cache=None):
    limits = Limits(is_fallback=is_fallback)
    *_, step = schedule([build.matmul(first, second)], limits)
    (made,) = render(step, limits, cache or TextCache()).launches
    return made


def test_software_adapters_get_the_kernel_without_barriers():
    fast, plain = (launch(leaf(70, 80), leaf(80, 90), is_fallback=f) for f in (False, True))
    assert "workgroupBarrier" in fast.wgsl
    assert "workgroupBarrier" not in plain.wgsl
    assert (fast.groups, plain.groups) == (3 * 3, 2 * 2)


@pytest.mark.parametrize(
    ("shape", "kernel"),
    [((4096, 4096), HUGE), ((1024, 1024), LARGE), ((640, 640), MIDDLE), ((64, 256, 128), LARGE),
     ((100, 40, 40), LARGE), ((256, 256), SMALL), ((1, 1), SMALL), ((5000, 3), SMALL)],
)  # fmt: skip
def test_blocks_are_as_large_as_keeps_the_device_busy(shape, kernel):
    assert choose(shape, dtypes.float32, Limits()) is kernel


def test_sizes_travel_as_parameters():
    cache = TextCache()
    one = launch(leaf(70, 81), leaf(81, 91), cache=cache)
    two = launch(leaf(5, 6), leaf(6, 7), cache=cache)
    assert one.wgsl is two.wgsl
    assert one.params[1:5] == (70, 91, 81, 1)
    assert two.params[1:5] == (5, 7, 6, 1)


def declared(made):
    return [line.partition(": ")[2] for line in made.wgsl.splitlines() if "@group(0)" in line]


def test_dense_rows_are_read_by_vectors():
    four, one = "array<vec4<f32>>;", "array<f32>;"
    assert declared(launch(leaf(5, 8), leaf(8, 12))) == [four, four, one]
    assert declared(launch(leaf(5, 8), leaf(8, 11))) == [four, one, one]
    assert declared(launch(leaf(5, 7), leaf(7, 12))) == [one, four, one]
    flipped = build.permute(leaf(8, 5), (1, 0))
    assert declared(launch(flipped, leaf(8, 12))) == [one, four, one]
    shifted = select.cut(leaf(5, 9), (slice(None), slice(1, None)))
    assert declared(launch(shifted, leaf(8, 12))) == [one, four, one]
    x = leaf(8, 8)
    assert declared(launch(x, x)) == [four, one]
    assert declared(launch(x, build.permute(x, (1, 0)))) == [one, one]
    bytes_ = leaf(8, 8, dtype=dtypes.uint8)
    assert declared(launch(bytes_, bytes_)) == ["array<u32>;", "array<atomic<u32>>;"]


def test_views_are_read_where_they_lie():
    made = launch(build.permute(leaf(6, 5), (1, 0)), leaf(6, 7))
    assert made.params[5:11] == (0, 1, 5, 0, 7, 1)


def test_one_array_twice_is_bound_once():
    x = leaf(5, 5)
    assert launch(x, x).bindings == (0, 1)


@pytest.mark.parametrize(
    ("first", "second", "axes"),
    [((4, 5, 6), (4, 6, 7), 1), ((4, 5, 6), (6, 7), 1), ((2, 3, 5, 6), (2, 3, 6, 7), 1),
     ((2, 1, 5, 6), (3, 6, 7), 2)],
)  # fmt: skip
def test_batches_are_walked_by_as_few_axes_as_possible(first, second, axes):
    made = launch(leaf(*first), leaf(*second))
    assert len(made.params) == 11 + 3 * axes


def test_work_is_estimated_by_the_workgroup():
    short, long = (launch(leaf(64, k), leaf(k, 64)) for k in (10, 1000))
    assert long.cost == 100 * short.cost
    assert short.groups == long.groups
