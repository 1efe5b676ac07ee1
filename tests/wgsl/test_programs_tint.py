"""Every kind of shader that we write, through Tint: a browser would refuse what this refuses.

No GPU and no browser: steps are rendered on CPython, and Node validates the texts.
"""

import itertools
import json
import random
import subprocess
from collections import Counter
from pathlib import Path

import growth
import pytest

from aiogpu import dtypes
from aiogpu.errors import DTypeError
from aiogpu.graph import blocks, build, matrices, orders, select, table
from aiogpu.graph.node import Node
from aiogpu.graph.transforms import transform
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

ROOT = Path(__file__).resolve().parents[2]
LIMITS = (
    Limits(immediate_nbytes=64),
    Limits(immediate_nbytes=0),
    Limits(immediate_nbytes=64, is_fallback=True),
    Limits(immediate_nbytes=0, is_fallback=True, has_f16=True),
    Limits(immediate_nbytes=64, has_f16=True),
)
ALL_LIMITS = range(len(LIMITS))
SHAPE = (4, 6)
# Random numbers take words of a key and a position: tests/wgsl/test_random.py has their shaders.
ELEMENTWISE = [
    op.name
    for op in table.TABLE.values()
    if op.family == "elementwise" and not op.name.startswith("random_")
]
REDUCTIONS = [op.name for op in table.TABLE.values() if op.family == "reduce"]


def leaf(dtype, shape=SHAPE):
    """Data that lies in a buffer."""
    return build.leaf(object(), shape, dtype)


def laid(dtype, layout):
    """An operand of shape `SHAPE` that the body reads by each kind of access."""
    if layout == "direct":
        return leaf(dtype)
    if layout == "offset":
        return select.cut(leaf(dtype, (6, 6)), slice(2, None))
    if layout == "strided":
        return select.cut(leaf(dtype, (4, 13)), (slice(None, None, -1), slice(1, None, 2)))
    if layout == "single":
        return build.broadcast_to(leaf(dtype, ()), SHAPE)
    return build.broadcast_to(leaf(dtype, (6,)), SHAPE)


LAYOUTS = ("direct", "offset", "strided", "single", "row")


class Shaders:
    """Texts by what they depend on, and the labels under which failures are shown."""

    def __init__(self):
        self.labels = {}
        self.spaces = set()
        self._caches = [TextCache() for _ in LIMITS]

    def add(self, label, *nodes, limits=ALL_LIMITS):
        for at in limits:
            for step in schedule(nodes, LIMITS[at]):
                for launch in render(step, LIMITS[at], self._caches[at]).launches:
                    self.labels.setdefault(launch.wgsl, f"{label} [{launch.label} {at}]")
                    self.spaces.add(launch.param_space)

    def validate(self):
        lines = [json.dumps({"label": label, "wgsl": text}) for text, label in self.labels.items()]
        run = subprocess.run(
            ["node", "tools/wgsl/validate.mjs"],
            check=False,
            cwd=ROOT,
            input="\n".join(lines),
            capture_output=True,
            text=True,
        )
        failed = [json.loads(line) for line in run.stdout.splitlines()]
        shown = "\n".join(f"{each['label']}: {each['messages']}" for each in failed[:10])
        assert run.returncode == 0, f"{len(failed)} shaders are invalid\n{shown}\n{run.stderr}"
        assert f"{len(lines)} shaders, 0 failures" in run.stderr


@pytest.fixture
def shaders():
    return Shaders()


def test_validator_refuses_what_is_wrong(shaders):
    shaders.labels = {"@compute @workgroup_size(1) fn main() { let x: f32 = 1u; }": "wrong"}
    with pytest.raises(AssertionError, match="1 shaders are invalid"):
        shaders.validate()


def test_every_row_of_the_table_over_dtypes_and_layouts(shaders):
    taken = set()
    for name in ELEMENTWISE:
        arity = table.TABLE[name].arity
        if name == "astype":
            continue
        for dtype in dtypes.ALL:
            for layout in LAYOUTS:
                operands = [laid(dtype, layout)] + [laid(dtype, "direct")] * (arity - 1)
                if name == "where":
                    operands = [leaf(dtypes.bool_), laid(dtype, layout), laid(dtype, "row")]
                try:
                    node = build.elementwise(name, *operands)
                except DTypeError:
                    continue
                taken.add(name)
                shaders.add(f"{name} {dtype.name} {layout}", node, limits=(0, 3))
    kinds = {dtype.kind[0] for dtype in dtypes.ALL}
    assert taken == {name for name in ELEMENTWISE if kinds & set(table.TABLE[name].kinds)} - {
        "astype"
    }
    assert shaders.spaces == {"immediate", "uniform"}
    shaders.validate()


