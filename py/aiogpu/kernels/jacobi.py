"""Eigenvalues of Hermitian matrices, and singular values, by Jacobi's rotations.

Every round rotates pairs of indices that do not meet, in the order of a tournament (Brent and
Luk, "The solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays",
1985), so that no invocation of a launch depends on another. Eigenvalues by rotations from both
sides, a launch for the angles and one that applies them; singular values by rotations of columns
until they are orthogonal (Hestenes, "Inversion of matrices by biorthogonalization", 1958).
Rotations are applied by sines and the tangent of half the angle (Rutishauser 1966), so that a small
one changes no norm.
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


def sweeps(n: int) -> int:
    """How often all pairs are rotated: until float32 matrices of size ``n`` have converged.

    Measured on random, graded and clustered spectra, of which the last take longest.
    """
    return min(16, 5 + n.bit_length()) if n > 2 else 2


# Which indices meet in a round, the smaller first. ``rows`` is even: one may be beyond the end.
_PAIR = """\
fn pair_of(number: u32) -> vec2u {
  let ring = p.rows - 1u;
  if (number == 0u) { return vec2u(p.round, ring); }
  let one = (p.round + number) % ring;
  let two = (p.round + ring - number) % ring;
  return vec2u(min(one, two), max(one, two));
}
"""
# How a pair is rotated: the sine, the tangent of half the angle, and the phase of the second. What
# is left below 1e-8 of the largest element is below what float32 holds beside it, and the phase of
# what nears the subnormal numbers would not have length 1.
_STRUCT = "struct Rotation { sine: f32, half: f32, phase: T }\n"
_ROTATION = """\
fn rotation(first: f32, cross: T, second: f32, least: f32) -> Rotation {
  let far = size(cross);
  if (far <= least) {
    return Rotation(0.0, 0.0, number(1.0));
  }
  let ratio = ag_div_f32(0.5 * (second - first), far);
  let sum = abs(ratio) + ag_sqrt(1.0 + ratio * ratio);
  let tangent = select(ag_div_f32(1.0, sum), -ag_div_f32(1.0, sum), ratio < 0.0);
  let cosine = ag_div_f32(1.0, ag_sqrt(1.0 + tangent * tangent));
  let sine = tangent * cosine;
  return Rotation(sine, ag_div_f32(sine, 1.0 + cosine), conj(quotient(cross, number(far))));
}
"""
# Columns x, y become c x - s phase y and s x + c phase y.
_TURN = """\
fn times_real(a: T, s: f32) -> T { return a * s; }
fn turned_first(x: T, y: T, how: Rotation) -> T {
  return x - times_real(mul(how.phase, y) + times_real(x, how.half), how.sine);
}
fn turned_second(x: T, y: T, how: Rotation) -> T {
  let z = mul(how.phase, y);
  return z + times_real(x - times_real(z, how.half), how.sine);
}
"""
# A total order of floats, so that every value has a place of its own, NaN included.
_KEY = """\
fn key(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u);
}
"""


def eigh(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Outputs: eigenvalues in ascending order; and, if asked for, eigenvectors as columns."""
    made = Launches(step, limits, cache)
    attrs = step.core.attrs
    assert attrs is not None
    has_vectors: bool = attrs["vectors"]
    *batch_shape, n = step.core.shape
    batch = prod(batch_shape)
    out = len(step.inputs)
    values = Bound("values", "f32", out, True)
    first = out + 1 + has_vectors
    high = 2 * n if has_vectors else n  # the vectors lie below the matrix
    rows = n + n % 2
    pairs = rows // 2
    words = {"batch": batch, "n": n, "high": high, "rows": rows}
    made.add(
        "take", [*made.each("p.total"), *_EIGH_TAKE],
        [Bound("given", "T", step.slots[0]), Bound("a", "T", first, True)],
        words | {"total": batch * high * n, "offset": step.views[0].offset},
        groups_of(batch * high * n), WORKGROUP * 6,
    )  # fmt: skip
    tall = pairs * 2 if has_vectors else pairs
    angles = Bound("angles", "vec4f", first + 2, True)
    angle = [*made.each("p.batch * (p.rows / 2u)"), *_EIGH_ANGLE]
    lines = [*made.each("p.batch * p.tall * (p.rows / 2u)"), *_EIGH_ROUND]
    old, new = first, first + 1
    for round_ in [*range(rows - 1)] * sweeps(n):
        made.add(
            "angles", angle, [Bound("a", "T", old), angles], words | {"round": round_},
            groups_of(batch * pairs), WORKGROUP * 160, declarations=_PAIR + _STRUCT + _ROTATION,
        )  # fmt: skip
        made.add(
            "round", lines, [Bound("a", "T", old), angles._replace(is_written=False),
                             Bound("next", "T", new, True)],
            words | {"tall": tall, "round": round_}, groups_of(batch * tall * pairs),
            WORKGROUP * 48, declarations=_PAIR + _STRUCT + _TURN + _EIGH_HOW,
        )  # fmt: skip
        old, new = new, old
    vectors = [Bound("vectors", "T", out + 1, True)] if has_vectors else []
    made.add(
        "arrange with vectors" if has_vectors else "arrange",
        [*made.each("p.batch * p.n"), *_EIGH_ARRANGE, *(_EIGH_VECTORS if has_vectors else [])],
        [Bound("a", "T", old), values, *vectors], words,
        groups_of(batch * n), WORKGROUP * n * 8, declarations=_KEY,
    )  # fmt: skip
    nbytes = step.core.inputs[0].dtype.itemsize * batch * high * n
    return Program(tuple(made.made), (nbytes, nbytes, 16 * batch * pairs))


