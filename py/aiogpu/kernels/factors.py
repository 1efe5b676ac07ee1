"""LU with partial pivoting, Cholesky, and substitution; by blocks of columns, right-looking.

The algorithms are those of Golub and Van Loan, "Matrix Computations", 3.4, 4.2 and 3.1, as LAPACK
blocks them (getrf, potrf, getrs).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu.kernels.matrices import WORKGROUP, Bound, Launches, groups_of
from aiogpu.program import Program

if TYPE_CHECKING:
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step

_NOT_POSITIVE = "a matrix is not positive definite"
_SINGULAR = "a matrix is singular"


def lu(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Outputs: L below and U on and above the diagonal; and the row that each step swapped."""
    made = Launches(step, limits, cache)
    *batch_shape, n, _ = step.core.shape
    batch = prod(batch_shape)
    out = len(step.inputs)
    a, pivots = Bound("a", "T", out, True), Bound("pivots", "i32", out + 1, True)
    _take(made, step, out, batch * n * n)
    for start, end in made.blocks(n, n + 2):
        words = {"batch": batch, "n": n, "k0": start, "k1": end}
        width, rest = end - start, n - end
        for first, last in made.pieces(start, end, (n - start) * (width + 2)):
            made.add(
                "panel", _lu_panel(made), [a, pivots], words | {"first": first, "last": last},
                made.matrix_groups(batch),
                made.matrix_cost((n - start) * width * (last - first) * 2),
                declarations=_lu_search(made),
            )  # fmt: skip
        if n > width:
            lines = [*made.each("p.batch * p.others"), *_LU_ROWS]
            made.add(
                "rows", lines, [a, pivots], words | {"others": n - width},
                groups_of(batch * (n - width)), WORKGROUP * width * width,
            )  # fmt: skip
        if rest:
            lines = [*made.each("p.batch * p.rest * p.rest"), *_LU_UPDATE]
            made.add(
                "update", lines, [a], words | {"rest": rest}, groups_of(batch * rest * rest),
                WORKGROUP * width * 4,
            )  # fmt: skip
    return Program(tuple(made.made))


def _take(made: Launches, step: Step, out: int, count: int) -> None:
    """Copy the first operand to where it is worked on."""
    made.add(
        "take",
        [*made.each("p.count"), "out[at] = given[p.offset + at];"],
        [Bound("given", "T", step.slots[0]), Bound("out", "T", out, True)],
        {"count": count, "offset": step.views[0].offset},
        groups_of(count),
        WORKGROUP * 2,
    )


def _lu_search(made: Launches) -> str:
    if made.is_alone:
        return ""
    return (
        f"var<workgroup> sizes: array<f32, {WORKGROUP}>;\n"
        f"var<workgroup> rows: array<u32, {WORKGROUP}>;\n"
    )


def _lu_panel(made: Launches) -> list[str]:
    meet = [] if made.is_alone else [
        "  sizes[lane] = most;",
        "  rows[lane] = row;",
        "  workgroupBarrier();",
        f"  for (var half = {WORKGROUP // 2}u; half > 0u; half /= 2u) {{",
        "    if (lane < half) {",
        "      let other = sizes[lane + half];",
        "      let found = rows[lane + half];",
        "      if (other > sizes[lane] || (other == sizes[lane] && found < rows[lane])) {",
        "        sizes[lane] = other;",
        "        rows[lane] = found;",
        "      }",
        "    }",
        "    workgroupBarrier();",
        "  }",
        "  row = rows[0];",
        "  workgroupBarrier();",
    ]  # fmt: skip
    sync = [f"  {line}" for line in made.sync]
    return [
        *made.each_matrix(),
        "let base = b * p.n * p.n;",
        "for (var k = p.first; k < p.last; k++) {",
        "  var most = -1.0;",
        "  var row = k;",
        f"  for (var i = k + lane; i < p.n; i += {made.lanes}) {{",
        "    let found = size(a[base + i * p.n + k]);",
        "    if (found > most) {",
        "      most = found;",
        "      row = i;",
        "    }",
        "  }",
        *meet,
        "  if (lane == 0u) { pivots[b * p.n + k] = i32(row); }",
        f"  for (var c = p.k0 + lane; c < p.k1; c += {made.lanes}) {{",
        "    let upper = a[base + k * p.n + c];",
        "    a[base + k * p.n + c] = a[base + row * p.n + c];",
        "    a[base + row * p.n + c] = upper;",
        "  }",
        *sync,
        "  let pivot = a[base + k * p.n + k];",
        "  let is_zero = abs2(pivot) == 0.0 && size(pivot) == 0.0;",
        f"  for (var i = k + 1u + lane; i < p.n; i += {made.lanes}) {{",
        "    var factor = a[base + i * p.n + k];",
        "    if (!is_zero) { factor = quotient(factor, pivot); }",
        "    a[base + i * p.n + k] = factor;",
        "    for (var c = k + 1u; c < p.k1; c++) {",
        "      a[base + i * p.n + c] -= mul(factor, a[base + k * p.n + c]);",
        "    }",
        "  }",
        *sync,
        "}",
    ]


