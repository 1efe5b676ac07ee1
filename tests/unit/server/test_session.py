import asyncio
import sys

import pytest

from aiogpu.errors import DeviceLostError, OutOfMemoryError
from aiogpu.server import protocol
from aiogpu.server.reporter import progress


async def test_hello_is_answered_with_the_version(new_page):
    new_page.hello()
    assert await new_page.door.next("ready") == {"type": "ready", "version": protocol.VERSION}


async def test_other_version_is_refused(new_page):
    new_page.hello(version="0.0.9")
    failed = await new_page.door.next("failed")
    assert failed["error"]["code"] == "version"
    expected = f"client 0.0.9, wheel {protocol.VERSION}: they must be equal"
    assert failed["error"]["message"].endswith(expected)
    new_page.run("1")
    assert (await new_page.door.next("error"))["error"]["code"] == "protocol"


async def test_canvas_is_attached_under_its_name(new_page):
    canvas = object()
    new_page.hello(canvas, canvases={"canvas": 0})
    await new_page.door.next("ready")
    assert new_page.door.canvases == {"canvas": canvas}


async def test_module_is_importable(new_page):
    new_page.door.files["http://x/brought.py"] = "def twice(x):\n    return 2 * x\n"
    new_page.hello(modules={"brought_for_session": "http://x/brought.py"})
    await new_page.door.next("ready")
    try:
        assert await new_page.value("import brought_for_session as b\nb.twice(4)") == 8
    finally:
        sys.modules.pop("brought_for_session")
        sys.path.pop(0)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "OSError: http://x/broken.py: HTTP 404"),
        ({"http://x/broken.py": "import no_such_module"}, "No module named 'no_such_module'"),
        ({"http://x/broken.py": "def f(:"}, "SyntaxError"),
        ({"http://x/broken.py": "raise SystemExit(3)"}, "SystemExit: 3"),
    ],
)
async def test_module_that_does_not_load_fails_the_start(new_page, files, says):
    new_page.door.files = files
    path = sys.path[:]
    new_page.hello(modules={"broken_for_session": "http://x/broken.py"})
    failed = await new_page.door.next("failed")
    sys.path[:] = path
    assert failed["stage"] == "modules"
    assert says in failed["error"]["traceback"]


async def test_value_comes_back(page):
    assert await page.value("{'a': [k, None]}", k=3) == {"a": [3, None]}


async def test_runs_share_names_and_not_locals(page):
    first = page.run("import asyncio\nawait asyncio.sleep(0.01)\n[k]", k=1)
    second = page.run("shared = k\n[k]", k=2)
    assert await page.door.next("done") == {"type": "done", "id": second, "value": [2]}
    assert await page.door.next("done") == {"type": "done", "id": first, "value": [1]}
    assert await page.value("shared") == 2


async def test_exception_comes_back_with_class_message_and_traceback(page):
    error = await page.error("def f():\n    raise ValueError('bad')\nf()")
    assert (error["code"], error["name"], error["message"]) == ("remote", "ValueError", "bad")
    assert error["traceback"].startswith('Traceback (most recent call last):\n  File "<run ')
    assert "session.py" not in error["traceback"]


@pytest.mark.parametrize("text", ["raise SystemExit(1)", "raise KeyboardInterrupt"])
async def test_exit_of_the_source_ends_only_the_run(page, text):
    assert (await page.error(text))["name"] in text
    assert await page.value("1") == 1


async def test_value_that_cannot_cross_is_an_error_of_the_run(page):
    error = await page.error("{'items': [0, object()]}")
    assert error["code"] == "usage"
    assert error["message"] == "value.items[1]: object: cannot cross to the page"


async def test_gpu_arrays_cross_in_one_read(page, gpu_array):
    page.session._namespace["arrays"] = [
        gpu_array((2,), "float32", b"12345678"),
        gpu_array((1,), "uint8", b"9"),
    ]
    value = await page.value("[arrays[0], b'own', arrays[1]]")
    assert [item["buffer"] for item in value] == [0, 1, 2]
    assert page.door.buffers[-1] == [b"12345678", b"own", b"9"]
    assert page.door.reads == 1


