from aiogpu import dtypes
from aiogpu.graph import build
from aiogpu.schedule.order import order


def leaf():
    return build.leaf(object(), (4,), dtypes.float32)


def test_operands_come_first_and_each_node_once():
    x = leaf()
    a = build.elementwise("exp", x)
    b = build.elementwise("sin", a)
    c = build.elementwise("add", a, b)
    assert order([c, b]) == [x, a, b, c]


def test_what_is_computed_stands_on_nothing():
    a = build.elementwise("exp", leaf())
    b = build.elementwise("sin", a)
    a.resolve(object())
    assert order([b]) == [a, b]
    b.resolve(object())
    assert order([b]) == [b]


def test_a_long_chain_needs_no_recursion():
    x = leaf()
    for _ in range(20_000):
        x = build.elementwise("exp", x)
    assert len(order([x])) == 20_001