_EIGH_TAKE = [
    "let c = at % p.n;",
    "let i = at / p.n % p.high;",
    "let b = at / (p.n * p.high);",
    "if (i >= p.n) {",
    "  a[at] = select(T(), number(1.0), i - p.n == c);",
    "  return;",
    "}",
    # The lower half is what counts.
    "let value = given[p.offset + (b * p.n + max(i, c)) * p.n + min(i, c)];",
    "if (i == c) { a[at] = hermitian(value); return; }",
    "if (i < c) { a[at] = conj(value); return; }",
    "a[at] = value;",
]
_EIGH_ANGLE = [
    "let pair = pair_of(at % (p.rows / 2u));",
    "let base = at / (p.rows / 2u) * p.high * p.n;",
    "if (pair.y >= p.n) {",
    "  angles[at] = vec4f(0.0, 0.0, 1.0, 0.0);",
    "  return;",
    "}",
    "let first = real(a[base + pair.x * (p.n + 1u)]);",
    "let second = real(a[base + pair.y * (p.n + 1u)]);",
    "let how = rotation(first, a[base + pair.x * p.n + pair.y], second, 1e-8);",
    "angles[at] = vec4f(how.sine, how.half, parts(how.phase));",
]
_EIGH_HOW = """\
fn angle(at: u32) -> Rotation {
  let how = angles[at];
  return Rotation(how.x, how.y, of_parts(how.zw));
}
"""
# An invocation turns four elements: two rows by two columns, or two rows of vectors.
_EIGH_ROUND = [
    "let half = p.rows / 2u;",
    "let right = at % half;",
    "let left = at / half % p.tall;",
    "let b = at / (half * p.tall);",
    "let base = b * p.high * p.n;",
    "let columns = pair_of(right);",
    "let is_vectors = left >= half;",
    "var lines = pair_of(min(left, half - 1u));",
    "if (is_vectors) { lines = p.n + vec2u(2u * (left - half), 2u * (left - half) + 1u); }",
    "let limit = select(p.n, p.high, is_vectors);",
    "let has_column = columns.y < p.n;",
    "let has_line = lines.y < limit;",
    "if (lines.x >= limit) { return; }",
    "let one = base + lines.x * p.n;",
    "let two = base + lines.y * p.n;",
    "var xx = a[one + columns.x];",
    "var xy = T();",
    "var yx = T();",
    "var yy = T();",
    "if (has_column) { xy = a[one + columns.y]; }",
    "if (has_line) { yx = a[two + columns.x]; }",
    "if (has_column && has_line) { yy = a[two + columns.y]; }",
    "if (has_column) {",
    "  let how = angle(b * half + right);",
    "  let kept = xx;",
    "  xx = turned_first(kept, xy, how);",
    "  xy = turned_second(kept, xy, how);",
    "  let below = yx;",
    "  yx = turned_first(below, yy, how);",
    "  yy = turned_second(below, yy, how);",
    "}",
    "if (has_line && !is_vectors) {",
    "  var how = angle(b * half + left);",
    "  how.phase = conj(how.phase);",
    "  let kept = xx;",
    "  xx = turned_first(kept, yx, how);",
    "  yx = turned_second(kept, yx, how);",
    "  let beside = xy;",
    "  xy = turned_first(beside, yy, how);",
    "  yy = turned_second(beside, yy, how);",
    "  if (left == right) {",  # what the rotation was made for
    "    xx = hermitian(xx);",
    "    xy = T();",
    "    yx = T();",
    "    yy = hermitian(yy);",
    "  }",
    "}",
    "next[one + columns.x] = xx;",
    "if (has_column) { next[one + columns.y] = xy; }",
    "if (has_line) { next[two + columns.x] = yx; }",
    "if (has_column && has_line) { next[two + columns.y] = yy; }",
]
_EIGH_ARRANGE = [
    "let b = at / p.n;",
    "let c = at % p.n;",
    "let base = b * p.high * p.n;",
    "let value = real(a[base + c * (p.n + 1u)]);",
    "let mine = key(value);",
    "var place = 0u;",
    "for (var i = 0u; i < p.n; i++) {",
    "  let other = key(real(a[base + i * (p.n + 1u)]));",
    "  if (other < mine || (other == mine && i < c)) { place++; }",
    "}",
    "values[b * p.n + place] = value;",
]
# Their norms have drifted from 1 by rounding.
_EIGH_VECTORS = [
    "var square = 0.0;",
    "for (var i = p.n; i < p.high; i++) { square += abs2(a[base + i * p.n + c]); }",
    "let scale = ag_div_f32(1.0, ag_sqrt(square));",
    "for (var i = 0u; i < p.n; i++) {",
    "  vectors[(b * p.n + i) * p.n + place] = a[base + (p.n + i) * p.n + c] * scale;",
    "}",
]


