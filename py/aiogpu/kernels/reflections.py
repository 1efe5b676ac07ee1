"""QR by Householder's reflections (Golub and Van Loan, "Matrix Computations", 5.2; LAPACK's geqr2).

A block of columns is factored by the lanes of a matrix; the columns beside it are reflected one
invocation each.
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

# The largest element is 1 at first, but what is left of columns that depend on those before them
# falls by the rounding error each time, and squares vanish below 2^-63. So they are taken of what
# is so much larger, and columns of less than 2^-90, whose squares would vanish again, stay as they
# are.
_LIFT, _DROP, _LEAST = "0x1p45", "0x1p-45", "0x1p-90"


def qr(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Outputs: Q, of as many columns as the node's shape says, and R."""
    made = Launches(step, limits, cache)
    *batch_shape, m, wide = step.core.shape  # of Q
    n = step.views[0].shape[-1]
    count = min(m, n)
    high = wide  # of R
    batch = prod(batch_shape)
    out = len(step.inputs)
    q, r = Bound("q", "T", out, True), Bound("r", "T", out + 1, True)
    a, taus = Bound("a", "T", out + 2, True), Bound("taus", "T", out + 3, True)
    words = {"batch": batch, "m": m, "n": n, "count": count}
    made.add(
        "take", [*made.each("p.total"), "a[at] = given[p.offset + at];"],
        [Bound("given", "T", step.slots[0]), a],
        {"total": batch * m * n, "offset": step.views[0].offset},
        groups_of(batch * m * n), WORKGROUP * 2,
    )  # fmt: skip
    blocks = made.blocks(count, 2 * m + 2)
    for start, end in blocks:
        block = words | {"k0": start, "k1": end}
        width = end - start
        cost = (m - start) * width
        for first, last in made.pieces(start, end, (m - start) * (2 * width + 2)):
            made.add(
                "panel", _panel(made), [a, taus], block | {"first": first, "last": last},
                made.matrix_groups(batch), made.matrix_cost(4 * cost * (last - first)),
                declarations=made.meeting("sum", "mine + other"),
            )  # fmt: skip
        if n > end:
            lines = [*made.each("p.batch * (p.n - p.k1)"), *_APPLY]
            made.add(
                "apply", lines, [a, taus], block, groups_of(batch * (n - end)),
                WORKGROUP * 4 * cost,
            )  # fmt: skip
    made.add(
        "upper", [*made.each("p.total"), *_UPPER], [a, r],
        {"total": batch * high * n, "m": m, "n": n, "high": high},
        groups_of(batch * high * n), WORKGROUP * 4,
    )  # fmt: skip
    made.add(
        "eye", [*made.each("p.total"), *_EYE], [q],
        {"total": batch * m * wide, "m": m, "wide": wide},
        groups_of(batch * m * wide), WORKGROUP * 4,
    )  # fmt: skip
    for start, end in reversed(blocks):
        made.add(
            "unfold", [*made.each("p.batch * p.wide"), *_UNFOLD], [a, taus, q],
            words | {"k0": start, "k1": end, "wide": wide}, groups_of(batch * wide),
            WORKGROUP * 4 * (m - start) * (end - start),
        )  # fmt: skip
    nbytes = step.core.dtype.itemsize
    return Program(tuple(made.made), (batch * m * n * nbytes, batch * count * nbytes))


