import sys
from types import ModuleType

import pytest

import aiogpu
from aiogpu.errors import UsageError


@pytest.fixture
def module(monkeypatch):
    made = ModuleType("exposing")
    made.open = aiogpu.expose(lambda: "open")
    made.shut = lambda: "shut"
    monkeypatch.setitem(sys.modules, "exposing", made)
    return made


@pytest.fixture
async def marked(new_page):
    new_page.hello(expose="marked")
    await new_page.door.next("ready")
    return new_page


def call(page, target):
    message = {"type": "call", "id": 1, "target": target, "args": [], "kwargs": {}}
    page.send(message | {"result": "value"})


async def test_marked_function_is_called(marked, module):
    call(marked, "exposing:open")
    assert (await marked.door.next("done"))["value"] == "open"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "call", "target": "exposing:shut", "args": [], "kwargs": {}, "result": "value"},
        {"type": "call", "target": "os:getcwd", "args": [], "kwargs": {}, "result": "value"},
        {"type": "run", "source": "1", "filename": "run", "locals": {}, "result": "value"},
        {"type": "install", "packages": ["numpy"]},
        {"type": "import", "module": "this"},
    ],
)
async def test_everything_else_is_refused(marked, module, message):
    marked.send(message | {"id": 1})
    error = (await marked.door.next("error"))["error"]
    assert error["code"] == "usage"
    assert "not marked by aiogpu.expose" in error["message"]
    assert "this" not in sys.modules


async def test_clients_own_methods_work(marked):
    call(marked, "aiogpu:memory")
    assert (await marked.door.next("done"))["value"]["buffers"] == 0


async def test_without_the_option_marks_mean_nothing(page, module):
    call(page, "exposing:shut")
    assert (await page.door.next("done"))["value"] == "shut"


def test_what_cannot_be_marked_is_refused():
    with pytest.raises(UsageError, match="expose: builtin_function_or_method: cannot be marked"):
        aiogpu.expose(len)
