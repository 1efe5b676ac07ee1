"""What to write instead: for calls that kernels do not have, and names that are nearly right."""

from __future__ import annotations

import ast
import difflib
import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# What NumPy calls otherwise; the rest is called as in `math`.
_OF_NUMPY: Final = {
    "float32": "gl.f32(...)", "float16": "gl.f16(...)", "int32": "gl.i32(...)",
    "uint32": "gl.u32(...)", "bool_": "bool(...)", "float64": "gl.f32(...): there is no f64",
    "int64": "gl.i32(...): there is no i64", "maximum": "max(a, b)", "minimum": "min(a, b)",
    "abs": "abs(x)", "absolute": "abs(x)", "where": "a if test else b", "power": "a ** b",
    "clip": "gl.clamp(x, low, high)", "round": "round(x)", "rint": "gl.rint(x)",
    "arctan2": "math.atan2(y, x)", "arcsin": "math.asin(x)", "arccos": "math.acos(x)",
    "arctan": "math.atan(x)", "dot": "gl.dot(a, b) of vectors, or a loop",
    "zeros": "gl.local(shape, gl.f32), or gl.shared", "empty": "gl.local(shape, gl.f32)",
}  # fmt: skip
# What Numba, Triton, Taichi, CUDA and WGSL call otherwise.
_ELSEWHERE: Final = {
    "thread_id": "local_id", "threadIdx": "local_id", "block_id": "group_id",
    "blockIdx": "group_id", "program_id": "group_id", "workgroup_id": "group_id",
    "grid": "global_id", "invocation_id": "global_id", "block_dim": "group_size",
    "blockDim": "group_size", "grid_dim": "num_groups", "gridDim": "num_groups",
    "syncthreads": "barrier", "workgroup_barrier": "barrier", "constexpr": "const",
    "static_range": "unroll", "static": "unroll", "where": "select", "array": "shared",
    "f64": "f32", "i64": "i32", "u64": "u32", "float32": "f32", "int32": "i32", "uint32": "u32",
}  # fmt: skip
_KNOWN: Final = "kernels call math, gl, min, max, abs, round, len and what is written with def"
_LOOP: Final = "write the loop, or call it outside"


def instead(name: str, function: Any) -> str:  # noqa: ANN401 - whatever is called
    """What to write in place of a call of ``function``, which stands there as ``name``."""
    last = name.rsplit(".", 1)[-1]
    module = str(getattr(function, "__module__", "") or type(function).__module__)
    if module.partition(".")[0] == "numpy":
        return _named(last, "an operation on arrays: " + _LOOP)
    if module.partition(".")[0] == "aiogpu":
        return _named(last, f"an operation on whole arrays: {_LOOP}")
    return _KNOWN


def _named(last: str, otherwise: str) -> str:
    if last in _OF_NUMPY:
        return f"write {_OF_NUMPY[last]}"
    return f"write math.{last}" if hasattr(math, last) else otherwise


def near(name: str, names: Iterable[str]) -> str:
    """`: did you mean ...?`, if one of the names is like ``name``."""
    there = [each for each in names if not each.startswith("_")]
    same = _ELSEWHERE.get(name)
    found = [same] if same in there else difflib.get_close_matches(name, there, 1)
    return f": did you mean {found[0]}?" if found else ""


def any_of(node: ast.Compare) -> str:
    """``x in (a, b)`` as comparisons."""
    (right,) = node.comparators[:1]
    if not isinstance(right, (ast.Tuple, ast.List)) or len(node.ops) != 1:
        return ""
    sign, word = ("==", " or ") if isinstance(node.ops[0], ast.In) else ("!=", " and ")
    left = ast.unparse(node.left)
    return ": write " + word.join(f"{left} {sign} {ast.unparse(each)}" for each in right.elts)
