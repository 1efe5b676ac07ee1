import itertools

import pytest

from aiogpu import dtypes, shapes
from aiogpu.graph import blocks, build, select, table
from aiogpu.graph.node import Node
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import PORTION, portions, schedule
from aiogpu.schedule.groups import CHEAP, MAX_MEMBERS
from aiogpu.schedule.step import OUT, Apply, Cast, Const, Iota, Load, Result

LIMITS = Limits()


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape or (4,), dtype)


def op(name, *operands):
    return build.elementwise(name, *operands)


def steps(*roots, limits=LIMITS, fuse=True):
    return list(schedule(roots, limits, fuse=fuse))


def names(code):
    return [i.op.name for i in code.instrs if isinstance(i, Apply)]


def kinds(code):
    return [type(i) for i in code.instrs]


def test_a_chain_is_one_step_of_many_instructions():
    a, b, c = leaf(), leaf(), leaf()
    (step,) = steps(op("tanh", op("add", op("multiply", a, b), c)))
    assert step.inputs == [a, b, c]
    assert names(step.body) == ["multiply", "add", "tanh"]
    assert kinds(step.body).count(Load) == 3


def test_without_fusion_every_operation_is_a_step():
    a = leaf()
    total = build.reduction("sum", op("exp", op("add", a, 1)), None, keepdims=False)
    made = steps(op("sqrt", total), fuse=False)
    assert [step.node.op.name for step in made] == ["add", "exp", "sum", "sqrt"]
    assert all(step.finish is None for step in made)
    assert made[1].inputs == [made[0].node]


def test_numbers_ranges_casts_and_views_cost_no_step():
    x = leaf(4, dtype=dtypes.int32)
    count = Node(table.IOTA, (), (4,), dtypes.int32, {"start": 2, "step": 3})
    (step,) = steps(
        op("add", op("multiply", op("add", select.cut(x, slice(None, None, -1)), count), 2.5), 1)
    )
    found = kinds(step.body)
    assert (found.count(Iota), found.count(Const), found.count(Cast)) == (1, 2, 1)
    (load,) = [i for i in step.body.instrs if isinstance(i, Load)]
    assert (load.view.strides, load.view.offset) == ((-1,), 3)
    assert step.inputs == [x]


def test_a_range_is_looked_at_through_views():
    count = Node(table.IOTA, (), (6,), dtypes.int32, {"start": 0, "step": 1})
    grid = build.permute(build.reshape(count, (2, 3)), (1, 0))
    (step,) = steps(op("add", grid, leaf(3, 2, dtype=dtypes.int32)))
    (iota,) = [i for i in step.body.instrs if isinstance(i, Iota)]
    assert step.body.places[iota.place - 1].view.strides == (1, 3)


def test_what_two_launches_share_is_computed_once():
    x, y = leaf(), leaf()
    shared = op("exp", op("add", x, y))
    made = steps(op("add", shared, 1), op("multiply", shared, 2))
    assert made[0].node is shared
    assert len(made) == 3


def test_what_one_launch_uses_twice_is_computed_once_in_it():
    x = leaf()
    shared = op("exp", x)
    (step,) = steps(op("add", op("multiply", shared, shared), op("sin", shared)))
    assert sorted(names(step.body)) == ["add", "exp", "multiply", "sin"]


def test_a_cast_is_repeated_rather_than_stored():
    x = leaf(4, dtype=dtypes.int32)
    wide = build.cast(x, dtypes.float32)
    made = steps(op("exp", wide), op("sin", wide))
    assert len(made) == 2
    assert all(kinds(step.body).count(Cast) == 1 for step in made)


def test_a_live_array_is_computed_again_only_while_it_is_short():
    x = leaf()
    short = op("add", x, 1)
    short.hold()
    assert len(steps(op("exp", short))) == 1
    long = x
    for _ in range(CHEAP + 1):
        long = op("exp", long)
    long.hold()
    assert steps(op("exp", long))[0].node is long
    long.release()
    assert len(steps(op("exp", long))) == 1
    short.release()


