import array
import dataclasses
import enum
import json
import math
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

from aiogpu import dtypes
from aiogpu.errors import ProtocolError, UsageError
from aiogpu.server import values
from aiogpu.server.incoming import Incoming
from aiogpu.server.values import Outgoing


def decode(tree, buffers, *, to_numpy):
    return Incoming(buffers, to_numpy=to_numpy).value(tree)


@dataclasses.dataclass
class Point:
    x: int
    label: str


class Level(enum.IntEnum):
    HIGH = 3


class FakeArray:
    """As much of an array on the GPU as the walk looks at."""

    def __init__(self, shape, dtype):
        self.shape = shape
        self.dtype = SimpleNamespace(name=dtype)


@pytest.fixture
def fake_array(monkeypatch):
    monkeypatch.setattr(values, "Array", FakeArray)
    return FakeArray


@pytest.mark.parametrize(
    ("value", "tree"),
    [
        (None, None),
        (True, True),
        ("ä", "ä"),
        (2**53 - 1, 2**53 - 1),
        (2**53, {"$": "int", "value": "9007199254740992"}),
        (-(2**70), {"$": "int", "value": str(-(2**70))}),
        (Level.HIGH, 3),
        (2.5, 2.5),
        (math.inf, {"$": "number", "value": "Infinity"}),
        (-math.inf, {"$": "number", "value": "-Infinity"}),
        (math.nan, {"$": "number", "value": "NaN"}),
        ((1, [None]), [1, [None]]),
        (range(3), [0, 1, 2]),
        ({"a": {"b": None}, 1: 2}, {"a": {"b": None}, "1": 2}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ({"$": 1}, {"$": "object", "value": {"$": 1}}),
        (Point(1, "p"), {"x": 1, "label": "p"}),
        (np.float32(0.5), 0.5),
        (np.int64(4), 4),
        (np.bool_(1), True),
    ],
)
def test_plain_data_stays_plain(value, tree):
    outgoing = Outgoing(value)
    assert outgoing.tree == tree
    assert type(outgoing.tree) is type(tree)
    assert outgoing.buffers == []


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (b"abc", "uint8", [3]),
        (bytearray(b"abc"), "uint8", [3]),
        (memoryview(b"abcdef")[::2], "uint8", [3]),
        (memoryview(b""), "uint8", [0]),
        (array.array("f", [1, 2]), "float32", [2]),
        (array.array("l", [1]), f"int{8 * array.array('l').itemsize}", [1]),
        (np.arange(6, dtype="float32").reshape(2, 3).T, "float32", [3, 2]),
        (np.zeros((2, 0), "int32"), "int32", [2, 0]),
        (np.array(1.5), "float64", []),
        (np.ones(3, "float16"), "float16", [3]),
        (np.arange(4, dtype="int16")[::-2], "int16", [2]),
        (np.array([[1 - 2j, 3j]], "complex64"), "complex64", [1, 2]),
        (np.zeros((0, 2), "complex64"), "complex64", [0, 2]),
        (np.array([True, False]), "bool", [2]),
        (np.array([2**63], "uint64"), "uint64", [1]),
    ],
)
def test_buffers_keep_dtype_and_shape(value, dtype, shape):
    outgoing = Outgoing({"a": value})
    assert outgoing.tree == {
        "a": {"$": "array", "dtype": dtype, "shape": shape, "buffer": 0, "offset": 0}
    }
    assert bytes(outgoing.buffers[0]) == np.asarray(value).tobytes()


def test_gpu_arrays_are_left_for_one_read(fake_array):
    first, second = fake_array((2, 3), "float32"), fake_array((), "bool")
    outgoing = Outgoing([first, b"x", second])
    assert outgoing.pending == {0: first, 2: second}
    assert [item["shape"] for item in outgoing.tree] == [[2, 3], [1], []]
    assert [item["dtype"] for item in outgoing.tree] == ["float32", "uint8", "bool"]


async def coroutine():
    pass


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "value: object: cannot cross"),
        ({"items": [1, 2, {3}]}, "value.items[2]: set: cannot cross"),
        ({"a b": (object(),)}, "value['a b'][0]: object"),
        ({1: object()}, "value[1]: object"),
        (Point(1, 1j), "value.label: complex"),
        ({(1, 2): 3}, "value: key (1, 2): a key must be a str or an int"),
        ({True: 3}, "value: key True"),
        ({"1": 0, 1: 0}, "value: keys 1 and '1': the same name on the page"),
        (Point, "value: type: cannot cross"),
        (np.array(["a"]), "value: ndarray of format '1w': no typed array fits it"),
        (np.array([1], ">i4"), "value: ndarray of format '>i': no typed array fits it"),
        (np.array([1j]), "value: ndarray of format 'Zd': no typed array fits it"),
        (np.array([object()]), "value: ndarray of format 'O': no typed array fits it"),
        (np.array(["2020"], "datetime64[D]"), "value: ndarray: cannot cross"),
        (np.datetime64("2020"), "value: datetime64: "),
    ],
)
def test_anything_else_is_refused_with_its_path(value, says):
    with pytest.raises(UsageError) as caught:
        Outgoing(value)
    assert says in str(caught.value)


