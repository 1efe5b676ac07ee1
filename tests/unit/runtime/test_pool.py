import pytest

from aiogpu.errors import LimitError, OutOfMemoryError
from aiogpu.gpu.recording import RecordingRecorder
from aiogpu.limits import Limits
from aiogpu.runtime import pool as pools
from aiogpu.runtime.counters import Counters
from aiogpu.runtime.pool import Pool


@pytest.fixture
def recorder():
    return RecordingRecorder()


@pytest.fixture
def pool(recorder):
    return Pool(recorder, Limits(), Counters(), None)


def test_a_dropped_buffer_is_used_again(pool, recorder):
    first = pool.allocate(1000, "test")
    number, serial = first.id, first.serial
    del first
    second = pool.allocate(900, "test")
    assert (second.id, len(recorder.live)) == (number, 1)
    assert second.serial > serial


def test_buffers_in_use_are_not_shared(pool):
    held = [pool.allocate(1000, "test") for _ in range(10)]
    assert len({buffer.id for buffer in held}) == 10


@pytest.mark.parametrize("nbytes", [0, 1, 255, 256, 257, 1000, 4097, 10**6, 10**7 + 3])
def test_at_most_an_eighth_is_lost(pool, nbytes):
    buffer = pool.allocate(nbytes, "test")
    assert buffer.capacity >= max(nbytes, 4)
    assert buffer.capacity % 4 == 0
    assert buffer.capacity <= max(256, nbytes * 9 / 8 + 256)


def test_memory_adds_up(pool):
    held = [pool.allocate(nbytes, "test") for nbytes in (10, 1000, 5000)]
    memory = pool.memory()
    assert memory["in_use"] == sum(buffer.capacity for buffer in held)
    assert memory["padding"] == memory["in_use"] - 6010
    assert memory["buffers"] == 3
    del held
    after = pool.memory()
    assert (after["in_use"], after["padding"], after["peak"]) == (0, 0, memory["in_use"])
    assert after["reserved"] == memory["reserved"]
    pool.trim(0)
    assert (pool.memory()["reserved"], pool.memory()["buffers"]) == (0, 0)


def test_more_than_a_buffer_may_hold(pool):
    allowed = Limits().max_binding_nbytes
    with pytest.raises(LimitError, match=rf"sum: {allowed + 4} bytes: .* at most {allowed}"):
        pool.allocate(allowed + 4, "sum")
    assert pool.allocate(allowed, "sum").capacity == allowed


def test_the_memory_limit_is_kept_and_unused_memory_is_given_back_first(recorder):
    pool = Pool(recorder, Limits(), Counters(), 10_000)
    unused = pool.allocate(4000, "test")
    del unused
    held = pool.allocate(8000, "test")
    assert len(recorder.live) == 1
    with pytest.raises(OutOfMemoryError, match=r"matmul: 4000 bytes: \d+ of .*10000"):
        pool.allocate(4000, "matmul")
    del held
    assert pool.allocate(4000, "test").nbytes == 4000


def test_too_much_unused_memory_is_given_back(pool, recorder, monkeypatch):
    monkeypatch.setattr(pools, "KEEP_NBYTES", 10_000)
    held = [pool.allocate(1000, "test") for _ in range(100)]
    del held
    pool.collect()
    assert sum(recorder.live.values()) <= 10_000


def test_a_number_leads_to_its_present_version(pool):
    first = pool.allocate(100, "test")
    assert pool.holder(first.id) is first
    number = first.id
    del first
    assert pool.holder(number) is None
    second = pool.allocate(100, "test")
    assert pool.holder(number) is second
    assert pool.holder(999) is None
