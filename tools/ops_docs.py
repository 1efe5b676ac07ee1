"""Writes docs/ops.md: every public function, what it takes and how it is computed.

Nothing there is written by hand: a function is called on the host, where calls only make nodes, and
the rows of the op table in the graph that it gives say the rest. `--check` compares.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.array import Array
from aiogpu.errors import AioGpuError
from aiogpu.graph import table
from aiogpu.graph.node import Node
from aiogpu.kernels import elementwise, render
from aiogpu.schedule.groups import CORES
from aiogpu.unknown import UnknownLength

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "ops.md"
FREE = frozenset({"leaf", "empty", "constant", "iota", "view", "pick"})  # no launch of their own

INTRODUCTION = """\
# Operations

<!-- Written by tools/ops_docs.py; do not edit. -->

Every public function. What has no dtypes takes no arrays. The rows are those of the op table
(`py/aiogpu/graph/table.py`) that one call makes, casts and views left out; the kernels are those of
their families. How it is fused:

- **free**: a number, a range or a view, computed by whoever reads it;
- **all**: elementwise, in one launch with what comes before and after it;
- **before**: what it walks over is computed on the way; **after**: elementwise work on its result
  is part of its launch;
- **no**: it reads and writes memory.

Under `aiogpu.eager` nothing is fused. A `*` marks what is awaited.
"""


def some(dtype: Any, *shape: int) -> Array:  # noqa: ANN401 - a dtype or its name
    """Host data of a dtype: of two axes, 4 by 4 by default."""
    rows, columns = shape or (4, 4)
    return gpu.asarray([[1] * columns] * rows, dtype=dtype)


def line(dtype: Any) -> Array:  # noqa: ANN401 - a dtype or its name
    """Host data of a dtype, of one axis."""
    return gpu.asarray([1, 1, 1, 1], dtype=dtype)


def places() -> Array:
    """Indices."""
    return gpu.asarray([1, 0])


def image(dtype: Any) -> Array:  # noqa: ANN401 - a dtype or its name
    """What a convolution takes."""
    return some(dtype).reshape(1, 1, 4, 4)


def rng() -> gpu.random.Generator:
    """A generator."""
    return gpu.random.default_rng(0)


# Calls of functions that do not take just arrays of any shape.
SAMPLES: dict[str, Callable[[Any], object]] = {
    "arange": lambda d: gpu.arange(3, dtype=d),
    "array": lambda d: gpu.array([1, 2], dtype=d),
    "asarray": lambda d: gpu.asarray([1, 2], dtype=d),
    "astype": lambda d: gpu.astype(some("bool" if d is not gpu.bool else "int8"), d),
    "broadcast_to": lambda d: gpu.broadcast_to(some(d), (3, 4, 4)),
    "clip": lambda d: gpu.clip(some(d), 0, 1),
    "einsum": lambda d: gpu.einsum("ij,jk->ik", some(d), some(d)),
    "empty": lambda d: gpu.empty(3, dtype=d),
    "eye": lambda d: gpu.eye(3, dtype=d),
    "from_dlpack": gpu.from_dlpack,
    "full": lambda d: gpu.full(3, 1, dtype=d),
    "full_like": lambda d: gpu.full_like(some(d), 1),
    "linspace": lambda d: gpu.linspace(0, 1, 3, dtype=d),
    "meshgrid": lambda d: gpu.meshgrid(line(d), line(d)),
    "moveaxis": lambda d: gpu.moveaxis(some(d), 0, 1),
    "ones": lambda d: gpu.ones(3, dtype=d),
    "pad": lambda d: gpu.pad(some(d), 1),
    "permute_dims": lambda d: gpu.permute_dims(some(d), (1, 0)),
    "repeat": lambda d: gpu.repeat(some(d), 2, axis=0),
    "reshape": lambda d: gpu.reshape(some(d), (16,)),
    "roll": lambda d: gpu.roll(some(d), 1),
    "searchsorted": lambda d: gpu.searchsorted(line(d), some(d)),
    "squeeze": lambda d: gpu.squeeze(some(d, 1, 3), 0),
    "cumulative_sum": lambda d: gpu.cumulative_sum(some(d), axis=1),
    "cumulative_prod": lambda d: gpu.cumulative_prod(some(d), axis=1),
    "take": lambda d: gpu.take(some(d), places(), axis=0),
    "take_along_axis": lambda d: gpu.take_along_axis(some(d), some("int32"), axis=0),
    "tile": lambda d: gpu.tile(some(d), (2, 2)),
    "top_k": lambda d: gpu.top_k(some(d), 2),
    "where": lambda d: gpu.where(some("bool"), some(d), some(d)),
    "zeros": lambda d: gpu.zeros(3, dtype=d),
    "fft.fftfreq": lambda d: gpu.fft.fftfreq(4, dtype=d),
    "fft.rfftfreq": lambda d: gpu.fft.rfftfreq(4, dtype=d),
    "linalg.cross": lambda d: gpu.linalg.cross(some(d, 4, 3), some(d, 4, 3)),
    "linalg.matrix_power": lambda d: gpu.linalg.matrix_power(some(d), 3),
    "linalg.outer": lambda d: gpu.linalg.outer(line(d), line(d)),
    "nn.attention": lambda d: gpu.nn.attention(some(d), some(d), some(d)),
    "nn.conv2d": lambda d: gpu.nn.conv2d(image(d), image(d)),
    "random.choice": lambda d: rng().choice(some(d), 2),
    "random.integers": lambda d: rng().integers(3, size=3, dtype=d),
    "random.normal": lambda d: rng().normal(some(d), some(d)),
    "random.permutation": lambda d: rng().permutation(some(d)),
    "random.random": lambda d: rng().random(3, dtype=d),
    "random.uniform": lambda d: rng().uniform(some(d), some(d)),
}


# How tests name what is in a part.
_CALLS = {
    "fft": r"(?:fft|xf)\.",
    "linalg": r"(?:linalg|xl)\.",
    "nn": r"nn\.",
    "random": r"(?:rng|random|r|default_rng\([^)]*\))\.",
}


def call(name: str, function: Callable[..., object], dtype: dtypes.DType) -> object:
    """What a function gives for arguments of a dtype."""
    if name in SAMPLES:
        return SAMPLES[name](dtype)
    arguments: list[object] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = str(parameter.annotation)
        if parameter.default is not parameter.empty or parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL and kind == "Array":
            arguments += [some(dtype), some(dtype)]
        elif kind == "Sequence[Array]":
            arguments.append([some(dtype), some(dtype)])
        elif "Array" in kind or kind == "Operand":
            arguments.append(some(dtype))
        else:
            raise SystemExit(f"{name}: give it a sample of arguments in tools/ops_docs.py")
    return function(*arguments)


def takes_arrays(name: str, function: Callable[..., object]) -> bool:
    """Whether a function makes arrays."""
    given = str(inspect.signature(function).return_annotation)
    makes = {"Array", "list[Array]", "tuple[Array, ...]", "TopK"}
    return name in SAMPLES or given in makes or given.startswith("Unique") or "Result" in given


def nodes(value: object) -> list[Node]:
    """The nodes of a value's graph, in the order in which they were made."""
    found: dict[Node, None] = {}
    stack: list[Node] = []
    for array in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(array, UnknownLength):
            stack += [array._found.node, array._found.length]
        elif isinstance(array, Array):
            stack.append(array._node)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack.extend(node.inputs)
    return sorted(found, key=lambda node: node.serial)


