"""A page for the server's tests: a door that remembers, and what a client says through it."""

import asyncio
import json
from types import SimpleNamespace

import pytest

import protocol_schema
from aiogpu.server import protocol, values
from aiogpu.server.session import Session


class FakeArray:
    def __init__(self, shape, dtype, outcome):
        self.shape = shape
        self.dtype = SimpleNamespace(name=dtype)
        self.outcome = outcome


class FakeDoor:
    """A page that remembers what it was sent."""

    def __init__(self):
        self.messages = []
        self.buffers = []
        self.reads = 0
        self.canvases = {}
        self.files = {}
        self.closed = False
        self.interrupts = False
        self._arrived = asyncio.Event()

    def post(self, text, buffers):
        self.messages.append(json.loads(text))
        protocol_schema.check("worker", self.messages[-1])
        self.buffers.append(list(buffers))
        self._arrived.set()

    def close(self):
        self.closed = True

    async def read(self, arrays):
        self.reads += 1
        await asyncio.sleep(0)
        for array in arrays:
            if isinstance(array.outcome, Exception):
                raise array.outcome
        return [array.outcome for array in arrays]

    async def load(self, item):
        return item

    async def fetch(self, url):
        if url not in self.files:
            raise OSError(f"{url}: HTTP 404")
        return self.files[url]

    def watch(self, lost):
        self.lost = lost

    def interrupted(self, serial):
        return self.interrupts

    def attach(self, name, canvas):
        self.canvases[name] = canvas

    async def next(self, kind):
        """The next message of that type; the test fails when none comes."""
        async with asyncio.timeout(30):
            while True:
                for index, message in enumerate(self.messages):
                    if message["type"] == kind:
                        del self.messages[index]
                        return message
                self._arrived.clear()
                await self._arrived.wait()


class Page:
    """What the client does, in few words."""

    def __init__(self, door, session):
        self.door = door
        self.session = session
        self.last_id = 0

    def send(self, message, *buffers):
        protocol_schema.check("page", message)
        self.session.receive(json.dumps(message), buffers)

    def hello(
        self, *transferred, version=protocol.VERSION, modules=None, canvases=None, expose="all"
    ):
        message = {"type": "hello", "version": version}
        self.send(
            message | {"modules": modules or {}, "canvases": canvases or {}, "expose": expose},
            *transferred,
        )

    def run(self, source, **own):
        self.last_id += 1
        message = {"type": "run", "id": self.last_id, "source": source, "filename": "run"}
        self.send(message | {"locals": own, "result": "value"})
        return self.last_id

    async def value(self, source, **own):
        id_ = self.run(source, **own)
        message = await self.door.next("done")
        assert message["id"] == id_
        return message["value"]

    async def error(self, source):
        id_ = self.run(source)
        message = await self.door.next("error")
        assert message["id"] == id_
        return message["error"]


@pytest.fixture
async def new_page():
    door = FakeDoor()
    return Page(door, Session(door, {"__name__": "__main__"}, asyncio.get_running_loop()))


@pytest.fixture
async def page(new_page):
    new_page.hello()
    await new_page.door.next("ready")
    return new_page


@pytest.fixture
def gpu_array(monkeypatch):
    monkeypatch.setattr(values, "Array", FakeArray)
    return FakeArray
