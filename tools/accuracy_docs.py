"""Writes docs/accuracy.md from the table that the tests enforce; `--check` compares."""

import sys
from pathlib import Path

from aiogpu.kernels.numerics import ACCURACY

TARGET = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"

INTRODUCTION = """\
# How exact the elementary functions are

<!-- Written by tools/accuracy_docs.py; do not edit. -->

WGSL promises little: on software adapters its own `sin` is off by 2e-4 between -pi and pi, and
`exp` by dozens of units in the last place. So the elementary functions are our own range reductions
and polynomials (`kernels/numerics`), the same on every adapter. This table is what the tests
enforce: the most units in the last place (ulp) by which a float32 result is off in the domain.

Special values are those of IEEE 754 and C99: NaN, infinities, signed zeros, overflow. Results and
arguments below 2^-126 in magnitude may be flushed to 0. Everything else, such as rounding, casts,
comparisons, `maximum`, and integers, is exact; `floor_divide` may differ by 1 ulp where the
quotient is 2^23 or more. Sums and means of float32 carry their rounding errors along.

Measured on SwiftShader by Tint (`tests/wgsl/test_numerics_accuracy.py`), and by the conformance
page in Chromium, in Firefox on lavapipe, and once on an NVIDIA H200.

"""


def number(value: float) -> str:
    """A bound as it is read: the ends of float32 by their meaning."""
    if abs(value) > 3.4e38:
        return "largest" if value > 0 else "-largest"
    return "smallest normal" if 0 < value < 1.2e-38 else f"{value:.8g}"


def page() -> str:
    """The whole page."""
    lines = ["| function | domain | most ulp |", "| --- | --- | --- |"]
    for name, (low, high, ulp) in ACCURACY.items():
        plain = name.removeprefix("ag_").removesuffix("_f32")
        shown = {"div": "divide"}.get(plain, plain)
        lines.append(f"| `{shown}` | {number(low)} to {number(high)} | {ulp:g} |")
    return INTRODUCTION + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or with ``--check`` fail when it is not up to date."""
    text = page()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        raise SystemExit("docs/accuracy.md is not up to date: run tools/accuracy_docs.py")


if __name__ == "__main__":
    main()