def kinds(taken: list[dtypes.DType]) -> str:
    """The dtypes in few words."""
    if len(taken) == len(dtypes.ALL):
        return "all"
    words = []
    groups = {
        "bool": "b", "integers": "iu", "floats": "f", "complex64": "c",
    }  # fmt: skip
    for word, letters in groups.items():
        group = [dtype for dtype in dtypes.ALL if dtype.kind[0] in letters]
        inside = [dtype for dtype in group if dtype in taken]
        words += [word] if inside == group else [dtype.name for dtype in inside]
    return ", ".join(words)


def fused(made: list[Node]) -> str:
    """How what a function makes is fused."""
    cores = [node.op.family for node in made if node.op.family != "elementwise"]
    if not made:
        return "free"
    if not cores:
        return "all"
    before = cores[0] in table.PROLOGUE or cores[0] == "store" or made[0].op.family == "elementwise"
    words = ["before"] * before + ["after"] * (made[-1].op.family in CORES | {"elementwise"})
    return ", ".join(words) or "no"


def kernel(family: str) -> str:
    """The file of a family's kernels."""
    module = sys.modules[render._FAMILIES.get(family, elementwise.render).__module__]
    return Path(str(module.__file__)).stem


def test_of(name: str) -> str:
    """The test file that names a function most often, in the browser if there is one; or ""."""
    part, _, word = name.rpartition(".")
    calls = _CALLS.get(part, r"(?:aiogpu|gpu|xp)\.")
    pattern = re.compile(rf"(?:\b(?:{calls}){word}\b|[\"']{word}[\"'])")
    for folder in ("browser", "page", "unit"):
        counts = {
            path: len(pattern.findall(path.read_text("utf-8")))
            for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))
            if "backend" not in path.stem and (part in {"", "nn"} or part in path.stem)
        }
        best = max(counts, key=lambda path: counts[path])
        if counts[best]:
            return str(best.relative_to(ROOT / "tests"))
    return ""