# The columns beside the block: its swaps, and, to the right, its rows of U.
_LU_ROWS = [
    "let b = at / p.others;",
    "let o = at % p.others;",
    "let c = select(o + p.k1 - p.k0, o, o < p.k0);",
    "let base = b * p.n * p.n;",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  let row = u32(pivots[b * p.n + k]);",
    "  let upper = a[base + k * p.n + c];",
    "  a[base + k * p.n + c] = a[base + row * p.n + c];",
    "  a[base + row * p.n + c] = upper;",
    "}",
    "if (c < p.k0) { return; }",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  let value = a[base + k * p.n + c];",
    "  for (var i = k + 1u; i < p.k1; i++) {",
    "    a[base + i * p.n + c] -= mul(a[base + i * p.n + k], value);",
    "  }",
    "}",
]
_LU_UPDATE = [
    "let b = at / (p.rest * p.rest);",
    "let i = p.k1 + at / p.rest % p.rest;",
    "let c = p.k1 + at % p.rest;",
    "let base = b * p.n * p.n;",
    "var sum = T();",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  sum += mul(a[base + i * p.n + k], a[base + k * p.n + c]);",
    "}",
    "a[base + i * p.n + c] -= sum;",
]


def cholesky(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Output: the lower factor, of which only the lower half of the operand is read."""
    made = Launches(step, limits, cache)
    *batch_shape, n, _ = step.core.shape
    batch = prod(batch_shape)
    out = len(step.inputs)
    a = Bound("a", "T", out, True)
    made.add(
        "take",
        [
            *made.each("p.count"),
            "let i = at / p.n % p.n;",
            "let c = at % p.n;",
            "if (c > i) { a[at] = T(); return; }",
            "let value = given[p.offset + at];",
            "if (c == i) { a[at] = hermitian(value); return; }",
            "a[at] = value;",
        ],
        [Bound("given", "T", step.slots[0]), a],
        {"count": batch * n * n, "n": n, "offset": step.views[0].offset},
        groups_of(batch * n * n),
        WORKGROUP * 4,
    )
    for start, end in made.blocks(n, n + 2):
        words = {"batch": batch, "n": n, "k0": start, "k1": end}
        width, rest = end - start, n - end
        for first, last in made.pieces(start, end, (n - start) * (width + 2)):
            made.add(
                "panel", _cholesky_panel(made), [a], words | {"first": first, "last": last},
                made.matrix_groups(batch), made.matrix_cost((n - start) * width * (last - first)),
                fault=_NOT_POSITIVE,
            )  # fmt: skip
        if rest:
            lines = [*made.each("p.batch * p.rest * p.rest"), *_CHOLESKY_UPDATE]
            made.add(
                "update", lines, [a], words | {"rest": rest}, groups_of(batch * rest * rest),
                WORKGROUP * width * 4,
            )  # fmt: skip
    return Program(tuple(made.made))


def _cholesky_panel(made: Launches) -> list[str]:
    sync = [f"  {line}" for line in made.sync]
    return [
        *made.each_matrix(),
        "let base = b * p.n * p.n;",
        "for (var k = p.first; k < p.last; k++) {",
        "  let pivot = real(a[base + k * p.n + k]);",
        # A NaN is not positive either, and comparisons may not tell.
        "  if (!(pivot > 0.0) || !ag_isfinite(pivot)) { atomicMax(&faults[0], p.fault); }",
        "  let root = ag_sqrt(pivot);",
        *sync,
        f"  for (var i = k + lane; i < p.n; i += {made.lanes}) {{",
        "    let value = a[base + i * p.n + k];",
        "    if (i == k) { a[base + i * p.n + k] = number(root); }",
        "    else { a[base + i * p.n + k] = quotient(value, number(root)); }",
        "  }",
        *sync,
        f"  for (var i = k + 1u + lane; i < p.n; i += {made.lanes}) {{",
        "    let factor = a[base + i * p.n + k];",
        "    for (var c = k + 1u; c < min(i + 1u, p.k1); c++) {",
        "      a[base + i * p.n + c] -= mul(factor, conj(a[base + c * p.n + k]));",
        "    }",
        "  }",
        *sync,
        "}",
    ]


_CHOLESKY_UPDATE = [
    "let b = at / (p.rest * p.rest);",
    "let i = p.k1 + at / p.rest % p.rest;",
    "let c = p.k1 + at % p.rest;",
    "if (c > i) { return; }",
    "let base = b * p.n * p.n;",
    "var sum = T();",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  sum += mul(a[base + i * p.n + k], conj(a[base + c * p.n + k]));",
    "}",
    "a[base + i * p.n + c] -= sum;",
]


def lu_solve(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Inputs: what `lu` gives, and right sides; output: the solutions."""
    made = Launches(step, limits, cache)
    *batch_shape, n, width = step.core.shape
    batch = prod(batch_shape)
    out = len(step.inputs)
    factors, pivots, given = step.slots
    a, x = Bound("a", "T", factors), Bound("x", "T", out, True)
    at_a, at_pivots, at_given = (view.offset for view in step.views)
    words = {"batch": batch, "n": n, "width": width, "at_a": at_a}
    columns = batch * width
    made.add(
        "take",
        [*made.each("p.batch * p.width"), *_SOLVE_TAKE],
        [a, Bound("pivots", "i32", pivots), Bound("given", "T", given), x],
        words | {"at_pivots": at_pivots, "at_given": at_given},
        groups_of(columns),
        WORKGROUP * 6 * n,
        fault=_SINGULAR,
    )
    blocks = made.blocks(n, n + 2)
    for is_back, order in ((False, blocks), (True, blocks[::-1])):
        name = "back" if is_back else "forth"
        for start, end in order:
            size = end - start
            block = words | {"k0": start, "k1": end}
            lines = [*made.each("p.batch * p.width"), *_SOLVE_PLACE]
            lines += _SOLVE_BACK if is_back else _SOLVE_FORTH
            made.add(name, lines, [a, x], block, groups_of(columns), WORKGROUP * size * size * 2)
            rest = start if is_back else n - end
            if rest:
                block |= {"rest": rest, "first": 0 if is_back else end}
                made.add(
                    "update", [*made.each("p.batch * p.rest * p.width"), *_SOLVE_UPDATE],
                    [a, x], block, groups_of(columns * rest), WORKGROUP * size * 4,
                )  # fmt: skip
    return Program(tuple(made.made))


_SOLVE_PLACE = [
    "let b = at / p.width;",
    "let c = at % p.width;",
    "let base = b * p.n * p.n + p.at_a;",
    "let to = b * p.n * p.width + c;",
]
_SOLVE_TAKE = [
    *_SOLVE_PLACE,
    "for (var i = 0u; i < p.n; i++) {",
    "  x[to + i * p.width] = given[p.at_given + to + i * p.width];",
    "  if (c == 0u && size(a[base + i * (p.n + 1u)]) == 0.0) {",
    "    atomicMax(&faults[0], p.fault);",
    "  }",
    "}",
    "for (var k = 0u; k < p.n; k++) {",
    "  let row = u32(pivots[p.at_pivots + b * p.n + k]);",
    "  let upper = x[to + k * p.width];",
    "  x[to + k * p.width] = x[to + row * p.width];",
    "  x[to + row * p.width] = upper;",
    "}",
]
_SOLVE_FORTH = [
    "for (var k = p.k0; k < p.k1; k++) {",
    "  let value = x[to + k * p.width];",
    "  for (var i = k + 1u; i < p.k1; i++) {",
    "    x[to + i * p.width] -= mul(a[base + i * p.n + k], value);",
    "  }",
    "}",
]
_SOLVE_BACK = [
    "for (var above = p.k1; above > p.k0; above--) {",
    "  let k = above - 1u;",
    "  let value = quotient(x[to + k * p.width], a[base + k * p.n + k]);",
    "  x[to + k * p.width] = value;",
    "  for (var i = p.k0; i < k; i++) {",
    "    x[to + i * p.width] -= mul(a[base + i * p.n + k], value);",
    "  }",
    "}",
]
_SOLVE_UPDATE = [
    "let c = at % p.width;",
    "let i = p.first + at / p.width % p.rest;",
    "let b = at / (p.width * p.rest);",
    "let base = b * p.n * p.n + p.at_a;",
    "let to = b * p.n * p.width + c;",
    "var sum = T();",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  sum += mul(a[base + i * p.n + k], x[to + k * p.width]);",
    "}",
    "x[to + i * p.width] -= sum;",
]