def test_a_broadcast_value_is_repeated_only_while_it_is_short():
    row = op("exp", leaf(4))
    (step,) = steps(op("add", leaf(3, 4), row))
    assert step.body.places[0].view.strides == (0, 1)
    for _ in range(CHEAP):
        row = op("exp", row)
    made = steps(op("add", leaf(3, 4), row))
    assert made[0].node is row
    load = made[1].body.instrs[1]
    assert (load.view.shape, load.view.strides) == ((3, 4), (0, 1))


def test_elementwise_work_is_looked_at_through_views():
    x, y = leaf(3, 4), leaf(3, 4)
    (step,) = steps(op("add", build.permute(op("multiply", x, y), (1, 0)), leaf(4, 3)))
    assert names(step.body) == ["multiply", "add"]
    assert step.body.places[0].view.strides == (1, 4)
    assert [i.place for i in step.body.instrs if isinstance(i, Load)] == [1, 1, 0]


def test_a_reshape_that_strides_cannot_say_costs_nothing_on_the_way():
    x = build.reshape(build.permute(leaf(3, 4), (1, 0)), (2, 6))
    (step,) = steps(op("exp", x))
    assert names(step.body) == ["copy", "exp"]


def test_work_before_and_after_a_reduction_runs_in_it():
    x, y = leaf(3, 4), leaf(3, 4)
    total = build.reduction("sum", op("multiply", x, y), 1, keepdims=False)
    bias = leaf(3)
    (step,) = steps(op("sqrt", op("add", total, bias)))
    assert (step.core, step.body.space, names(step.body)) == (total, (3, 4), ["multiply"])
    assert names(step.finish) == ["add", "sqrt"]
    assert kinds(step.finish)[0] is Result
    assert step.finish.space == (3,)
    assert step.inputs == [x, y, bias]


def test_a_kept_axis_does_not_part_a_reduction_from_what_follows():
    total = build.reduction("sum", leaf(3, 4), 1, keepdims=True)
    (step,) = steps(op("sqrt", build.reshape(total, (3,))))
    assert step.core is total


def test_a_reduction_that_is_spread_over_a_larger_shape_stays_apart():
    x = leaf(3, 4)
    total = build.reduction("sum", x, 1, keepdims=True)
    made = steps(op("subtract", x, total))
    assert made[0].node is total
    assert len(made) == 2


def test_a_reduction_that_an_array_shows_stays_apart():
    total = build.reduction("sum", leaf(3, 4), 1, keepdims=False)
    total.hold()
    assert len(steps(op("sqrt", total))) == 2
    total.release()


def test_two_reductions_never_share_a_step():
    x = leaf(3, 4)
    one, two = (build.reduction(name, x, 1, keepdims=False) for name in ("max", "min"))
    made = steps(op("subtract", one, two))
    assert len(made) == 2
    assert {made[-1].core.op.name} < {"max", "min"}


def test_activation_and_bias_follow_a_product():
    x, w, b = leaf(8, 4), leaf(4, 2), leaf(2)
    product = build.matmul(x, w)
    (step,) = steps(op("gelu", op("add", product, b)))
    assert step.core is product
    assert (step.slots, step.inputs) == ((0, 1), [x, w, b])
    assert names(step.finish) == ["add", "gelu"]


def test_a_convolution_takes_bias_and_residual():
    image, filters = leaf(1, 2, 5, 5), leaf(3, 2, 3, 3)
    out = blocks.conv2d("conv2d", image, filters, image.shape, filters.shape, blocks.Conv())
    bias = build.reshape(leaf(3), (3, 1, 1))
    (step,) = steps(op("relu", op("add", op("add", out, bias), leaf(1, 3, 3, 3))))
    assert step.core is out


def test_scale_and_shift_follow_a_normalisation():
    row = blocks.along("standardize", leaf(5, 8), -1, epsilon=1e-5)
    (step,) = steps(op("add", op("multiply", row, leaf(8)), leaf(8)))
    assert step.core is row
    assert names(step.finish) == ["multiply", "add"]


def test_products_read_views_where_they_lie():
    x = leaf(4, 4)
    made = steps(build.matmul(build.permute(x, (1, 0)), op("exp", x)))
    assert [step.node.op.name for step in made] == ["exp", "matmul"]
    assert made[1].inputs == [x, made[0].node]
    assert made[1].views[0].strides == (1, 4)