def row(name: str, function: Callable[..., object]) -> str:
    """A function's line of the table."""
    does = (inspect.getdoc(function) or "").partition("\n")[0].replace("|", "\\|")
    star = "\\*" * inspect.iscoroutinefunction(function)
    cells = [f"`{name}`{star}", does, "", "", "", ""]
    if takes_arrays(name, function):
        taken: list[dtypes.DType] = []
        made: list[Node] = []
        for dtype in dtypes.ALL:
            try:
                value = call(name, function, dtype)
            except AioGpuError:
                continue
            taken.append(dtype)
            if dtype is dtypes.float32 or not made:
                made = [node for node in nodes(value) if node.op.family not in FREE]
        made = [node for node in made if node.op is not table.CAST] or made[:1]
        cells[2:] = [
            kinds(taken),
            " ".join(dict.fromkeys(node.op.name for node in made)),
            " ".join(dict.fromkeys(f"`{kernel(node.op.family)}`" for node in made)),
            fused(made),
        ]
    cells.append(f"`{test_of(name)}`")
    return f"| {' | '.join(cells)} |"


def functions() -> Iterator[tuple[str, str, Callable[..., object]]]:
    """Every public function: its part of the page, its name and itself."""
    for name in gpu.__all__:
        value = getattr(gpu, name)
        if inspect.isfunction(value):
            module = value.__module__.removeprefix("aiogpu.")
            is_op = module.startswith("ops.")
            yield (module.removeprefix("ops.") if is_op else "~"), name, value
    owners = {"fft": gpu.fft, "linalg": gpu.linalg, "nn": gpu.nn, "random": gpu.random.Generator}
    for part, owner in owners.items():
        for name, value in vars(owner).items():
            is_public = not name.startswith("_") and name in getattr(owner, "__all__", [name])
            if inspect.isfunction(value) and is_public and getattr(gpu, name, None) is not value:
                yield part, f"{part}.{name}", value
    yield "random", "random.default_rng", gpu.random.default_rng


def page() -> str:
    """The whole page."""
    parts: dict[str, list[str]] = {}
    found = sorted(functions(), key=lambda each: each[:2])
    if untested := [name for _, name, _ in found if not test_of(name)]:
        raise SystemExit(f"no test names {', '.join(untested)}")
    for part, name, function in found:
        parts.setdefault(part, []).append(row(name, function))
    lines = [INTRODUCTION]
    for part, rows in parts.items():
        title = "Devices, reading and the rest" if part == "~" else part.replace("_", " ")
        lines += [
            f"## {title[0].upper() + title[1:]}\n",
            "| function | does | dtypes | rows | kernels | fused | test |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
        ]
    return "\n".join(lines)


def main() -> None:
    """Write the page, or with ``--check`` fail when it is not up to date."""
    text = page()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        raise SystemExit("docs/ops.md is not up to date: run tools/ops_docs.py")


if __name__ == "__main__":
    main()
