"""Writes docs/backend.md from the backend's own signatures and docstrings; `--check` compares."""

import inspect
import sys
from pathlib import Path

from aiogpu.backend import BINARY, PRECISIONS, REDUCTIONS, UNARY, Backend

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "backend.md"
TESTS = ROOT / "tests" / "browser" / "test_backend.py"

F32 = "float32"
# number in the model, method, dtypes, kernel file, test in tests/browser/test_backend.py
ROWS = (
    ("1", "name", "", "", "memory_copies_exactly_what_was_asked"),
    ("2", "create", "", "", "memory_copies_exactly_what_was_asked"),
    ("3", "is_initialized", "", "", "memory_copies_exactly_what_was_asked"),
    ("4", "capabilities", "", "", "capabilities_are_those_of_the_device"),
    ("5", "available_devices", "", "", "capabilities_are_those_of_the_device"),
    ("6", "recommended_tile_for", "", "matmul", "matrix_products_match_numpy"),
    ("7", "gemm", F32, "matmul", "matrix_products_match_numpy"),
    ("8", "batched_gemm", F32, "matmul", "matrix_products_match_numpy"),
    ("9", "gemm_mixed_precision", "f16, bf16 to float32", "matmul", "matrix_products_match_numpy"),
    ("10", "conv2d_forward", F32, "conv", "convolutions_match_numpy"),
    ("11", "conv2d_backward_data", F32, "conv", "convolutions_match_numpy"),
    ("12", "conv2d_backward_filter", F32, "conv", "convolutions_match_numpy"),
    ("13", "attention", F32, "attention", "attention_matches_numpy"),
    (
        "14",
        "reduce",
        "float32, int32 indices",
        "reduce, search",
        "reductions_and_scans_match_numpy",
    ),
    ("15", "softmax", F32, "rows", "softmax_and_norm_match_numpy"),
    ("", "layer_norm", F32, "rows, elementwise", "softmax_and_norm_match_numpy"),
    ("", "transpose", F32, "elementwise", "transpose_and_present_need_what_they_say"),
    ("", "scan", F32, "scan", "reductions_and_scans_match_numpy"),
    ("16", "gather", "float32, int32 indices", "indexed", "gather_and_scatter_clamp_or_raise"),
    ("17", "scatter", "float32, int32 indices", "indexed", "gather_and_scatter_clamp_or_raise"),
    ("18", "unary", F32, "elementwise", "elementwise_methods_match_numpy"),
    ("19", "binary", F32, "elementwise", "elementwise_methods_match_numpy"),
    ("20", "synchronize", "", "", "work_sees_the_bytes_of_its_own_time"),
    ("21", "alloc", "bytes", "", "memory_copies_exactly_what_was_asked"),
    ("22", "free", "", "", "wrong_handles_and_ranges_are_refused_at_the_call"),
    ("23", "copy_htod", "bytes", "", "memory_copies_exactly_what_was_asked"),
    ("24", "copy_dtoh", "bytes", "", "memory_copies_exactly_what_was_asked"),
    ("", "copy_dtod", "bytes", "", "memory_copies_exactly_what_was_asked"),
    ("+", "init_from_canvas", "", "", "transpose_and_present_need_what_they_say"),
    ("+", "present", "uint8, float32", "", "transpose_and_present_need_what_they_say"),
    ("+", "array", "any", "", "work_sees_the_bytes_of_its_own_time"),
    ("+", "handle", "any", "", "work_sees_the_bytes_of_its_own_time"),
)

INTRODUCTION = """\
# The backend

<!-- Written by tools/backend_docs.py; do not edit. -->

`aiogpu.Backend` is for those who port numerical engines: integer handles, explicit sizes, no
arrays. It owns nothing: a handle names some bytes, a method makes the next version of them, by the
same graph, kernels, stream and buffers that arrays use. Every method returns at once, but for those
marked *await*. What an operation overwrites, older readers keep: an operand may be an output.

```python
backend = await gpu.Backend.create()
a, b, c = (backend.alloc(4 * n * n) for _ in range(3))
backend.copy_htod(a, numbers)
backend.gemm("N", "T", n, n, n, 1.0, a, n, b, n, 0.0, c, n)
backend.softmax(c, c, (n, n), axis=1)
result = await backend.copy_dtoh(c)  # the only wait
```

Sizes and offsets are bytes, multiples of 4; strides and leading dimensions are elements. Everything
is checked at the call: an unknown or freed handle raises `HandleError`, bytes that do not suffice
`UsageError`, more than the device allows `LimitError`. A buffer holds at most
`capabilities()["limits"]["max_binding_nbytes"]` bytes.

"""

MODEL = """\

## The names of the model, and what they are here

| there | here |
| --- | --- |
| `ComputeBackend` | `Backend`: the 24 methods, none of which waits but `create`, `available_devices`, `synchronize` and `copy_dtoh` |
| `WasmBackend` | `Backend`; one for each device, whoever creates it |
| `WasmBackend::init_from_canvas` | `await Backend.init_from_canvas(canvas)`: the same backend, and `present` draws |
| `WasmGpuDevice` | `Device`, by `await gpu.open_device()`, or opened at first use |
| `request_adapter` | `await gpu.request_adapter()` |
| `WasmMemoryManager` | the pool (`runtime/pool.py`) and transfers (`runtime/transfer.py`) that arrays, kernels, canvases and the bridge use, too |
| a buffer handle | an integer; `Backend.array` and `Backend.handle` go between handles and arrays |
"""  # noqa: E501 - rows of a table


def signature(name: str) -> str:
    """How a method is called, without its defaults' types."""
    member = inspect.getattr_static(Backend, name)
    if isinstance(member, property):
        return f"`{name}`"
    function = getattr(member, "__func__", member)
    names = [p for p in inspect.signature(function).parameters if p not in {"self", "cls"}]
    waits = "*await* " if inspect.iscoroutinefunction(function) else ""
    return f"{waits}`{name}({', '.join(names)})`"


def summary(name: str) -> str:
    """The first line of a method's docstring."""
    text = inspect.getdoc(inspect.getattr_static(Backend, name)) or ""
    return text.partition("\n")[0]


def page() -> str:
    """The whole page."""
    tests = TESTS.read_text(encoding="utf-8")
    lines = [
        "| # | method | does | dtypes | kernels | test |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for number, name, kinds, kernels, test in ROWS:
        if f"def test_{test}(" not in tests:
            raise SystemExit(f"{name}: there is no test_{test} in {TESTS.name}")
        files = ", ".join(f"`kernels/{kernel}.py`" for kernel in kernels.split(", ") if kernel)
        cells = (number, signature(name), summary(name), kinds, files, f"`test_{test}`")
        lines.append(f"| {' | '.join(cells)} |")
    public = {name for name in dir(Backend) if not name.startswith("_")}
    if missing := public - {row[1] for row in ROWS}:
        raise SystemExit(f"not in the table: {sorted(missing)}")
    names = (
        f"\n`unary`: {', '.join(UNARY)}. `binary`: {', '.join(BINARY)}. "
        f"`reduce`: {', '.join(REDUCTIONS)}. `gemm_mixed_precision`: {', '.join(PRECISIONS)}.\n"
    )
    return INTRODUCTION + "\n".join(lines) + "\n" + names + MODEL


def main() -> None:
    """Write the page, or with ``--check`` fail when it is not up to date."""
    text = page()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        raise SystemExit("docs/backend.md is not up to date: run tools/backend_docs.py")


if __name__ == "__main__":
    main()
