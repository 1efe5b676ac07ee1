"""Random graphs from seeds: about fifty nodes each, of every dtype and every kind of node.

A node is added only if aiogpu takes it and the reference knows its value (`bounded`), so that most
outputs can be compared. The same seed gives the same graph wherever NumPy is the same.
"""

import contextlib
import math
import random

import bounded
import graphs
import numpy as np
from bounded import UndecidedError

import aiogpu as gpu

DTYPES = ("float32", "float32", "float32", "float16", "int32", "int32", "uint32", "int8", "uint8",
          "int16", "uint16", "bool", "complex64")  # fmt: skip
NUMBERS = (0, 1, 2, 3, -1, -2, 5, 0.5, -0.25, 2.5, 0.1, True)
SIZES = (1, 1, 2, 3, 4, 5, 7, 8)
LARGEST = 6000  # elements of a node
NNODES = 50
REDUCTIONS = (*("sum", "mean", "max", "min") * 2, "prod", "any", "all")
TRIES = 12
RARE = {*bounded.COMPARISONS, *bounded.LOGICAL, "isnan", "isfinite"}  # they make bools of all
UNARY = [name for name in bounded.UNARY for _ in range(1 if name in RARE else 3)]
BINARY = [name for name in bounded.BINARY for _ in range(1 if name in RARE else 3)]


class Grower:
    """Grows a graph node by node, each of which must have a known value."""

    def __init__(self, seed, nnodes=NNODES):
        self.rng = random.Random(seed)
        self.nodes = []
        self.values = []
        self.arrays = []
        self.unread = {}  # numbers of nodes, in order
        moves = [
            (self.leaf, 2), (self.unary, 12), (self.binary, 24), (self.choice, 4), (self.cast, 6),
            (self.view, 12), (self.reduction, 5), (self.product, 2), (self.joined, 2),
            (self.assignment, 4),
        ]  # fmt: skip
        self.leaf()
        while len(self.nodes) < nnodes:
            (move,) = self.rng.choices([m for m, _ in moves], [w for _, w in moves])
            for _ in range(TRIES):
                with contextlib.suppress(
                    UndecidedError, gpu.errors.DTypeError, gpu.errors.UsageError
                ):
                    move()
                    break

    def graph(self):
        """The graph; all that nobody reads is an output, and a few others."""
        rng = self.rng
        count = range(len(self.nodes))
        outputs = sorted({*self.unread, *rng.sample(count, 5)})
        held = sorted(rng.sample(count, rng.choice((0, 0, 5, 20))))
        early = rng.sample(count, rng.choice((0, 0, 1, 2)))
        return graphs.Graph(self.nodes, outputs, held, early)

    def add(self, *node):
        """Add a node if aiogpu takes it and its value is known; its number."""
        array = graphs.apply(graphs.Ours(), node, self.arrays)
        value = graphs.apply(graphs.Reference(), node, self.values)
        assert (array.shape, array.dtype) == (value.shape, value.dtype), (node, array, value[2])
        if value.data.size > LARGEST:
            raise UndecidedError
        for operand in graphs.operands(node):
            self.unread.pop(operand, None)
        at = len(self.nodes)
        self.unread[at] = None
        self.nodes.append(list(node))
        self.values.append(value)
        self.arrays.append(array)
        return at

    def pick(self, suits=lambda _: True):
        """The number of an earlier node: often one that nobody reads yet, so that chains grow."""
        rng = self.rng
        count = len(self.nodes)
        for _ in range(TRIES):
            roll = rng.random()
            if roll < 0.6 and self.unread:
                at = rng.choice(list(self.unread)[-4:])
            else:
                at = rng.randrange(max(0, count - 12) if roll < 0.8 else 0, count)
            if suits(self.values[at]):
                return at
        raise UndecidedError

    # Moves

    def leaf(self):
        rng = self.rng
        roll = rng.random()
        dtype = rng.choice(DTYPES)
        if roll < 0.04:
            shape = rng.choice([(0,), (2, 0), (0, 3), (2, 0, 3)])
        elif roll < 0.14:
            shape = rng.choice([(60, 40), (3, 700), (700, 3), (2000,), (5, 31, 17)])
        else:
            shape = tuple(rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))
        if rng.random() < 0.12:
            value = True if dtype == "bool" else rng.choice((0, 1, 3, 100))
            return self.add("full", dtype, list(shape), value)
        if rng.random() < 0.12 and dtype not in {"bool", "complex64"}:
            start, step = rng.randint(0, 4), rng.randint(1, 3)
            return self.add("arange", dtype, start, start + step * rng.randint(1, 30), step)
        return self.add("array", dtype, list(shape), rng.randrange(1000))

    def unary(self):
        at = self.pick(lambda v: v.kind != "bool" or self.rng.random() < 0.1)
        self.add("elementwise", self.rng.choice(UNARY), at)

    def binary(self):
        rng = self.rng
        first = self.pick()
        roll = rng.random()
        if roll < 0.25:
            second = [rng.choice(NUMBERS)]
        elif roll < 0.35:
            second = self.like(first)
        else:
            second = self.pick(lambda v: fits(v, self.values[first]))
        pair = [first, second] if rng.random() < 0.6 else [second, first]
        self.add("elementwise", rng.choice(BINARY), *pair)

    def like(self, number):
        """A new array that broadcasts with a node and promotes with it."""
        value = self.values[number]
        shape = [size if self.rng.random() < 0.6 else 1 for size in value.shape]
        shape = (
            shape[self.rng.randrange(len(shape)) :] if shape and self.rng.random() < 0.4 else shape
        )
        return self.add("array", value.dtype.name, shape, self.rng.randrange(1000))

    def choice(self):
        rng = self.rng
        first = self.pick()
        second = self.pick(lambda v: fits(v, self.values[first]))
        both = np.broadcast_shapes(self.values[first].shape, self.values[second].shape)
        condition = self.pick(lambda v: can_broadcast(v.shape, both))
        self.add("where", condition, *rng.sample([first, rng.choice([second, [2]])], 2))

    def cast(self):
        self.add("astype", self.pick(), self.rng.choice(DTYPES))

    def view(self):
        rng = self.rng
        at = self.pick()
        shape = self.values[at].shape
        rank = len(shape)
        roll = rng.random()
        if roll < 0.2:
            self.add("reshape", at, factors(rng, math.prod(shape)))
        elif roll < 0.4:
            self.add("permute_dims", at, rng.sample(range(rank), rank))
        elif roll < 0.5:
            self.add("flip", at, rng.sample(range(rank), rng.randint(0, rank)))
        elif roll < 0.65:
            grown = [rng.choice((2, 3, 5)) if size == 1 else size for size in shape]
            self.add("broadcast_to", at, [rng.choice((1, 2, 4))] * rng.randint(0, 1) + grown)
        else:
            self.add("index", at, self.key(shape, can_drop=True))

    def key(self, shape, can_drop):
        rng = self.rng
        key = []
        for size in shape:
            roll = rng.random()
            if can_drop and roll < 0.15 and size:
                key.append(rng.randrange(-size, size))
            elif roll < 0.5:
                key.append([None, None, None])
            else:
                start = rng.choice((None, *range(-size, size + 1)))
                key.append([start, rng.choice((None, size, -1)), rng.choice((1, 1, 2, 3))])
                if rng.random() < 0.4:
                    key[-1] = [None, None, rng.choice((-1, -1, -2, 2))]
        if can_drop and rng.random() < 0.2:
            key.insert(rng.randint(0, len(key)), None)
        return key

    def reduction(self):
        rng = self.rng
        at = self.pick()
        rank = len(self.values[at].shape)
        axes = rng.sample(range(rank), rng.randint(min(1, rank), rank))
        self.add("reduce", rng.choice(REDUCTIONS), at, sorted(axes), rng.random() < 0.5)

    def product(self):
        rng = self.rng
        first = self.pick(lambda v: v.shape and v.data.size and v.kind != "bool")
        value = self.values[first]
        inner = value.shape[-1]
        if rng.random() < 0.5:
            second = self.pick(lambda v: v.shape and inner == v.shape[max(0, len(v.shape) - 2)])
            if not can_multiply(value.shape, self.values[second].shape):
                raise UndecidedError
        else:
            shape = [inner, rng.choice((1, 3, 4, 17))]
            second = self.add("array", value.dtype.name, shape, rng.randrange(1000))
        self.add("matmul", first, second)

    def joined(self):
        first = self.pick(lambda v: v.shape)
        shape = self.values[first].shape
        axis = self.rng.randrange(len(shape))
        rest = shape[:axis], shape[axis + 1 :]
        others = [
            self.pick(lambda v: v.shape and (v.shape[:axis], v.shape[axis + 1 :]) == rest)
            for _ in range(self.rng.randint(1, 2))
        ]
        self.add("concat", axis, first, *others)

    def assignment(self):
        rng = self.rng
        at = self.pick(lambda v: v.shape)
        key = self.key(self.values[at].shape, can_drop=True)
        part = self.values[at].data[graphs.key_of(key)].shape
        roll = rng.random()
        if roll < 0.3:
            value = [rng.choice((0, 1, 2))]
        elif roll < 0.6:
            value = self.add("array", self.values[at].dtype.name, list(part), rng.randrange(1000))
        else:
            value = self.pick(lambda v: can_broadcast(v.shape, part))
        self.add("assign", at, key, value)


