"""Graphs as plain data, computed by aiogpu and by the reference of `bounded`; `growth` makes them.

A graph is a list of nodes, each the name of an operation and its arguments; operands are the
numbers of earlier nodes, or a Python number in a list of its own. So a graph is printed, stored and
played again. It runs wherever aiogpu and NumPy run; on CPython the nodes are planned and rendered.
"""

import contextlib
import json
import random

import bounded
import numpy as np
from bounded import UndecidedError, Value

import aiogpu as gpu

# What each kind of node is to aiogpu, and to the reference. `at` gives an earlier node's value.


def host(dtype, shape, seed):
    """Data of a leaf: whole numbers and quarters, much is exact then; a third has more digits."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype("?")
    if kind in "iu":
        most = np.iinfo(dtype).max
        low = 0 if kind == "u" else -min(most, 9)
        wide = rng.integers(0, most, shape, endpoint=True)
        return np.where(rng.uniform(size=shape) < 0.1, wide, rng.integers(low, 10, shape)).astype(
            dtype
        )
    fine = 4 if seed % 3 else 1000
    parts = [rng.integers(-4 * fine, 4 * fine, shape) / fine for _ in range(2)]
    return (parts[0] + 1j * parts[1] if kind == "c" else parts[0]).astype(dtype)


def key_of(plain):
    """A key of indexing from plain data."""
    return tuple(slice(*part) if isinstance(part, list) else part for part in plain)


class Ours:
    """Nodes as arrays of aiogpu."""

    def array(self, dtype, shape, seed):
        return gpu.asarray(host(dtype, tuple(shape), seed))

    def full(self, dtype, shape, value):
        return gpu.full(tuple(shape), value, dtype=dtype)

    def arange(self, dtype, start, stop, step):
        return gpu.arange(start, stop, step, dtype=dtype)

    def elementwise(self, name, *operands):
        return getattr(gpu, name)(*operands)

    def where(self, condition, first, second):
        return gpu.where(condition, first, second)

    def astype(self, x, dtype):
        return x.astype(dtype)

    def reshape(self, x, shape):
        return gpu.reshape(x, tuple(shape))

    def permute_dims(self, x, axes):
        return gpu.permute_dims(x, tuple(axes))

    def flip(self, x, axes):
        return gpu.flip(x, axis=tuple(axes))

    def broadcast_to(self, x, shape):
        return gpu.broadcast_to(x, tuple(shape))

    def index(self, x, key):
        return x[key_of(key)]

    def reduce(self, name, x, axes, keepdims):
        return getattr(gpu, name)(x, axis=tuple(axes), keepdims=keepdims)

    def matmul(self, x, y):
        return x @ y

    def concat(self, axis, *arrays):
        return gpu.concat(arrays, axis=axis)

    def assign(self, x, key, value):
        changed = x.reshape(x.shape)  # another name of the same value
        changed[key_of(key)] = value
        return changed


class Reference:
    """Nodes as values with bounds."""

    def array(self, dtype, shape, seed):
        return self._leaf(host(dtype, tuple(shape), seed), dtype)

    def full(self, dtype, shape, value):
        one = bounded.number(value, getattr(gpu, dtype))
        return one.view(lambda data: np.broadcast_to(data, tuple(shape)))

    def arange(self, dtype, start, stop, step):
        return self._leaf(np.arange(start, stop, step, dtype), dtype)

    def _leaf(self, data, dtype):
        kind = getattr(gpu, dtype)
        return Value(data.astype(bounded.WIDE[kind.kind]), np.zeros(data.shape), kind)

    def elementwise(self, name, *operands):
        return bounded.elementwise(name, *operands)

    def where(self, condition, first, second):
        return bounded.where(condition, first, second)

    def astype(self, x, dtype):
        return bounded.cast(x, getattr(gpu, dtype))

    def reshape(self, x, shape):
        return x.view(lambda data: data.reshape(shape))

    def permute_dims(self, x, axes):
        return x.view(lambda data: data.transpose(axes))

    def flip(self, x, axes):
        return x.view(lambda data: np.flip(data, tuple(axes)))

    def broadcast_to(self, x, shape):
        return x.view(lambda data: np.broadcast_to(data, shape))

    def index(self, x, key):
        return x.view(lambda data: np.asarray(data[key_of(key)]))

    def reduce(self, name, x, axes, keepdims):
        return bounded.reduction(name, x, tuple(axes), keepdims)

    def matmul(self, x, y):
        return bounded.matmul(x, y)

    def concat(self, axis, *arrays):
        dtype = gpu.result_type(*(x.dtype for x in arrays))
        cast = [bounded.cast(x, dtype) for x in arrays]
        data, error = (np.concatenate([x[part] for x in cast], axis) for part in (0, 1))
        return Value(data, error, dtype)

    def assign(self, x, key, value):
        is_value = isinstance(value, Value)
        dtype = value.dtype if is_value else gpu.result_type(value, x.dtype)
        new = bounded.cast(value if is_value else bounded.number(value, dtype), x.dtype)
        data, error = x.data.copy(), x.error.copy()
        data[key_of(key)], error[key_of(key)] = new.data, new.error
        return Value(data, error, x.dtype)


# name of the node: where its operands stand among the arguments
OPERANDS = {
    "array": [], "full": [], "arange": [], "elementwise": slice(1, None), "where": slice(None),
    "astype": [0], "reshape": [0], "permute_dims": [0], "flip": [0], "broadcast_to": [0],
    "index": [0], "reduce": [1], "matmul": [0, 1], "concat": slice(1, None), "assign": [0, 2],
}  # fmt: skip


def places(node):
    """Where among the arguments of a node its operands stand."""
    name, *arguments = node
    return range(len(arguments))[where] if isinstance(where := OPERANDS[name], slice) else where


def operands(node):
    """The numbers of the nodes that a node stands on."""
    return [each for at in places(node) if isinstance(each := node[1 + at], int)]


def apply(maker, node, values):
    """One node by `Ours` or `Reference`."""
    name, *arguments = node
    for at in places(node):
        operand = arguments[at]
        arguments[at] = values[operand] if isinstance(operand, int) else operand[0]
    return getattr(maker, name)(*arguments)


class Graph:
    """A graph, its outputs and what they must give.

    Attributes:
        nodes: The nodes as plain data.
        outputs: The numbers of those that are read.
        held: The numbers of those whose arrays are alive while the outputs are computed.
        early: The numbers of those that are computed by themselves before.
        values: The reference of each; None where nothing is known of it.
    """

    def __init__(self, nodes, outputs, held, early):
        self.nodes = nodes
        self.outputs = outputs
        self.held = held
        self.early = early
        self.values = []
        for node in nodes:
            self.values.append(self._value(node))

    def _value(self, node):
        if any(self.values[operand] is None for operand in operands(node)):
            return None
        try:
            return apply(Reference(), node, self.values)
        except UndecidedError:
            return None

    def varied(self, seed):
        """The same graph over other data and other numbers, which a plan must not remember."""
        rng = random.Random(seed)

        def vary(each):
            if isinstance(each, list) and len(each) == 1 and type(each[0]) in {int, float}:
                return [each[0] + 1]
            return each

        nodes = []
        for name, *arguments in self.nodes:
            if name == "array":
                nodes.append([name, *arguments[:2], rng.randrange(1000)])
            elif name in {"elementwise", "where"}:
                nodes.append([name, *map(vary, arguments)])
            else:
                nodes.append([name, *arguments])
        return Graph(nodes, self.outputs, self.held, self.early)

    def arrays(self):
        """The outputs as arrays that are not computed yet, and those that are held meanwhile."""
        arrays = []
        for node in self.nodes:
            arrays.append(apply(Ours(), node, arrays))
        return [arrays[at] for at in self.outputs], [arrays[at] for at in self.held]

    async def build(self):
        """The same, after what is early was computed."""
        arrays = []
        for number, node in enumerate(self.nodes):
            arrays.append(apply(Ours(), node, arrays))
            if number in self.early:
                await arrays[number].evaluate()
        return [arrays[at] for at in self.outputs], [arrays[at] for at in self.held]

    def shown(self, number):
        """The part of the graph that a node stands on, as a listing and as data to play again."""
        needed = {number}
        for at in range(number, -1, -1):
            if at in needed:
                needed.update(operands(self.nodes[at]))
        lines = [
            f"{at}: {json.dumps(self.nodes[at])} -> "
            + (f"{v.dtype.name} {v.shape}" if (v := self.values[at]) is not None else "unknown")
            + " held" * (at in self.held)
            + " early" * (at in self.early)
            for at in sorted(needed)
        ]
        return "\n".join(lines)


# Comparing


def difference(value, got):
    """What is wrong with an array, or an empty text."""
    if value.kind in {"bool", "int", "uint"}:
        wrong = got != value.data
    else:
        wide = got.astype(value.data.dtype)
        wrong = ~(np.abs(wide - value.data) <= value.error)
    if got.shape != value.shape or got.dtype.name != value.dtype.name:
        return f"{got.dtype} {got.shape}, not {value.dtype.name} {value.shape}"
    places = np.argwhere(wrong)[:3].tolist()
    shown = []
    for place in places:
        at = tuple(place)
        right = f"{value.data[at]!r} +- {value.error[at]:.2g}"
        shown.append(f"at {place}: {got[at]!r}, not {right}")
    return "; ".join(shown)


async def check(graph):
    """Compute a graph fused and one operation a launch; what is wrong, as texts.

    Two floats of one element lie within a bound of the same value, hence within two of each other;
    integers and bools, whose bound is 0, are the same to the bit.
    """
    failures = []
    for is_eager in (False, True):
        outputs, held = await graph.build()
        with gpu.eager() if is_eager else contextlib.nullcontext():
            reads = await gpu.read(*outputs)
        del outputs, held
        for number, got in zip(graph.outputs, reads, strict=True):
            value = graph.values[number]
            if value is not None and (said := difference(value, got)):
                how = "eager" if is_eager else "fused"
                failures.append(f"{how}, node {number}: {said}\n{graph.shown(number)}")
    return failures