def test_casts_copies_numbers_and_ranges(shaders):
    for given, wanted in itertools.product(dtypes.ALL, dtypes.ALL):
        if given.kind == "complex" and wanted.kind not in {"complex", "bool"}:
            continue  # refused: it would lose the imaginary part
        for layout in LAYOUTS:
            node = build.cast(laid(given, layout), wanted)
            shaders.add(f"{given.name} to {wanted.name} {layout}", build.copy(node), limits=(0, 3))
    for dtype in dtypes.ALL:
        number = True if dtype.kind == "bool" else 1
        shaders.add(f"full {dtype.name}", build.copy(build.constant(number, dtype, SHAPE)))
        if dtype.kind not in {"bool", "complex"}:
            count = Node(table.IOTA, (), (40,), dtype, {"start": 1, "step": 2})
            shaders.add(f"arange {dtype.name}", count)
            shaders.add(f"arange view {dtype.name}", build.copy(select.cut(count, slice(3, 9))))
        for layout in LAYOUTS[1:]:
            shaders.add(f"view {dtype.name} {layout}", laid(dtype, layout), limits=(0, 3))
    shaders.validate()


def test_reductions_over_dtypes_axes_and_passes(shaders):
    for name in REDUCTIONS:
        for dtype in dtypes.ALL:
            if dtype.kind[0] not in table.TABLE[name].kinds:
                continue
            for shape, axes in (
                ((100,), (0,)), ((100_000,), (0,)), ((3, 5000), (1,)), ((5000, 3), (0,)),
                ((3, 40, 5), (0, 2)), ((4, 6), (1,)),
            ):  # fmt: skip
                node = build.reduction(name, leaf(dtype, shape), axes, keepdims=False)
                shaders.add(f"{name} {dtype.name} {shape} {axes}", node)
            work = build.elementwise("equal", laid(dtype, "strided"), laid(dtype, "row"))
            shaders.add(
                f"{name} of fused {dtype.name}", build.reduction(name, work, 0, keepdims=True)
            )
    shaders.validate()


def test_products_by_both_kernels(shaders):
    for dtype in dtypes.ALL[1:]:
        for one, two in (
            ((5, 7), (7, 3)), ((70, 80), (80, 90)), ((2, 5, 7), (7, 3)), ((2, 1, 5, 7), (3, 7, 3)),
            ((2, 3, 1, 5, 7), (2, 1, 4, 7, 3)), ((7,), (7, 3)), ((2, 5, 7), (7,)),
            ((2048, 7), (7, 2048)), ((2048, 32), (32, 2048)), ((1024, 16), (16, 1024)),
            ((640, 16), (16, 642)), ((64, 32), (32, 64)),
        ):  # fmt: skip
            node = build.matmul(leaf(dtype, one), leaf(dtype, two))
            shaders.add(f"matmul {dtype.name} {one} {two}", node)
        first = build.permute(leaf(dtype, (7, 5)), (1, 0))
        second = select.cut(leaf(dtype, (7, 9)), (slice(None), slice(None, None, -2)))
        shaders.add(f"matmul of views {dtype.name}", build.matmul(first, second))
    shaders.validate()


def test_assignments_of_every_rank(shaders):
    for dtype in dtypes.ALL:
        number = True if dtype.kind == "bool" else 1
        for rank in range(1, 9):
            base = leaf(dtype, (3,) * rank)
            shaders.add(f"setitem {dtype.name} {rank}", select.assign(base, 0, number))
            key = (slice(None, None, -2), ..., slice(1, None)) if rank > 1 else slice(1, None)
            shaders.add(f"setitem {dtype.name} {rank}", select.assign(base, key, number))
    shaders.validate()


