"""The package on a device that computes nothing and writes everything down.

``host`` is where the default device comes from: ``host.recorder`` is the `RecordingRecorder` of the
last one, ``host.limits`` what the next one allows. ``runtime`` is a runtime of its own.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings

from aiogpu import device, evaluate
from aiogpu.device import Opener
from aiogpu.errors import NoAdapterError
from aiogpu.evaluate import Evaluator
from aiogpu.gpu.recording import RecordingRecorder
from aiogpu.graph.node import SHOWN
from aiogpu.limits import Limits
from aiogpu.runtime.runtime import Runtime

# The same examples at every run, and few enough for all of tests/unit to take seconds.
settings.register_profile("unit", max_examples=50, derandomize=True, deadline=None, database=None)
settings.load_profile("unit")


@dataclass
class FakeAdapter:
    vendor: str = "acme"
    architecture: str = "paper"
    description: str = "writes everything down"
    is_fallback: bool = False
    features: frozenset = frozenset({"shader-f16"})
    limits: dict = field(default_factory=lambda: {"maxBufferSize": 1 << 30})


class FakeHost:
    """`aiogpu.gpu.protocol.Host` without a browser."""

    def __init__(self):
        self.limits = Limits(immediate_nbytes=64)
        self.recorders = []
        self.adapter = FakeAdapter()
        self.asked = []

    @property
    def recorder(self):
        return self.recorders[-1]

    def environment(self):
        return {"host": "fake"}

    async def request_adapter(self, power_preference):
        self.asked.append(power_preference)
        if self.adapter is None:
            raise NoAdapterError("request_adapter: requestAdapter gave null")
        return self.adapter, object()

    async def request_device(self, adapter, features, limits):
        self.recorders.append(RecordingRecorder())
        return self.recorder, self.limits, object()

    async def adopt_device(self, gpu_device):
        self.recorders.append(RecordingRecorder())
        return self.recorder, self.limits, self.adapter


@pytest.fixture
def host(monkeypatch):
    """The default device comes from a `FakeHost` for the time of a test."""
    fake = FakeHost()
    opener = Opener(fake)
    monkeypatch.setattr(device, "DEFAULT", opener)
    monkeypatch.setattr(evaluate, "DEFAULT", Evaluator(opener))
    SHOWN.clear()  # what other tests left pending is not this one's to compute
    return fake


@pytest.fixture
def runtime():
    """A runtime on a recording device with the limits that every browser grants."""
    return Runtime(RecordingRecorder(), Limits(), FakeAdapter())
