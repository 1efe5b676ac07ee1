import dataclasses

import pytest

import aiogpu as gpu
from aiogpu.errors import UsageError
from aiogpu.server.lengths import settle_lengths
from aiogpu.server.values import Outgoing


@dataclasses.dataclass
class Pair:
    first: object
    second: object


def unknown():
    return gpu.unique_values(gpu.asarray([3, 1, 3]))


async def test_lengths_are_known_wherever_the_arrays_are(host):
    arrays = [unknown() for _ in range(5)]
    value = {"a": [arrays[0], (1, arrays[1])], "b": Pair(arrays[2], {"c": arrays[3]})}
    with pytest.raises(UsageError, match="the size depends on data"):
        Outgoing(value)
    await settle_lengths(value)
    assert [type(each) is gpu.Array for each in arrays] == [True] * 4 + [False]
    outgoing = Outgoing(value)
    assert outgoing.tree["a"][0]["shape"] == [0], "the recording device has zeros everywhere"
    assert list(outgoing.pending.values()) == arrays[:4]
    await settle_lengths(arrays[4])
    assert Outgoing(arrays[4]).tree["shape"] == [0]


async def test_nothing_else_is_touched(host):
    cycle = [gpu.ones(3) + 1]
    cycle.append(cycle)
    await settle_lengths(cycle)
    await settle_lengths({"a": "text", "b": range(3), "c": None})
    assert host.recorders == []
