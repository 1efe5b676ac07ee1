"""Messages of any shape: each request is answered, nothing else is, and a good call works after.

A sample in the normal run; AIOGPU_FUZZ=20000 sends as many.
"""

import asyncio
import dataclasses
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiogpu.server import protocol
from aiogpu.server.protocol import VERSION
from aiogpu.server.session import Session

COUNT = int(os.environ.get("AIOGPU_FUZZ", "1000"))

KEYS = st.sampled_from(
    ["$", "value", "handle", "dtype", "shape", "buffer", "offset", "a", "__proto__"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["array", "handle", "bytes", "number", "int", "object", "stream", "float32"])
    | st.text(max_size=5)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)
ARRAYS = st.fixed_dictionaries(
    {
        "$": st.just("array"),
        "dtype": st.sampled_from(["float32", "uint8", "bool", "complex64", "float128"]),
        "shape": st.lists(st.integers(-1, 3), max_size=3) | TREES,
        "buffer": st.integers(-1, 1) | TREES,
        "offset": st.integers(-1, 9) | TREES,
    }
)
VALUES = TREES | ARRAYS
OBJECTS = st.dictionaries(st.sampled_from(["a", "axis", "dtype", "b c"]), VALUES, max_size=2)
IDS = st.integers(-2, 9)
# Only harmless sources and targets: the fuzz is of the protocol, not of Python.
FIELDS = {
    "id": IDS,
    "source": st.sampled_from(["1", "1 +", "a", "(k for k in 'ab')", "raise SystemExit", "\0"]),
    "filename": st.text(max_size=3),
    "locals": OBJECTS,
    "target": st.sampled_from(["math:hypot", "math:", ":", "__main__:a", "a:b:c", ".:x", "a..b:c"]),
    "args": st.lists(VALUES, max_size=3),
    "kwargs": OBJECTS,
    "result": st.sampled_from(["value", "handle", "both"]),
    "module": st.sampled_from(["math", "", "..", "no.such", "__main__"]),
    "handles": st.lists(IDS, max_size=3),
    "handle": IDS,
    "form": st.sampled_from(["shape", "item", "all"]),
    "name": st.sampled_from(
        ["asarray", "add", "slice", "reshape", "sum", "transpose", "where", "x"]
    ),
    "stream": IDS,
    "serial": IDS,
    "version": st.just(VERSION),
    "modules": st.just({}),
    "canvases": st.just({"c": 5}),
    "expose": st.just("all"),
}
SHAPES = {
    kind: st.fixed_dictionaries(
        {each.name: FIELDS[each.name] for each in dataclasses.fields(shape)}
    )
    for kind, shape in protocol._REQUESTS.items()
    if kind not in ("install", "close")
}
KINDS = st.sampled_from(sorted(SHAPES))


@st.composite
def messages(draw):
    kind = draw(KINDS)
    fields = draw(SHAPES[kind])
    if fields and draw(st.integers(0, 4)) == 0:
        fields[draw(st.sampled_from(sorted(fields)))] = draw(TREES)
    return json.dumps({"type": kind, **fields})


class Door:
    def __init__(self):
        self.sent = []

    def post(self, text, buffers):
        self.sent.append(json.loads(text))

    def close(self):
        raise AssertionError("nothing has said good-bye")

    async def load(self, item):
        return item

    async def read(self, arrays):
        return [b"" for _ in arrays]

    async def fetch(self, url):
        raise OSError(url)

    def watch(self, lost):
        pass

    def interrupted(self, serial):
        return False

    def attach(self, name, canvas):
        raise AssertionError("there is no canvas")


async def converse(texts):
    door = Door()
    session = Session(door, {"__name__": "__main__"}, asyncio.get_running_loop())
    hello = {"type": "hello", "version": VERSION, "modules": {}, "canvases": {}, "expose": "all"}
    session.receive(json.dumps(hello), [])
    await asyncio.wait({session._starting})
    assert door.sent.pop()["type"] == "ready"
    for text in texts:
        session.receive(text, [bytearray(16)])
        asked = dict(session._tasks)
        if asked:
            await asyncio.wait(asked.values(), timeout=2)
        await asyncio.sleep(0)
        assert session._tasks == {}
        answers = [sent for sent in door.sent if sent["type"] in ("done", "error")]
        assert len(answers) <= 1
        assert len(answers) >= len(asked)
        door.sent.clear()
    good = {"type": "run", "id": 77, "source": "6 * 7", "filename": "run", "locals": {}}
    session.receive(json.dumps(good | {"result": "value"}), [])
    await asyncio.wait(session._tasks.values(), timeout=2)
    assert door.sent == [{"type": "done", "id": 77, "value": 42}]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=max(COUNT // 20, 1), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(messages() | st.text(max_size=9), min_size=20, max_size=20))
def test_any_message_has_its_answer_and_a_good_call_works_after(texts):
    asyncio.run(converse(texts))