def test_operations_along_an_axis(shaders):
    for dtype in dtypes.ALL:
        for shape, axis in (((9,), 0), ((5, 300), 1), ((300, 5), 0), ((3, 4, 5), 1)):
            for name in ("argmax", "argmin") if dtype.kind != "complex" else ():
                node = blocks.search(name, leaf(dtype, shape), axis, keepdims=False)
                shaders.add(f"{name} {dtype.name} {shape} {axis}", node)
            if dtype.kind == "bool":
                continue
            for name in ("cumulative_sum", "cumulative_prod"):
                node = blocks.along(name, leaf(dtype, shape), axis, exclusive=True)
                shaders.add(f"{name} {dtype.name} {shape} {axis}", node)
        if dtype.kind != "complex":
            large = blocks.search("argmax", leaf(dtype, (100_000,)), None, keepdims=False)
            shaders.add(f"argmax {dtype.name}", large)
    for shape, axis in (
        ((9,), 0), ((5, 300), 1), ((300, 5), 0), ((3, 4, 5), 1), ((3, 4096), 1), ((3, 5000), 1),
        ((256, 3), 0), ((2, 9000), 1),
    ):  # fmt: skip
        for name in ("softmax", "log_softmax"):
            work = build.elementwise("add", laid_like(shape), 1.0)
            shaders.add(f"{name} {shape} {axis}", blocks.along(name, work, axis))
        node = blocks.along("standardize", laid_like(shape), axis, epsilon=1e-5)
        shaders.add(f"standardize {shape} {axis}", node)
    shaders.validate()


def laid_like(shape):
    return leaf(dtypes.float32, shape)


def test_gathers_and_scatters(shaders):
    for dtype in dtypes.ALL:
        for shape, axis in (((9,), 0), ((4, 6), 0), ((4, 6), 1), ((2, 3, 5), 1)):
            at = leaf(dtypes.int32, (3,))
            taken = (*shape[:axis], 3, *shape[axis + 1 :])
            for raises in (False, True):
                data = leaf(dtype, shape)
                label = f"{dtype.name} {shape} {axis} {raises}"
                shaders.add(f"gather {label}", blocks.gather(data, at, axis, raises=raises))
                node = blocks.scatter(data, leaf(dtype, taken), at, axis, raises=raises)
                shaders.add(f"scatter {label}", node)
    shaders.validate()


def test_convolutions_and_attention(shaders):
    image, filters = (2, 6, 9, 10), (4, 3, 3, 5)
    for conv in (
        blocks.Conv(groups=2), blocks.Conv((2, 1), (1, 2), (1, 2), 2),
        blocks.Conv((1, 1), (2, 2), (1, 1), 2),
    ):  # fmt: skip
        output = conv.output(image, filters)
        shapes = {
            "conv2d": (image, filters), "conv2d_data": (output, filters),
            "conv2d_filter": (image, output),
        }  # fmt: skip
        for name, (one, two) in shapes.items():
            node = blocks.conv2d(name, laid_like(one), laid_like(two), image, filters, conv)
            shaders.add(f"{name} {conv}", node)
    for width in (8, 64, 80):
        queries, keys = (2, 3, 5, width), (2, 3, 7, width)
        operands = [laid_like(queries), laid_like(keys), laid_like(keys)]
        for mask in (None, laid_like((5, 7)), laid_like((2, 1, 5, 7)), laid_like((1, 7))):
            for causal in (False, True):
                node = blocks.attention(operands, mask, 0.5, causal=causal)
                shaders.add(f"attention {width} {mask and mask.shape} {causal}", node)
    shaders.validate()


def test_random_graphs_of_every_family_and_dtype(shaders):
    """Cores in the middle of elementwise work, which may lie behind views, and stores of it."""
    seen = Counter()
    for seed in range(150):
        graph = growth.grown(seed)
        outputs = [array._node for array in graph.arrays()[0]]
        shaders.add(f"graph {seed}", *outputs)
        for step in schedule(outputs, LIMITS[0]):
            codes = [code for code in (step.body, step.finish) if code is not None]
            seen["places"] += any(code.places for code in codes)
            length = sum(len(code.instrs) for code in codes)
            seen["long"] += length > 10
            seen["stores of fused work"] += step.target is not None and length > 1
            seen[f"{step.family} and more"] += step.finish is not None
            seen[step.dtype.name] += 1
    assert min(seen[dtype.name] for dtype in dtypes.ALL) > 20, seen
    assert min(seen["reduce and more"], seen["matmul and more"], seen["long"]) > 30, seen
    assert min(seen["places"], seen["stores of fused work"]) > 60, seen
    shaders.validate()


def test_fourier_transforms_of_every_radix_and_by_chirps(shaders):
    for n in (1, 2, 3, 4, 5, 7, 8, 13, 840, 1009, 70001):
        for how in (
            {}, {"inverse": True}, {"half": True}, {"hermitian": True, "inverse": True},
        ):  # fmt: skip
            dtype = dtypes.float32 if "half" in how else dtypes.complex64
            for operand in (
                leaf(dtype, (2, n, 3)),
                build.elementwise("multiply", leaf(dtype, (2, n, 3)), leaf(dtypes.float32, (3,))),
                build.permute(leaf(dtype, (n, 2, 3)), (1, 0, 2)),
            ):
                node = transform("fft", operand, 1, n, scale=0.5, **how)
                shaders.add(f"fft {n} {how}", node)
                shaders.add(f"fft and more {n} {how}", build.elementwise("add", node, 1.0))
    shaders.validate()


