"""Plans are kept by structure: what may differ between two graphs of one plan, and what may not."""

import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu import dtypes, plan
from aiogpu.graph import build, select
from aiogpu.limits import Limits
from aiogpu.plan import MAX_PLANS, Planner, describe, peak_nbytes
from aiogpu.schedule.fuse import PORTION, portions

LIMITS = Limits(immediate_nbytes=64)
ONE = 0x3F800000


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape or (4,), dtype)


def op(name, *operands):
    return build.elementwise(name, *operands)


@pytest.fixture
def planner(monkeypatch):
    """A planner that counts what it renders."""
    made = Planner()
    made.rendered = 0
    render = plan.render

    def counted(*arguments):
        made.rendered += 1
        return render(*arguments)

    monkeypatch.setattr(plan, "render", counted)
    return made


def tasks(planner, *roots, fuse=True, limits=LIMITS):
    return list(planner.plan(roots, limits, fuse=fuse))


def test_a_graph_of_the_same_structure_is_not_planned_again(planner):
    a, b, c = leaf(), leaf(), leaf()
    (first,) = tasks(planner, op("tanh", op("add", op("multiply", a, b), c)))
    assert planner.rendered == 1
    root = op("tanh", op("add", op("multiply", c, a), b))
    (second,) = tasks(planner, root)
    assert planner.rendered == 1
    assert (second.node, second.inputs) == (root, [c, a, b])
    assert second.program is first.program


def test_other_numbers_take_their_places(planner):
    x = leaf()
    for number, word in ((3.0, 0x40400000), (2.0, 0x40000000), (-0.0, 0x80000000), (0.0, 0)):
        (task,) = tasks(planner, op("exp", op("add", op("multiply", x, 1.0), number)))
        assert task.params == ((0, 4, ONE, word, 0),)
    assert planner.rendered == 1
    (task,) = tasks(planner, op("add", leaf(4, dtype=dtypes.complex64), 1 + 2j))
    (again,) = tasks(planner, op("add", leaf(4, dtype=dtypes.complex64), 2 + 1j))
    words = [each.params[0][2:] for each in (task, again)]
    assert words == [(ONE, 0x40000000), (0x40000000, ONE)]
    assert planner.rendered == 2


def test_numbers_of_a_kernel_take_their_places(planner):
    kernel = gpu.kernel(
        source="""
        def k(x: gl.In[gl.f32], a: gl.f32, y: gl.Out[gl.f32], h: gl.f16, i: gl.i32, u: gl.u32,
              b: bool):
            y[i] = x[i] * a + h if b else gl.f32(u)
        """,
        namespace={"gl": gl},
    )
    x = gpu.asarray([1.0, 2.0])
    for given, words in (
        ((2.5, 0.1, -1, 7, True), (0x40200000, 0x3DCCC000, 0xFFFFFFFF, 7, 1)),
        ((0.0, 0.0, 0, 0, False), (0, 0, 0, 0, 0)),
        ((-0.0, 1, 1, 1, True), (0x80000000, ONE, 1, 1, 1)),
        ((1.0, 1.0, 1, 1, True), (ONE, ONE, 1, 1, 1)),
    ):
        (task,) = tasks(planner, kernel(x, *given)._node)
        assert task.params[0][-5:] == words
        assert [len(task.inputs), len(task.program.launches[0].bindings)] == [1, 2]
    assert planner.rendered == 1
    # A number that is also an array elsewhere in the graph.
    two = gpu.full((), 2.0)
    first, *_ = tasks(planner, kernel(two.reshape(1), 2.0, 2.0, 2, 2, True)._node, two._node)
    assert first.node is two._node
    many = [kernel(x, k / 3, k, k, k, k % 2 == 0)._node for k in range(2 * PORTION)]
    made = tasks(planner, *many)
    assert {task.params[0][-2] for task in made} == set(range(2 * PORTION))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (lambda x: op("add", x, x), lambda x: op("add", x, leaf())),
        (lambda x: op("add", x, 1.0), lambda x: op("subtract", x, 1.0)),
        (lambda x: op("add", x, 1.0), lambda x: op("add", leaf(5), 1.0)),
        (lambda x: op("add", x, 1.0), lambda x: op("add", leaf(4, dtype=dtypes.float16), 1.0)),
        (lambda x: op("exp", select.cut(x, slice(1, 3))), lambda x: op("exp", leaf(2))),
        (
            lambda x: op("exp", select.cut(x, slice(1, 3))),
            lambda x: op("exp", select.cut(x, slice(0, 2))),
        ),
        (
            lambda _: build.reduction("sum", leaf(4, 4), 0, keepdims=False),
            lambda _: build.reduction("sum", leaf(4, 4), 1, keepdims=False),
        ),
        (lambda x: op("exp", op("add", x, 1)), lambda x: held(op("add", x, 1))),
    ],
)
def test_what_a_plan_depends_on_is_in_its_key(one, two):
    x = leaf()
    (first,), (second,) = portions([one(x)]), portions([two(x)])
    assert describe(first)[0] != describe(second)[0]


