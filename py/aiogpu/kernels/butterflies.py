"""Fourier transforms of 1 to 8 numbers as WGSL statements, and roots of unity."""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Final

RADICES: Final = (8, 7, 5, 3, 4, 2)

# exp(-2 pi i k / n) for k < n < 2^30. The angle is taken modulo a quarter turn by its index, in
# integers, so that it is as exact for large k; ``quarter`` is pi / 2 / n. The index is converted as
# an i32: SwiftShader rounds one u32 in twelve wrongly.
ROOT: Final = """\
fn root(k: u32, n: u32, quarter: f32) -> vec2f {
  let turns = (4u * k + n / 2u) / n;
  let both = ag_sin_cos(f32(i32(4u * k - turns * n)) * quarter);
  let odd = (turns & 1u) != 0u;
  let c = select(both.y, -both.x, odd);
  let s = select(both.x, both.y, odd);
  return select(vec2f(c, -s), vec2f(-c, s), (turns & 2u) != 0u);
}
"""
TIMES: Final = """\
fn times(a: vec2f, b: vec2f) -> vec2f {
  return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
"""


def radices(length: int) -> list[int] | None:
    """The passes of a transform of ``length``, or None where a prime above 7 divides it."""
    found = []
    for radix in RADICES:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return (found or [1]) if length == 1 else None


def butterfly(names: list[str], tag: str = "y") -> tuple[list[str], list[str]]:
    """Statements that transform the complex numbers ``names``, and the names of the results."""
    count = len(names)
    if count == 1:
        return [], names
    if count % 2 == 0:
        return _even(names, tag)
    return _odd(names, tag)


def _even(names: list[str], tag: str) -> tuple[list[str], list[str]]:
    """By the transforms of every second number (Cooley and Tukey 1965)."""
    half = len(names) // 2
    lines, evens = butterfly(names[::2], f"{tag}e")
    more, odds = butterfly(names[1::2], f"{tag}o")
    lines += more
    results = [f"{tag}{k}" for k in range(2 * half)]
    for k in range(half):
        turned = f"{tag}t{k}"
        lines += [
            f"let {turned} = {_turned(odds[k], k, 2 * half)};",
            f"let {results[k]} = {evens[k]} + {turned};",
            f"let {results[k + half]} = {evens[k]} - {turned};",
        ]
    return lines, results


def _turned(z: str, k: int, n: int) -> str:
    """``z`` times exp(-2 pi i k / n), for n of 2, 4 and 8."""
    eighth = 8 * k // n
    diagonal = repr(sqrt(0.5))
    return (
        z,
        f"vec2f({z}.x + {z}.y, {z}.y - {z}.x) * {diagonal}",
        f"vec2f({z}.y, -{z}.x)",
        f"vec2f({z}.y - {z}.x, -{z}.x - {z}.y) * {diagonal}",
    )[eighth]


def _odd(names: list[str], tag: str) -> tuple[list[str], list[str]]:
    """By sums and differences of what lies opposite: cosines of the ones, sines of the others."""
    count = len(names)
    half = count // 2
    lines = []
    for j in range(1, half + 1):
        one, two = names[j], names[count - j]
        lines += [f"let {tag}s{j} = {one} + {two};", f"let {tag}d{j} = {one} - {two};"]
    each = range(1, half + 1)
    lines.append(f"let {tag}0 = {names[0]} + {' + '.join(f'{tag}s{j}' for j in each)};")
    for k in each:
        cosines = [f"{tag}s{j} * {cos(2 * pi * j * k / count)!r}" for j in each]
        sines = [f"{tag}d{j} * {sin(2 * pi * j * k / count)!r}" for j in each]
        lines += [
            f"let {tag}a{k} = {names[0]} + {' + '.join(cosines)};",
            f"let {tag}b{k} = {' + '.join(sines)};",
            f"let {tag}{k} = vec2f({tag}a{k}.x + {tag}b{k}.y, {tag}a{k}.y - {tag}b{k}.x);",
            f"let {tag}{count - k} = vec2f({tag}a{k}.x - {tag}b{k}.y, {tag}a{k}.y + {tag}b{k}.x);",
        ]
    return lines, [f"{tag}{k}" for k in range(count)]
