import pytest

from aiogpu.server.interrupts import Interrupts


class Bytes:
    """The page's side of it too."""

    def __init__(self):
        self.signal = 0
        self.serial = 0

    def exchange(self, signal):
        before, self.signal = self.signal, signal
        return before

    def count(self):
        return self.serial

    def interrupt(self):
        self.serial += 1
        self.signal = 2
        return self.serial


class Frame:
    """What a frame of a module looks like from outside."""

    def __init__(self, module, back=None):
        self.f_globals = {"__name__": module}
        self.f_back = back


def stack(*modules):
    """The innermost first."""
    frame = None
    for module in reversed(modules):
        frame = Frame(module, frame)
    return frame


@pytest.mark.parametrize(
    "modules",
    [
        ("__main__", "aiogpu.server.source", "asyncio.events"),
        ("json.decoder", "json", "work", "aiogpu.server.dispatch"),
        ("numpy", "__main__"),
        ("aiogpu.lang.simulate", "__main__"),
    ],
)
def test_users_code_is_struck(modules):
    with pytest.raises(KeyboardInterrupt):
        Interrupts(Bytes()).strike(2, stack(*modules))


@pytest.mark.parametrize(
    "modules",
    [
        (),
        ("asyncio.events", "pyodide.webloop"),
        ("aiogpu.server.session", "pyodide.webloop"),
        ("contextlib", "aiogpu.schedule.order", "__main__"),
    ],
)
def test_loop_and_engine_leave_it_where_it_was(modules):
    shared = Bytes()
    Interrupts(shared).strike(2, stack(*modules))
    assert shared.signal == 2


def test_message_takes_what_nobody_has_had():
    shared = Bytes()
    interrupts = Interrupts(shared)
    serial = shared.interrupt()
    assert interrupts.take(serial)
    assert shared.signal == 0
    assert not interrupts.take(serial)


def test_message_leaves_a_later_interrupt():
    shared = Bytes()
    interrupts = Interrupts(shared)
    first = shared.interrupt()
    second = shared.interrupt()
    assert not interrupts.take(first)
    assert shared.signal == 2
    assert interrupts.take(second)