HELD = []


def held(node):
    """An operation on ``node``, which an array shows."""
    node.hold()
    HELD.append(node)
    return op("exp", node)


def test_limits_and_fusion_are_part_of_the_key(planner):
    x = leaf()
    root = op("exp", op("add", x, 1.0))
    assert len(tasks(planner, root)) == 1
    assert len(tasks(planner, root, fuse=False)) == 2
    tasks(planner, root, limits=Limits())
    assert planner.rendered == 4


def test_portions_of_a_large_graph_are_kept_too(planner):
    x = leaf()
    for _ in range(2 * PORTION + 7):
        x = op("add", x, 1.5)
    first = tasks(planner, x)
    rendered = planner.rendered
    assert tasks(planner, x) == first
    assert planner.rendered == rendered


def test_plans_are_not_kept_for_ever(planner, monkeypatch):
    monkeypatch.setattr(plan, "MAX_PLANS", 3)
    for size in range(1, 20):
        tasks(planner, op("exp", leaf(size)))
        assert len(planner._plans) <= 3
    assert MAX_PLANS > 100


def test_what_cannot_be_rendered_fails_and_is_not_kept(planner):
    huge = op("exp", build.broadcast_to(leaf(1), (2**16, 2**16)))
    assert tasks(planner, huge) == []
    assert isinstance(huge.error, gpu.errors.LimitError)
    assert planner._plans == {}


# What a plan needs at once


def peak(planner, *roots):
    return peak_nbytes(tasks(planner, *roots), roots, lambda nbytes: nbytes)


def test_a_fused_expression_needs_its_result(planner):
    assert peak(planner, op("exp", op("add", leaf(100), leaf(100)))) == 400


def test_what_nobody_reads_any_more_is_not_counted_on(planner):
    x = leaf(100, 100)
    for _ in range(5):
        x = build.matmul(x, x)
    assert peak(planner, x) == 2 * 40_000
    x.hold()
    assert peak(planner, build.matmul(x, x), x) == 2 * 40_000
    kept = build.matmul(x, x)
    kept.hold()
    assert peak(planner, build.matmul(kept, kept), kept) == 3 * 40_000
    kept.release()
    x.release()


def test_memory_that_is_taken_over_is_counted_once(planner):
    total = leaf(1000)
    for _ in range(40):
        total = op("add", total, leaf(1000))
    assert peak(planner, total) == 4000


def test_scratch_of_long_reductions_counts(planner):
    total = build.reduction("sum", leaf(1_000_000), None, keepdims=False)
    ((task,),) = (tasks(planner, total),)
    assert peak(planner, total) == 4 + sum(task.program.temporaries) > 4


async def test_a_plan_beyond_the_memory_limit_runs_nothing_and_fails_nothing(host):
    await gpu.open_device(memory_limit=64 << 10)
    x = gpu.asarray([1.0] * 4096)
    y = (x @ x.reshape(4096, 1)).reshape(1) + gpu.exp(x)
    wide = gpu.exp(gpu.broadcast_to(x, (4, 4096))) @ gpu.ones((4096, 2))
    with pytest.raises(gpu.errors.OutOfMemoryError, match=r"memory_limit 65536"):
        await wide.evaluate()
    assert not wide._node.is_done
    assert gpu.counters()["dispatches"] == 0
    await y.evaluate()
    assert gpu.counters()["dispatches"] > 0