def _panel(made: Launches) -> list[str]:
    sync = [f"  {line}" for line in made.sync]
    return [
        *made.each_matrix(),
        "let base = b * p.m * p.n;",
        "for (var k = p.first; k < p.last; k++) {",
        "  let alpha = a[base + k * p.n + k];",
        "  var part = 0.0;",
        f"  for (var i = k + 1u + lane; i < p.m; i += {made.lanes}) {{",
        f"    part += abs2(a[base + i * p.n + k] * {_LIFT});",
        "  }",
        "  let below = meet_sum(lane, part);",
        f"  let lifted = alpha * {_LIFT};",
        "  let whole = below + abs2(lifted);",
        # Nothing to reflect: below zeros, and real already; or all of it is as good as zeros.
        "  let is_real = abs2(lifted) == abs2(hermitian(lifted));",
        f"  let is_done = whole < {_LEAST} || (below == 0.0 && is_real);",
        f"  let norm = ag_sqrt(whole) * {_DROP};",
        "  let beta = select(select(-norm, norm, real(alpha) < 0.0), 1.0, is_done);",
        "  let tau = tau_of(alpha, beta);",
        "  let scale = quotient(number(1.0), alpha - number(beta));",
        *sync,
        f"  for (var i = k + 1u + lane; i < p.m; i += {made.lanes}) {{",
        "    if (!is_done) { a[base + i * p.n + k] = mul(a[base + i * p.n + k], scale); }",
        "  }",
        "  if (lane == 0u) {",
        "    if (!is_done) { a[base + k * p.n + k] = number(beta); }",
        "    taus[b * p.count + k] = select(tau, T(), is_done);",
        "  }",
        *sync,
        "  let turn = conj(taus[b * p.count + k]);",
        f"  for (var c = k + 1u + lane; c < p.k1; c += {made.lanes}) {{",
        "    var dot = a[base + k * p.n + c];",
        "    for (var i = k + 1u; i < p.m; i++) {",
        "      dot += mul(conj(a[base + i * p.n + k]), a[base + i * p.n + c]);",
        "    }",
        "    dot = mul(turn, dot);",
        "    a[base + k * p.n + c] -= dot;",
        "    for (var i = k + 1u; i < p.m; i++) {",
        "      a[base + i * p.n + c] -= mul(a[base + i * p.n + k], dot);",
        "    }",
        "  }",
        *sync,
        "}",
    ]


_APPLY = [
    "let rest = p.n - p.k1;",
    "let b = at / rest;",
    "let c = p.k1 + at % rest;",
    "let base = b * p.m * p.n;",
    "for (var k = p.k0; k < p.k1; k++) {",
    "  var dot = a[base + k * p.n + c];",
    "  for (var i = k + 1u; i < p.m; i++) {",
    "    dot += mul(conj(a[base + i * p.n + k]), a[base + i * p.n + c]);",
    "  }",
    "  dot = mul(conj(taus[b * p.count + k]), dot);",
    "  a[base + k * p.n + c] -= dot;",
    "  for (var i = k + 1u; i < p.m; i++) {",
    "    a[base + i * p.n + c] -= mul(a[base + i * p.n + k], dot);",
    "  }",
    "}",
]
_UPPER = [
    "let c = at % p.n;",
    "let i = at / p.n % p.high;",
    "let b = at / (p.n * p.high);",
    "if (i > c) { r[at] = T(); return; }",
    "r[at] = a[(b * p.m + i) * p.n + c];",
]
_EYE = [
    "let c = at % p.wide;",
    "let i = at / p.wide % p.m;",
    "if (i == c) { q[at] = number(1.0); return; }",
    "q[at] = T();",
]
# The last reflection comes first.
_UNFOLD = [
    "let b = at / p.wide;",
    "let c = at % p.wide;",
    "let base = b * p.m * p.n;",
    "let to = b * p.m * p.wide + c;",
    "for (var above = p.k1; above > p.k0; above--) {",
    "  let k = above - 1u;",
    "  var dot = q[to + k * p.wide];",
    "  for (var i = k + 1u; i < p.m; i++) {",
    "    dot += mul(conj(a[base + i * p.n + k]), q[to + i * p.wide]);",
    "  }",
    "  dot = mul(taus[b * p.count + k], dot);",
    "  q[to + k * p.wide] -= dot;",
    "  for (var i = k + 1u; i < p.m; i++) {",
    "    q[to + i * p.wide] -= mul(a[base + i * p.n + k], dot);",
    "  }",
    "}",
]