def svd(step: Step, limits: Limits, cache: TextCache) -> Program:
    """Outputs: singular values in descending order; and, if asked for, the two sets of vectors.

    The left ones are columns as they came out, zeros where the singular value is: they want to be
    completed to an orthonormal set (see `aiogpu.graph.matrices.svd`). The right ones are columns.
    """
    made = Launches(step, limits, cache)
    attrs = step.core.attrs
    assert attrs is not None
    has_vectors: bool = attrs["vectors"]
    *batch_shape, n = step.core.shape
    m = step.views[0].shape[-2]
    batch = prod(batch_shape)
    out = len(step.inputs)
    values = Bound("values", "f32", out, True)
    work = Bound("a", "T", out + 1 + 2 * has_vectors, True)
    wide = m + n if has_vectors else m  # a column lies in a row, the right vectors' behind it
    rows = n + n % 2
    words = {"batch": batch, "m": m, "n": n, "wide": wide, "rows": rows}
    made.add(
        "take", [*made.each("p.total"), *_SVD_TAKE],
        [Bound("given", "T", step.slots[0]), work],
        words | {"total": batch * n * wide, "offset": step.views[0].offset},
        groups_of(batch * n * wide), WORKGROUP * 6,
    )  # fmt: skip
    lines = [*_each_pair(made), *_svd_round(made)]
    meet = made.meeting("sum", "mine + other")
    for round_ in [*range(rows - 1)] * sweeps(n):
        made.add(
            "round", lines, [work], words | {"round": round_},
            made.matrix_groups(batch * (rows // 2)), made.matrix_cost(12 * wide),
            declarations=_PAIR + _STRUCT + _ROTATION + _TURN + meet,
        )  # fmt: skip
    lengths = Bound("lengths", "f32", work.slot + 1, True)
    made.add(
        "lengths", [*made.each("p.batch * p.n"), *_SVD_LENGTHS], [work, lengths], words,
        groups_of(batch * n), WORKGROUP * 2 * m,
    )  # fmt: skip
    slots = (out + 1, out + 2) if has_vectors else ()
    vectors = [Bound(name, "T", slot, True) for name, slot in zip(("u", "v"), slots, strict=False)]
    made.add(
        "arrange with vectors" if has_vectors else "arrange",
        [*made.each("p.batch * p.n"), *_SVD_ARRANGE, *(_SVD_VECTORS if has_vectors else [])],
        [*([work] if has_vectors else []), lengths, values, *vectors], words,
        groups_of(batch * n), WORKGROUP * (n + wide) * 4, declarations=_KEY,
    )  # fmt: skip
    nbytes = step.core.inputs[0].dtype.itemsize * batch * n * wide
    return Program(tuple(made.made), (nbytes, 4 * batch * n))


_SVD_TAKE = [
    "let j = at % p.wide;",
    "let c = at / p.wide % p.n;",
    "let b = at / (p.wide * p.n);",
    "if (j >= p.m) { a[at] = select(T(), number(1.0), j - p.m == c); return; }",
    "a[at] = given[p.offset + (b * p.m + j) * p.n + c];",
]


def _each_pair(made: Launches) -> list[str]:
    count = "p.batch * (p.rows / 2u)"
    if made.is_alone:
        return [*made.each(count), "let lane = 0u;"]
    return ["let at = group;", f"if (at >= {count}) {{ return; }}", "let lane = lid;"]


def _svd_round(made: Launches) -> list[str]:
    return [
        "let half = p.rows / 2u;",
        "let pair = pair_of(at % half);",
        "let b = at / half;",
        "if (pair.y >= p.n) { return; }",
        "let one = (b * p.n + pair.x) * p.wide;",
        "let two = (b * p.n + pair.y) * p.wide;",
        "var first = 0.0;",
        "var second = 0.0;",
        "var cross = T();",
        f"for (var i = lane; i < p.m; i += {made.lanes}) {{",
        "  let x = a[one + i];",
        "  let y = a[two + i];",
        "  first += abs2(x);",
        "  second += abs2(y);",
        "  cross += mul(conj(x), y);",
        "}",
        "first = meet_sum(lane, first);",
        "second = meet_sum(lane, second);",
        *(
            ["cross = meet_sum(lane, cross);"]
            if made.kind == "f32"
            else ["cross = vec2f(meet_sum(lane, cross.x), meet_sum(lane, cross.y));"]
        ),
        "let least = max(5e-8 * ag_sqrt(first * second), 1e-10 * (first + second));",
        "let how = rotation(first, cross, second, max(least, 1e-30));",
        f"for (var i = lane; i < p.wide; i += {made.lanes}) {{",
        "  let x = a[one + i];",
        "  let y = a[two + i];",
        "  a[one + i] = turned_first(x, y, how);",
        "  a[two + i] = turned_second(x, y, how);",
        "}",
    ]


_SVD_LENGTHS = [
    "var square = 0.0;",
    "for (var i = 0u; i < p.m; i++) { square += abs2(a[at * p.wide + i]); }",
    "lengths[at] = ag_sqrt(square);",
]
_SVD_ARRANGE = [
    "let b = at / p.n;",
    "let c = at % p.n;",
    "let value = lengths[at];",
    "let mine = key(value);",
    "var place = 0u;",
    "var most = 0.0;",
    "for (var i = 0u; i < p.n; i++) {",
    "  let found = lengths[b * p.n + i];",
    "  most = max(most, found);",
    "  let other = key(found);",
    "  if (other > mine || (other == mine && i < c)) { place++; }",
    "}",
    "values[b * p.n + place] = value;",
]
# Directions of columns that are nothing but rounding errors are left to whoever completes them.
_SVD_VECTORS = [
    "let is_zero = value <= most * 1e-6;",
    "let scale = select(ag_div_f32(1.0, value), 0.0, is_zero);",
    "for (var i = 0u; i < p.m; i++) {",
    "  u[(b * p.m + i) * p.n + place] = a[at * p.wide + i] * scale;",
    "}",
    "var square = 0.0;",
    "for (var i = p.m; i < p.wide; i++) { square += abs2(a[at * p.wide + i]); }",
    "let length = ag_div_f32(1.0, ag_sqrt(square));",  # has drifted from 1 by rounding
    "for (var i = 0u; i < p.n; i++) {",
    "  v[(b * p.n + i) * p.n + place] = a[at * p.wide + p.m + i] * length;",
    "}",
]
