import sys
import weakref

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.graph import build, node, table
from aiogpu.graph.node import Node


def leaf(*shape):
    return build.leaf(object(), shape, dtypes.float32)


def test_a_node_knows_its_size_and_depth():
    x = leaf(2, 3)
    y = build.elementwise("add", build.elementwise("exp", x), x)
    assert (y.nelems, y.nbytes) == (6, 24)
    assert (x.depth, y.depth) == (0, 2)
    assert (x.is_done, y.is_done) == (True, False)


def test_a_value_lets_go_of_its_sources():
    x = leaf(4)
    inner = build.elementwise("exp", x)
    outer = build.elementwise("exp", inner)
    gone = weakref.ref(inner)
    del inner
    assert gone() is not None
    outer.resolve(object())
    assert gone() is None
    assert (outer.inputs, outer.depth) == ((), 0)


def test_a_failure_keeps_the_first_error_and_lets_go():
    first, second = ValueError("one"), ValueError("two")
    x = build.elementwise("exp", leaf(4))
    x.fail(first)
    x.fail(second)
    assert (x.error, x.value, x.inputs) == (first, None, ())
    assert x.is_done


def test_a_long_chain_is_freed_without_recursion(monkeypatch):
    deepest = 0
    plain = Node.__del__

    def measured(self):
        nonlocal deepest
        depth, frame = 0, sys._getframe()
        while frame is not None:
            depth, frame = depth + 1, frame.f_back
        deepest = max(deepest, depth)
        plain(self)

    monkeypatch.setattr(Node, "__del__", measured)
    x = leaf(4)
    base, frame = 0, sys._getframe()
    while frame is not None:
        base, frame = base + 1, frame.f_back
    for _ in range(5000):
        x = build.elementwise("exp", x)
    del x
    assert deepest <= base + 8
    y = build.elementwise("exp", leaf(4))
    for _ in range(5000):
        y = build.elementwise("exp", y)
    y.resolve(object())
    assert deepest <= base + 8
    assert not node._orphans


def test_consumers_are_counted():
    x = leaf(4)
    y = build.elementwise("multiply", x, x)
    z = build.elementwise("exp", x)
    assert x.consumers == 3
    del y
    assert x.consumers == 1
    z.resolve(object())
    assert x.consumers == 0


def test_the_origin_is_the_users_line():
    x = gpu.ones(3) + 1
    made = x._node.origin
    assert made.code.co_name == "test_the_origin_is_the_users_line"
    assert made.line == sys._getframe().f_lineno - 3
    assert str(made).startswith(f"{__file__}:")


def test_numbers_and_ranges_are_nodes_without_sources():
    x = build.constant(3, dtypes.int32, (2,))
    assert (x.op, x.inputs, x.attrs) == (table.CONSTANT, (), {"value": 3})
    assert x.depth == 0  # no launch computes a number by itself
