import pytest

from aiogpu.server import reporter
from aiogpu.server.reporter import Reporter, current_reporter, progress


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    fake = Clock()
    monkeypatch.setattr(reporter, "time", fake)
    return fake


@pytest.fixture
def told():
    calls = []
    token = current_reporter.set(Reporter(lambda *call: calls.append(call)))
    yield calls
    current_reporter.reset(token)


def test_nobody_is_told_outside_of_a_request():
    progress(1, 2)


def test_page_is_told_at_most_60_times_a_second(clock, told):
    for step in range(1000):
        clock.now = step / 1000
        progress(step, None, "working")
    assert told[0] == (0, None, "working")
    assert 55 <= len(told) <= 60


def test_end_is_always_told(clock, told):
    progress(1, 3)
    progress(2, 3)
    progress(3, 3)
    assert told == [(1, 3, ""), (3, 3, "")]