def fits(one, other):
    try:
        shape = np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        return False
    return math.prod(shape) <= LARGEST


def can_broadcast(shape, wanted):
    try:
        return np.broadcast_shapes(shape, wanted) == tuple(wanted)
    except ValueError:
        return False


def can_multiply(one, two):
    try:
        size = np.matmul(np.empty(one, "?"), np.empty(two, "?")).size
    except ValueError:
        return False
    return size * one[-1] < 10 * LARGEST


def factors(rng, size):
    """A shape of so many elements."""
    if not size:
        return rng.choice([[0], [0, 2], [3, 0]])
    shape = []
    while size > 1 and len(shape) < 5:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        shape.append(rng.choice(divisors[:6] + divisors[-1:]))
        size //= shape[-1]
    shape += [size] * (size > 1)
    if rng.random() < 0.3:
        shape.insert(rng.randint(0, len(shape)), 1)
    return shape


def grown(seed, nnodes=NNODES):
    """The random graph of a seed."""
    return Grower(seed, nnodes).graph()


async def check_seeds(seeds, nnodes=NNODES):
    """Check the graphs of some seeds, and each once more with other numbers; what is wrong."""
    failures = []
    nchecked = 0
    for seed in seeds:
        graph = grown(seed, nnodes)
        for each in (graph, graph.varied(seed)):
            said = await graphs.check(each)
            failures += [f"seed {seed}: {text}" for text in said]
            nchecked += sum(each.values[at] is not None for at in each.outputs)
    return nchecked, failures
