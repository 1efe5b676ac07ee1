"""Arrays that the page knows by number: made, used, failed and freed by messages."""

import numpy as np
import pytest

from aiogpu.array import Array

#: Of a buffer that is not there.
ARRAY = {"$": "array", "dtype": "float32", "shape": [9], "buffer": 0, "offset": 0}


def op(page, handle, name, *args, **kwargs):
    page.send({"type": "op", "handle": handle, "name": name, "args": list(args), "kwargs": kwargs})


def held(handle):
    return {"$": "handle", "handle": handle}


def kept(page, handle):
    return page.session._handles.find(handle)


def read(page, id_, *handles, form="data"):
    page.send({"type": "read", "id": id_, "handles": list(handles), "form": form})


async def test_operations_make_arrays_without_an_answer(page):
    op(page, 1, "asarray", [[1, 2, 3], [4, 5, 6]])
    op(page, 2, "add", held(1), 1)
    op(page, 3, "transpose", held(2))
    op(page, 4, "slice", held(3), [[1, None], 0])
    op(page, 5, "sum", held(1), axis=0, keepdims=True)
    op(page, 6, "reshape", held(1), [3, -1])
    op(page, 7, "less", [1, 2, 3], held(1))
    op(page, 8, "matmul", held(1), held(3))
    op(page, 9, "astype", held(1), "float16")
    shapes = [kept(page, handle).shape for handle in range(1, 10)]
    assert shapes == [(2, 3), (2, 3), (3, 2), (2,), (1, 3), (3, 2), (2, 3), (2, 2), (2, 3)]
    assert kept(page, 7).dtype.name == "bool"
    assert kept(page, 9).dtype.name == "float16"
    assert page.door.messages == []


async def test_failure_stays_with_the_result_and_names_its_handle(page):
    op(page, 1, "asarray", [1, 2, 3])
    op(page, 2, "reshape", held(1), [2, 2])
    op(page, 3, "add", held(2), 1)
    assert page.door.messages == []
    read(page, 1, 3)
    message = await page.door.next("error")
    assert (message["id"], message["handle"]) == (1, 2)
    assert message["error"]["code"] == "shape"


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("eval", ["1"], "usage"),
        ("add", [], "remote"),
        ("add", [None, {"a": 1}], "usage"),
        ("slice", [1, [{}]], "usage"),
        ("slice", [1, [0, 0]], "axis"),
        ("sum", [{"$": "handle", "handle": 99}], "handle"),
        ("asarray", [ARRAY], "protocol"),
    ],
)
async def test_nonsense_is_told_when_it_is_read(page, name, args, code):
    op(page, 1, "asarray", [1, 2])
    args = [held(1) if arg == 1 else arg for arg in args]
    op(page, 2, name, *args)
    read(page, 90, 2)
    assert (await page.door.next("error"))["error"]["code"] == code
    assert await page.value("1") == 1


async def test_number_in_use_is_refused(page):
    op(page, 1, "asarray", [1, 2])
    op(page, 1, "asarray", [1])
    assert (await page.door.next("error"))["error"]["code"] == "protocol"
    assert kept(page, 1).shape == (2,)


async def test_freed_array_is_gone(page):
    op(page, 1, "asarray", [1, 2])
    page.send({"type": "free", "handles": [1, 7]})
    read(page, 1, 1)
    assert (await page.door.next("error"))["error"]["code"] == "handle"
    assert len(page.session._handles) == 0


async def test_array_freed_behind_a_request_still_reaches_it(page):
    op(page, 1, "asarray", [[1, 2]])
    id_ = page.run("list(x.shape)", x=held(1))
    page.send({"type": "free", "handles": [1]})
    assert len(page.session._handles) == 1
    assert await page.door.next("done") == {"type": "done", "id": id_, "value": [1, 2]}
    assert len(page.session._handles) == 0


async def test_cancelled_request_holds_no_array_back(page):
    op(page, 1, "asarray", [[1, 2]])
    id_ = page.run("1", x=held(1))
    page.send({"type": "free", "handles": [1]})
    page.send({"type": "cancel", "id": id_})
    await page.door.next("error")
    assert len(page.session._handles) == 0


async def test_result_as_a_handle(page):
    page.session._namespace["np"] = np
    message = {"type": "run", "id": 1, "filename": "run", "locals": {}, "result": "handle"}
    source = "import aiogpu\n{'a': aiogpu.zeros((2, 3)), 'b': [np.ones(4, 'float16'), 5, b'x']}"
    page.send(message | {"source": source})
    value = (await page.door.next("done"))["value"]
    a, (b, five, raw) = value["a"], value["b"]
    assert a == {"$": "handle", "handle": -1, "dtype": "float32", "shape": [2, 3]}
    assert b == {"$": "handle", "handle": -2, "dtype": "float16", "shape": [4]}
    assert five == 5
    assert raw["$"] == "array"
    assert isinstance(kept(page, -1), Array)
