"""Random graphs (tests/conformance/graphs.py) on the recording GPU: planned, rendered and recorded.

The recorder refuses a buffer that is not there, and a binding of it twice where one is written to.
"""

import contextlib
import gc

import graphs
import growth
import pytest

import aiogpu as gpu
from aiogpu.gpu.recording import Dispatch
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import PORTION

NGRAPHS = 40
LIMITS = {
    "least": Limits(),
    "immediates": Limits(immediate_nbytes=64, max_storage_buffers=10, has_f16=True),
    "fallback": Limits(is_fallback=True, max_storage_buffers=16),
}


def dispatches(host, start):
    commands = (each for submit in host.recorder.submits[start:] for each in submit)
    return [each for each in commands if isinstance(each, Dispatch)]


async def computed(host, graph, *, eager=False):
    """The dispatches that a graph takes."""
    start = len(host.recorder.submits) if host.recorders else 0
    outputs, held = await graph.build()
    with gpu.eager() if eager else contextlib.nullcontext():
        reads = await gpu.read(*outputs)
    assert [read.shape for read in reads] == [graph.values[at].shape for at in graph.outputs]
    assert [read.dtype for read in reads] == [graph.values[at].dtype.name for at in graph.outputs]
    del outputs, held
    return dispatches(host, start)


@pytest.mark.parametrize("limits", LIMITS)
async def test_random_graphs_are_computed_within_the_limits(host, limits):
    host.limits = LIMITS[limits]
    nfused = neager = 0
    for seed in range(NGRAPHS):
        graph = growth.grown(seed)
        fused = await computed(host, graph)
        again = await computed(host, graph)
        eager = await computed(host, graph, eager=True)
        assert [(d.label, d.grid, d.params) for d in again] == [
            (d.label, d.grid, d.params) for d in fused
        ], f"seed {seed}: planned in another way when it was met again"
        most = host.limits.max_storage_buffers
        assert max(len(d.buffers) for d in (*fused, *eager)) <= most, f"seed {seed}"
        assert len(fused) <= len(eager), f"seed {seed}"
        nfused += len(fused)
        neager += len(eager)
    assert nfused < 0.65 * neager
    gc.collect()
    assert gpu.memory()["in_use"] == 0


async def test_random_graphs_of_several_portions(host):
    """What one portion computes on the way, the next may read, through views too."""
    nnodes = 3 * PORTION
    for seed in range(6):
        graph = growth.grown(seed, nnodes)
        fused = await computed(host, graph)
        eager = await computed(host, graph, eager=True)
        assert 100 < len(fused) <= len(eager), f"seed {seed}"
    gc.collect()
    assert gpu.memory()["in_use"] == 0


def test_a_seed_gives_the_same_graph_every_time():
    one, two = (growth.grown(7) for _ in range(2))
    assert one.nodes == two.nodes
    assert one.nodes != growth.grown(8).nodes
    assert one.varied(1).nodes != one.nodes


async def test_a_wrong_value_is_found_and_shown(host):
    """On this GPU, whose reads are zeros."""
    failures = await graphs.check(growth.grown(3))
    assert failures
    assert all(text.startswith(("fused, node ", "eager, node ")) for text in failures)
    assert '["array", ' in failures[0]