def test_factorisations(shaders):
    for dtype in (dtypes.float32, dtypes.complex64):
        for shape in ((1, 1), (3, 40, 40), (2, 5, 3), (70, 33)):
            node = leaf(dtype, shape)
            label = f"{dtype.name} {shape}"
            for complete in (False, True):
                shaders.add(f"qr {label}", matrices.qr(node, complete=complete)[0])
            for part in matrices.svd(node, full=True):
                shaders.add(f"svd {label}", part)
            shaders.add(f"svdvals {label}", matrices.svdvals(node))
            if shape[-1] != shape[-2]:
                continue
            factors, pivots = matrices.lu(node)
            shaders.add(f"solve {label}", matrices.lu_solve(factors, pivots, node))
            shaders.add(f"cholesky {label}", matrices.cholesky(node))
            for vectors in (False, True):
                shaders.add(f"eigh {label}", matrices.eigh(node, vectors=vectors)[0])
    shaders.validate()


def random_tree(rng, depth):
    """A node of random elementwise operations on float32 and int32."""
    if depth == 0 or rng.random() < 0.1:
        dtype = rng.choice((dtypes.float32, dtypes.int32, dtypes.uint8, dtypes.bool_))
        if rng.random() < 0.2:
            return Node(table.IOTA, (), SHAPE, dtypes.int32, {"start": 0, "step": 1})
        return laid(dtype, rng.choice(LAYOUTS))
    while True:
        name = rng.choice(ELEMENTWISE)
        if name == "astype":
            return build.cast(random_tree(rng, depth - 1), rng.choice(dtypes.ALL))
        operands = [random_tree(rng, depth - 1) for _ in range(table.TABLE[name].arity)]
        if len(operands) > 1 and name != "where" and rng.random() < 0.3:
            operands[-1] = rng.choice((1, 2.5, True))
        try:
            return build.elementwise(name, *operands)
        except DTypeError:
            continue


def test_five_hundred_random_fused_trees(shaders):
    rng = random.Random(16)
    fused = 0
    for number in range(500):
        node = random_tree(rng, rng.randint(2, 5))
        if rng.random() < 0.2:
            node = build.reduction(
                rng.choice(REDUCTIONS), node, rng.choice((0, 1, None)), keepdims=False
            )
        shaders.add(f"tree {number}", node)
        made = schedule([build.copy(node)], LIMITS[0])
        bodies = [len(step.body.instrs) for step in made if step.body]
        fused += max(bodies) > 4
    assert fused > 120
    shaders.validate()


def test_sorting_searching_and_taking_along(shaders):
    for dtype in dtypes.ALL:
        for shape, axis in (((9,), 0), ((5, 300), 1), ((300, 5), 0), ((3, 40, 5), 1)):
            data = leaf(dtype, shape)
            at = (*shape[:axis], 3, *shape[axis + 1 :])
            for indices in (leaf(dtypes.int32, at), leaf(dtypes.uint8, (1,) * len(shape))):
                node = orders.take_along(data, indices, axis)
                shaders.add(f"take_along {dtype.name} {shape} {axis}", node)
            if dtype.kind == "complex":
                continue
            for descending, keep in itertools.product((False, True), (None, 3)):
                label = f"argsort {dtype.name} {shape} {axis} {descending} {keep}"
                node = orders.argsort(data, axis, descending=descending, keep=keep)
                shaders.add(label, node)
                shaders.add(label, build.elementwise("equal", build.cast(node, dtypes.uint8), 1))
        if dtype.kind == "complex":
            continue
        work = build.elementwise("maximum", laid(dtype, "strided"), laid(dtype, "row"))
        shaders.add(f"argsort of fused {dtype.name}", orders.argsort(work, 0))
        for right in (False, True):
            node = orders.searchsorted(leaf(dtype, (9,)), laid(dtype, "row"), is_right=right)
            shaders.add(f"searchsorted {dtype.name} {right}", node)
            shaders.add(f"searchsorted {dtype.name} {right}", build.cast(node, dtypes.uint8))
        for each in orders.unique(leaf(dtype, (5, 7)), None, "unique_all"):
            shaders.add(f"unique {dtype.name}", each)
    flat, _ = orders.true_places(leaf(dtypes.bool_, (4, 5)))
    for index in orders.coordinates(flat, (4, 5)):
        shaders.add("nonzero", index)
    shaders.validate()