async def test_failed_read_is_an_error_of_the_run(page, gpu_array):
    page.session._namespace["array"] = gpu_array((2,), "float32", OutOfMemoryError("read: too big"))
    assert (await page.error("array"))["code"] == "out-of-memory"


async def test_lost_device_is_told_beside_the_error(page, gpu_array):
    page.session._namespace["array"] = gpu_array((2,), "float32", DeviceLostError("gone"))
    assert (await page.error("array"))["code"] == "device-lost"
    page.door.lost("destroyed", "gone")
    told = await page.door.next("devicelost")
    assert told == {"type": "devicelost", "reason": "destroyed", "message": "gone"}


async def test_progress_names_its_run(page):
    page.session._namespace["progress"] = progress
    id_ = page.run("progress(1, 4, 'a quarter')")
    told = await page.door.next("progress")
    assert told == {"type": "progress", "id": id_, "done": 1, "total": 4, "message": "a quarter"}


async def test_cancel_reaches_the_task_and_the_next_run_works(page):
    source = """
import asyncio
released = False
try:
    await asyncio.sleep(60)
finally:
    released = True
"""
    id_ = page.run(source)
    await asyncio.sleep(0.01)
    page.send({"type": "cancel", "id": id_})
    assert (await page.door.next("error"))["error"]["name"] == "CancelledError"
    assert await page.value("released") is True
    page.send({"type": "cancel", "id": id_})
    assert await page.value("1") == 1


async def test_cancel_before_the_task_has_begun_is_answered_too(page):
    id_ = page.run("1")
    page.send({"type": "cancel", "id": id_})
    assert (await page.door.next("error"))["id"] == id_
    assert await page.value("2") == 2


async def test_interrupt_before_the_task_has_begun_reaches_it_alone(page):
    first = page.run("1")
    page.door.interrupts = True
    page.send({"type": "interrupt", "serial": 1})
    page.door.interrupts = False
    second = page.run("2")
    error = await page.door.next("error")
    assert (error["id"], error["error"]["name"]) == (first, "KeyboardInterrupt")
    assert (await page.door.next("done"))["id"] == second
    third = page.run("3")
    page.send({"type": "interrupt", "serial": 2})
    assert (await page.door.next("done"))["id"] == third


async def test_close_cancels_what_runs_and_shuts_the_door(page):
    page.run("import asyncio\nawait asyncio.sleep(60)")
    await asyncio.sleep(0)
    page.send({"type": "close"})
    assert (await page.door.next("error"))["error"]["name"] == "CancelledError"
    await page.door.next("closed")
    assert page.door.closed


async def test_close_while_starting_ends_the_start(new_page):
    new_page.door.fetch = lambda url: asyncio.sleep(60)
    new_page.hello(modules={"m": "http://x/m.py"})
    await asyncio.sleep(0)
    new_page.send({"type": "close"})
    await new_page.door.next("closed")


@pytest.mark.parametrize(
    ("message", "id_"),
    [
        ("{", None),
        ('{"type": "run", "id": 4}', 4),
        ('{"type": "hello", "version": "1", "modules": {}, "canvases": {}, "expose": "all"}', None),
        ('{"type": "nonsense", "id": 5}', 5),
    ],
)
async def test_malformed_message_is_answered_and_the_next_works(page, message, id_):
    page.session.receive(message, [])
    error = await page.door.next("error")
    assert error["id"] == id_
    assert error["error"]["code"] == "protocol"
    assert await page.value("1") == 1


async def test_request_before_hello_is_refused(new_page):
    new_page.run("1")
    assert (await new_page.door.next("error"))["error"]["code"] == "protocol"


async def test_id_in_use_is_refused(page):
    page.run("import asyncio\nawait asyncio.sleep(0.01)\n'first'")
    page.last_id -= 1
    page.run("'second'")
    assert "that id is in use" in (await page.door.next("error"))["error"]["message"]
    assert (await page.door.next("done"))["value"] == "first"