@pytest.mark.parametrize("buffers", [8, 10, 16])
@pytest.mark.parametrize("count", [20, 41])
def test_a_long_sum_takes_over_memory_to_stay_within_the_storage_buffers(buffers, count):
    leaves = [leaf() for _ in range(count)]
    total = leaves[0]
    for each in leaves[1:]:
        total = op("add", total, each)
    made = steps(total, limits=Limits(max_storage_buffers=buffers))
    assert all(len(step.inputs) + 1 <= buffers for step in made)
    # The first launch reads all but one binding; each that follows adds as many to its own output.
    assert len(made) == -(-count // (buffers - 1))
    for before, step in itertools.pairwise(made):
        assert step.base is before.node
        assert [i.slot for i in step.body.instrs if isinstance(i, Load)].count(OUT) == 1
    assert sum(len(step.inputs) for step in made) == count


def test_memory_is_not_taken_over_from_what_others_read():
    leaves = [leaf() for _ in range(20)]
    total, seen = leaves[0], []
    for each in leaves[1:]:
        total = op("add", total, each)
        seen.append(total)
    for node in seen[:-1]:
        node.hold()
    assert all(step.base is None for step in steps(total))
    for node in seen[:-1]:
        node.release()


def test_a_step_stays_within_its_length():
    x = leaf()
    for _ in range(200):
        x = op("exp", x)
    made = steps(x)
    assert all(len(step.body.instrs) <= MAX_MEMBERS + 2 for step in made)
    assert len(made) <= 200 // MAX_MEMBERS + 1


def test_a_large_graph_is_planned_in_portions_without_losing_anything():
    x = leaf()
    for _ in range(5000):
        x = op("add", x, 1)
    assert all(len(p.nodes) <= PORTION + 3 for p in portions([x]))
    made = steps(x)
    assert sum(len(names(step.body)) for step in made) == 5000
    done = set()
    for step in made:
        assert all(node.is_done or id(node) in done for node in step.inputs)
        done.add(id(step.node))
    assert made[-1].node is x


def test_ranges_and_views_take_part_in_every_portion():
    count = Node(table.IOTA, (), (4,), dtypes.float32, {"start": 0, "step": 1})
    flipped = select.cut(leaf(), slice(None, None, -1))
    x = leaf()
    for _ in range(400):
        x = op("add", op("multiply", x, count), flipped)
    made = steps(x)
    assert not {step.node.op.family for step in made} & {"iota", "view"}
    assert sum(len(names(step.body)) for step in made) == 800


def test_what_a_view_shows_to_a_later_portion_is_computed_before():
    work = op("exp", leaf(6))
    shown = select.cut(work, slice(None, None, -1))
    x = op("multiply", leaf(6), shown)
    for _ in range(PORTION):
        x = op("add", op("tanh", x), 1)
    made = steps(op("subtract", x, shown))
    assert work in made[-1].inputs
    assert work in [step.node for step in made[:-1]]


def test_a_view_that_must_lie_in_memory_shares_it_where_it_can():
    x = leaf(2, 3)
    (step,) = steps(build.reshape(x, (3, 2)))
    assert kinds(step.body) == [Load]
    assert step.inputs == [x]
    product = build.matmul(leaf(2, 3), leaf(3, 4))
    made = steps(build.reshape(product, (8,)))
    assert [step.node.op.name for step in made] == ["matmul", "view"]


def test_a_part_that_is_replaced_may_come_out_of_a_product():
    base = leaf(4, 6)
    product = build.matmul(leaf(4, 3), leaf(3, 2))
    changed = select.assign(base, (slice(None), slice(2, 4)), op("add", product, 1))
    (step,) = steps(changed)
    assert (step.core, step.base) == (product, base)
    assert (step.target.offset, step.target.strides) == (2, (6, 1))
    assert names(step.finish) == ["add"]
    assert step.target.shape == shapes.broadcast([product.shape], "test")


def test_nothing_is_planned_for_what_is_computed():
    assert steps(leaf()) == []
