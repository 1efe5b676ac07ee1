import asyncio

import pytest

from aiogpu.gpu import protocol
from aiogpu.gpu.recording import Dispatch, RecordingRecorder
from aiogpu.limits import Limits
from aiogpu.program import Launch
from aiogpu.runtime.runtime import Runtime
from aiogpu.runtime.stream import BUDGETS, MAX_DISPATCHES


def launch(groups=1, cost=100, **other):
    words = {"bindings": (0, 1), "writes": 0b10, "params": (0, 7), "param_space": "immediate"}
    return Launch(wgsl="text", label="work", groups=groups, cost=cost, **{**words, **other})


def run(runtime, launch, buffers):
    for _ in runtime.launch(launch, launch.params, buffers, None):
        pass


@pytest.fixture
def buffers(runtime):
    return [runtime.pool.allocate(100, "test") for _ in range(2)]


def dispatches(recorder):
    return [c for submit in recorder.submits for c in submit if isinstance(c, Dispatch)]


def test_nothing_is_submitted_before_a_flush(runtime, buffers):
    for _ in range(10):
        run(runtime, launch(), buffers)
    assert runtime.recorder.submits == []
    runtime.stream.flush()
    (submit,) = runtime.recorder.submits
    wanted = Dispatch("work", (1, 1, 1), tuple(b.id for b in buffers), (0, 7))
    assert submit == [wanted] * 10
    runtime.stream.flush()
    assert len(runtime.recorder.submits) == 1


def test_many_launches_share_a_submit(runtime, buffers):
    for _ in range(1000):
        run(runtime, launch(), buffers)
    runtime.stream.flush()
    assert len(dispatches(runtime.recorder)) == 1000
    assert max(len(submit) for submit in runtime.recorder.submits) == MAX_DISPATCHES
    assert runtime.counts()["dispatches"] == 1000
    assert runtime.counts()["submits"] == -(-1000 // MAX_DISPATCHES)


@pytest.mark.parametrize("pace", ["throughput", "interactive"])
@pytest.mark.parametrize("is_fallback", [False, True])
def test_long_launches_are_cut_so_that_no_submit_is_long(pace, is_fallback):
    runtime = Runtime(RecordingRecorder(), Limits(is_fallback=is_fallback), None)
    runtime.stream.set_pace(pace)
    budget, _ = BUDGETS[pace, is_fallback]
    buffers = [runtime.pool.allocate(100, "test") for _ in range(2)]
    cost = budget // 37
    run(runtime, launch(groups=500, cost=cost), buffers)
    runtime.stream.flush()
    covered = 0
    for submit in runtime.recorder.submits:
        # A submit is closed by the piece that fills it: it overshoots by at most that piece.
        assert sum(d.grid[0] * d.grid[1] for d in submit) * cost <= budget * 5 / 4 + cost
        for each in submit:
            assert each.params[0] == covered
            covered += each.grid[0] * each.grid[1]
    assert covered == 500


def test_a_product_of_16384_cubed_on_a_slow_adapter_holds_no_submit_for_seconds():
    limits = Limits(is_fallback=True)
    runtime = Runtime(RecordingRecorder(), limits, None)
    work = launch(groups=512 * 512, cost=2 * 32 * 32 * 16384)
    pieces = list(runtime.stream.pieces(work))
    assert sum(piece.cost for piece in pieces) == work.groups * work.cost
    size = pieces[0].cost // work.cost
    assert [piece.first for piece in pieces[:3]] == [0, size, 2 * size]
    # The slow adapter of the budgets does 2e8 operations a second.
    assert max(piece.cost for piece in pieces) / 2e8 < 0.5


def test_more_workgroups_than_a_dimension_allows_become_rows(runtime, buffers):
    run(runtime, launch(groups=200_000, cost=1), buffers)
    runtime.stream.flush()
    (each,) = dispatches(runtime.recorder)
    x, y, z = each.grid
    assert max(each.grid) <= 65535
    assert x * y * z >= 200_000
    assert x * y * z < 200_000 + y


def test_code_that_we_did_not_write_gets_a_submit_of_its_own(runtime, buffers):
    own = launch(groups=(2, 3, 1), params=(), param_space="none", is_checked=False)
    for each in (launch(), own, launch()):
        run(runtime, each, buffers)
    runtime.stream.flush()
    assert [len(submit) for submit in runtime.recorder.submits] == [1, 1, 1]
    assert runtime.recorder.submits[1][0].grid == (2, 3, 1)


def test_commands_keep_their_order(runtime, buffers):
    first, second = buffers
    run(runtime, launch(), buffers)
    runtime.stream.copy(first, second, 64, 4, 8)
    read = runtime.stream.read(second, 100)
    run(runtime, launch(), buffers)
    runtime.stream.draw(3, first, 8, 4, 1)
    runtime.stream.flush()
    (submit,) = runtime.recorder.submits
    assert [c[0] if isinstance(c, tuple) else c.label for c in submit] == [
        "work", "copy", "read", "work", "draw",
    ]  # fmt: skip
    assert submit[1] == ("copy", first.id, 4, second.id, 8, 64)
    assert submit[2] == ("read", read, second.id, 0, 100)


def test_a_batch_crosses_once_however_long_it_is(runtime, buffers):
    runtime.pipelines.now(launch())
    before = runtime.recorder.crossings
    for _ in range(MAX_DISPATCHES - 1):
        run(runtime, launch(), buffers)
    runtime.stream.flush()
    assert runtime.recorder.crossings - before == 2


async def test_waiting_asks_the_device_only_when_the_window_is_full(runtime):
    before = runtime.recorder.crossings
    await runtime.stream.breathe()
    assert runtime.recorder.crossings == before
    runtime.stream.note(runtime.stream.window + 1)
    await runtime.stream.breathe()
    assert runtime.recorder.crossings == before + 1
    assert runtime.stream.unfinished == 0


def test_a_status_says_what_is_lost(runtime):
    runtime.stream.note(3)
    assert (runtime.stream.unfinished, runtime.stream.is_lost) == (3, False)
    runtime.stream.note(protocol.LOST)
    assert runtime.stream.is_lost


async def test_what_is_evaluated_while_the_device_is_busy_shares_a_submit(runtime, buffers):
    run(runtime, launch(), buffers)
    runtime.stream.flush_soon()
    assert len(runtime.recorder.submits) == 1  # there was nothing to do
    for _ in range(3):
        runtime.stream.unfinished = 1
        run(runtime, launch(), buffers)
        runtime.stream.flush_soon()
    assert len(runtime.recorder.submits) == 1
    await asyncio.sleep(0)
    assert [len(submit) for submit in runtime.recorder.submits] == [1, 3]
