import pytest

from aiogpu import dtypes
from aiogpu.graph import build, select, table
from aiogpu.graph.node import Node
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import CHEAP_BODY, MAX_BODY, schedule
from aiogpu.schedule.step import Apply, Cast, Const, Iota, Load

LIMITS = Limits()


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape or (4,), dtype)


def op(name, *operands):
    return build.elementwise(name, *operands)


def steps(*roots, limits=LIMITS, fuse=True):
    return list(schedule(roots, limits, fuse=fuse))


def names(step):
    return [i.op.name for i in step.body if isinstance(i, Apply)]


def test_a_chain_is_one_step_of_many_instructions():
    a, b, c = leaf(), leaf(), leaf()
    (step,) = steps(op("tanh", op("add", op("multiply", a, b), c)))
    assert step.inputs == [a, b, c]
    assert names(step) == ["multiply", "add", "tanh"]
    assert [type(i) for i in step.body].count(Load) == 3


def test_without_fusion_every_operation_is_a_step():
    a = leaf()
    made = steps(op("exp", op("add", a, 1)), fuse=False)
    assert [names(step) for step in made] == [["add"], ["exp"]]
    assert made[1].inputs == [made[0].node]


def test_numbers_ranges_casts_and_views_cost_no_step():
    x = leaf(4, dtype=dtypes.int32)
    count = Node(table.IOTA, (), (4,), dtypes.int32, {"start": 2, "step": 3})
    (step,) = steps(
        op("add", op("multiply", op("add", select.cut(x, slice(None, None, -1)), count), 2.5), 1)
    )
    kinds = [type(i) for i in step.body]
    assert kinds.count(Iota) == 1
    assert kinds.count(Const) == 2
    assert kinds.count(Cast) == 1
    (load,) = [i for i in step.body if isinstance(i, Load)]
    assert (load.view.strides, load.view.offset) == ((-1,), 3)
    assert step.inputs == [x]


def test_what_two_consumers_share_is_computed_once():
    x = leaf()
    shared = op("exp", x)
    made = steps(op("add", shared, 1), op("multiply", shared, 2))
    assert made[0].node is shared
    assert len(made) == 3


def test_a_live_array_is_computed_again_only_while_it_is_short():
    x = leaf()
    short = op("add", x, 1)
    short.holders = 1
    assert len(steps(op("exp", short))) == 1
    long = x
    for _ in range(CHEAP_BODY):
        long = op("exp", long)
    long.holders = 1
    assert steps(op("exp", long))[0].node is long
    long.holders = 0
    assert len(steps(op("exp", long))) == 1


def test_another_shape_is_a_step_of_its_own():
    row = op("exp", leaf(4))
    made = steps(op("add", leaf(3, 4), row))
    assert made[0].node is row
    load = made[1].body[-2]
    assert load.view.shape == (3, 4)
    assert load.view.strides == (0, 1)


def test_work_before_a_reduction_runs_in_it():
    x, y = leaf(3, 4), leaf(3, 4)
    total = build.reduction("sum", op("multiply", x, y), 1, keepdims=False)
    made = steps(op("sqrt", total))
    assert [step.node.op.name for step in made] == ["sum", "sqrt"]
    assert (made[0].space, names(made[0])) == ((3, 4), ["multiply"])


def test_products_read_views_where_they_lie():
    x = leaf(4, 4)
    made = steps(build.matmul(build.permute(x, (1, 0)), op("exp", x)))
    assert [step.node.op.name for step in made] == ["exp", "matmul"]
    assert made[1].inputs == [x, made[0].node]
    assert made[1].views[0].strides == (1, 4)


@pytest.mark.parametrize("buffers", [8, 10, 16])
def test_a_step_stays_within_the_storage_buffers(buffers):
    total = leaf()
    for _ in range(40):
        total = op("add", total, leaf())
    made = steps(total, limits=Limits(max_storage_buffers=buffers))
    assert all(len(step.inputs) + 1 <= buffers for step in made)
    assert len(made) <= -(-41 // (buffers - 2)) + 1


def test_a_step_stays_within_its_length():
    x = leaf()
    for _ in range(400):
        x = op("exp", x)
    made = steps(x)
    assert all(len(step.body) <= MAX_BODY + 1 for step in made)
    assert len(made) <= 400 // (MAX_BODY - 2) + 3


def test_a_large_graph_is_planned_in_portions_without_losing_anything():
    x = leaf()
    for _ in range(5000):
        x = op("add", x, 1)
    made = steps(x)
    assert sum(len(names(step)) for step in made) == 5000
    done = set()
    for step in made:
        assert all(node.is_done or id(node) in done for node in step.inputs)
        done.add(id(step.node))
    assert made[-1].node is x


def test_nothing_is_planned_for_what_is_computed():
    assert steps(leaf()) == []
