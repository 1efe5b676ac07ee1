"""How many launches a sort takes, and which memory."""

import pytest

from aiogpu import dtypes
from aiogpu.graph import build, orders
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule


def program(node, cache=None):
    (step,) = schedule([node], Limits())
    return render(step, Limits(), cache or TextCache())


def leaf(*shape):
    return build.leaf(object(), shape, dtypes.float32)


@pytest.mark.parametrize(
    ("size", "launches", "temporaries"),
    [(2, 1, 0), (16, 1, 0), (17, 2, 1), (32, 2, 1), (33, 3, 2), (1 << 20, 17, 2)],
)
def test_passes_double_the_runs(size, launches, temporaries):
    made = program(orders.argsort(leaf(3, size), 1))
    assert len(made.launches) == launches
    assert made.temporaries == (8 * 3 * size,) * temporaries
    # Each pass reads what the one before it wrote, and never writes what it reads.
    before = None
    for launch in made.launches:
        if before is not None:
            assert launch.bindings[0] == before
        assert launch.bindings[-1] != before
        before = launch.bindings[-1]
    assert before == 1, "the last pass writes the output"


def test_all_sizes_share_three_shaders():
    cache = TextCache()
    texts = set()
    for shape, axis in (((100,), 0), ((7, 1000), 1), ((1 << 18,), 0)):
        made = program(orders.argsort(leaf(*shape), axis), cache)
        texts |= {launch.wgsl for launch in made.launches}
    assert len(texts) == 3


def test_work_around_it_runs_in_its_own_launches():
    node = build.elementwise("add", orders.argsort(build.elementwise("negative", leaf(100)), 0), 1)
    (step,) = schedule([node], Limits())
    assert step.core.op.name == "argsort"
    assert len(render(step, Limits(), TextCache()).launches) == 4
