"""Messages of any shape: each request is answered, nothing else is, and a good call works after.

A sample in the normal run; AIOGPU_FUZZ=20000 sends as many.
"""

import asyncio
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import protocol_schema
from aiogpu.errors import ProtocolError
from aiogpu.server import protocol
from aiogpu.server.protocol import VERSION
from aiogpu.server.session import Session
from fuzz.messages import SHAPES, messages

COUNT = int(os.environ.get("AIOGPU_FUZZ", "1000"))


class Door:
    def __init__(self):
        self.sent = []

    def post(self, text, buffers):
        self.sent.append(json.loads(text))
        protocol_schema.check("worker", self.sent[-1])

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


# What is in a value is looked at later, when it is read.
SHALLOW = protocol_schema.validator("page", value=True)


@settings(max_examples=max(COUNT // 4, 1), deadline=None, suppress_health_check=list(HealthCheck))
@given(messages(tuple(sorted(SHAPES))))
def test_what_is_parsed_is_what_the_schema_describes(text):
    try:
        protocol.parse(text)
    except ProtocolError:
        assert not SHALLOW.is_valid(json.loads(text))
    else:
        assert SHALLOW.is_valid(json.loads(text))