def test_gpu_array_of_a_type_that_the_page_lacks_is_refused(fake_array):
    with pytest.raises(UsageError, match=r"value\.z: an array of bfloat16: no typed array fits"):
        Outgoing({"z": fake_array((1,), "bfloat16")})


def test_gpu_arrays_of_every_dtype_cross(fake_array):
    for dtype in dtypes.ALL:
        (tree,) = Outgoing([fake_array((2,), dtype.name)]).tree
        assert tree == reference(dtype.name, [2])


def test_forgotten_await_is_named():
    forgotten = coroutine()
    with pytest.raises(UsageError, match=r"value\[0\]: coroutine: .*add await"):
        Outgoing([forgotten])
    forgotten.close()


def test_what_contains_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(UsageError, match="or contains itself"):
        Outgoing(value)


def test_what_goes_out_comes_back():
    value = {"a": [1, 2.5, None, {"$": "x"}], "b": 2**80, "c": -math.inf, "__proto__": True}
    outgoing = Outgoing(value)
    tree = json.loads(json.dumps(outgoing.tree, allow_nan=False))
    assert decode(tree, outgoing.buffers, to_numpy=False) == value


def reference(dtype, shape, buffer=0, offset=0):
    return {"$": "array", "dtype": dtype, "shape": shape, "buffer": buffer, "offset": offset}


def test_array_becomes_a_writable_ndarray():
    data = bytearray(np.arange(5, dtype="float32").tobytes())
    result = decode(reference("float32", [2, 2], offset=4), [data], to_numpy=True)
    assert result.tolist() == [[1, 2], [3, 4]]
    assert result.dtype == np.float32
    result[0, 0] = 9
    assert np.frombuffer(data, "float32")[1] == 9


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "bool"])
def test_array_becomes_a_memoryview_without_numpy(dtype):
    expected = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    result = decode(reference(dtype, [2, 3]), [bytearray(expected.tobytes())], to_numpy=False)
    assert isinstance(result, memoryview)
    assert result.shape == (2, 3)
    assert result.tolist() == expected.tolist()


def test_complex_array_crosses_with_and_without_numpy():
    expected = np.array([[1 + 2j, -3j, 0.5]], "complex64")
    tree, data = reference("complex64", [1, 3]), bytearray(expected.tobytes())
    array = decode(tree, [data], to_numpy=True)
    assert (array.dtype, array.tolist()) == (np.complex64, expected.tolist())
    parts = decode(tree, [data], to_numpy=False)
    assert (parts.format, parts.shape) == ("f", (1, 3, 2))
    assert parts.tolist() == expected.view("f4").reshape(1, 3, 2).tolist()
    empty = reference("complex64", [0, 3])
    assert decode(empty, [bytearray()], to_numpy=False).shape == (0,)
    with pytest.raises(ProtocolError, match="the buffer ends before"):
        decode(reference("complex64", [4]), [data], to_numpy=False)


def test_array_of_nothing_is_flat_without_numpy():
    assert decode(reference("float32", [0, 3]), [bytearray()], to_numpy=False).shape == (0,)
    assert decode(reference("float32", [0, 3]), [bytearray()], to_numpy=True).shape == (0, 3)


@pytest.mark.parametrize("to_numpy", [True, False])
@pytest.mark.parametrize(
    "tree",
    [
        {"$": "code", "value": "1"},
        {"$": ["array"]},
        {"$": "number"},
        {"$": "number", "value": "x"},
        {"$": "int", "value": "1.5"},
        {"$": "object", "value": []},
        {"$": "array"},
        reference("object", [1]),
        reference("float32", [2]),
        reference("float32", [-1]),
        reference("float32", ["1"]),
        reference("float32", [1], buffer=1),
        reference("float32", [1], buffer=-1),
        reference("float32", [1], offset=1),
        reference("float32", [1], offset=-4),
        reference("uint8", [1], buffer=True),
    ],
)
def test_tree_that_does_not_hold_together_is_refused(tree, to_numpy):
    with pytest.raises(ProtocolError):
        decode([tree], [bytearray(4)], to_numpy=to_numpy)


def test_canvas_is_no_array():
    with pytest.raises(ProtocolError, match="buffer 0 is a object"):
        decode(reference("uint8", [1]), [object()], to_numpy=False)
