import itertools

import pytest

from aiogpu import dtypes
from aiogpu.graph import build, matrices
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import MAX_TURNS, TextCache
from aiogpu.limits import Limits
from aiogpu.program import FAULTS
from aiogpu.schedule.fuse import schedule

GPU = Limits(immediate_nbytes=64)
SOFTWARE = Limits(immediate_nbytes=64, is_fallback=True)


def launches(node, limits):
    *_, step = [
        step for step in schedule([node], limits) if step.core.op.family == "linalg"
    ]  # fmt: skip
    return render(step, limits, TextCache()).launches


def square(n, *batch):
    return build.leaf(object(), (*batch, n, n), dtypes.float32)


def named(launch, name):
    """A parameter of a launch, by its name in the text."""
    fields = launch.wgsl.split("struct Params { ")[1].split(" }")[0].split(", ")
    return launch.params[[field.split(":")[0] for field in fields].index(name)]


@pytest.mark.parametrize("n", [1, 32, 33, 500, 2000])
def test_columns_are_factored_once_each_in_order(n):
    for limits in (GPU, SOFTWARE):
        for node in (matrices.cholesky(square(n)), matrices.lu(square(n))[0]):
            done = 0
            for launch in launches(node, limits):
                if "p.first" in launch.wgsl:
                    assert named(launch, "first") == done
                    done = named(launch, "last")
            assert done == n


@pytest.mark.parametrize("n", [100, 512, 2000])
def test_no_invocation_turns_longer_than_lavapipe_lets_it(n):
    for launch in launches(matrices.qr(square(n), complete=False)[0], SOFTWARE):
        if "p.first" in launch.wgsl:
            width = named(launch, "k1") - named(launch, "k0")
            count = named(launch, "last") - named(launch, "first")
            assert count * (n - named(launch, "k0")) * (2 * width + 2) <= max(
                MAX_TURNS, n * (2 * width + 2)
            )
            assert n * (2 * width + 2) <= MAX_TURNS + 2 * n


def test_barriers_are_for_hardware():
    for made in (
        matrices.lu(square(9))[0], matrices.cholesky(square(9)), matrices.svdvals(square(9)),
        matrices.qr(square(9), complete=True)[0],
    ):  # fmt: skip
        assert any("workgroupBarrier" in launch.wgsl for launch in launches(made, GPU))
    for made in (matrices.lu(square(9))[0], matrices.cholesky(square(9))):
        assert not any("Barrier" in launch.wgsl for launch in launches(made, SOFTWARE))


def test_matrices_that_cannot_be_worked_on_are_reported():
    for node, what in (
        (matrices.cholesky(square(40)), "not positive definite"),
        (matrices.lu_solve(*matrices.lu(square(40)), square(40)), "singular"),
    ):
        reports = [launch for launch in launches(node, GPU) if launch.fault_at is not None]
        assert reports
        for launch in reports:
            assert what in launch.fault
            assert launch.bindings[-1] == FAULTS
            assert launch.writes >> (len(launch.bindings) - 1) == 1
    assert all(launch.fault_at is None for launch in launches(matrices.lu(square(40))[0], GPU))


@pytest.mark.parametrize("n", [2, 3, 8, 9, 33])
def test_every_pair_meets_once_in_a_sweep(n):
    rounds = [
        launch
        for launch in launches(matrices.eigh(square(n), vectors=False)[0], GPU)
        if "p.tall" in launch.wgsl
    ]
    rows = n + n % 2
    assert len(rounds) % (rows - 1) == 0
    met = set()
    for launch in rounds[: rows - 1]:
        at = named(launch, "round")
        ring = rows - 1
        pairs = {frozenset((at, ring))} | {
            frozenset(((at + k) % ring, (at + ring - k) % ring)) for k in range(1, rows // 2)
        }
        assert len({index for pair in pairs for index in pair}) == rows
        met |= pairs
    assert len(met) == rows * (rows - 1) // 2
    for before, after in itertools.pairwise(rounds):
        assert before.bindings[-1] == after.bindings[0] != after.bindings[-1]
