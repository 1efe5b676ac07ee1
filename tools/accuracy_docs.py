"""Writes docs/accuracy.md from the table that the tests enforce and what was measured.

`--check` compares. The figures are those that `tools/accuracy.py` records.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from aiogpu.kernels.numerics import ACCURACY, COMPLEX_ACCURACY, NORMAL_ULP
from ulp import Worst, too_far

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "accuracy.md"
FIGURES = ROOT / "bench" / "results" / "accuracy.json"
COLUMNS = {"swiftshader": "SwiftShader", "lavapipe": "lavapipe", "h200": "NVIDIA H200"}


class Measurement(TypedDict):
    """What was measured on one adapter.

    Attributes:
        adapter: Its description.
        through: The implementation of WebGPU, or the browser.
        date: ISO 8601.
        points: How many arguments were spread over each domain; there were more.
        functions: The worst result of each.
    """

    adapter: str
    through: str
    date: str
    points: int
    functions: dict[str, Worst]


INTRODUCTION = """\
# How exact the elementary functions are

<!-- Written by tools/accuracy_docs.py; do not edit. -->

WGSL promises little: on software adapters its own `sin` is off by 2e-4 between -pi and pi, and
`exp` by dozens of units in the last place. So the elementary functions are our own range reductions
and polynomials (`kernels/numerics`), the same on every adapter. This table is what the tests
enforce, as the bound: the most units in the last place (ulp) by which a float32 result is off in
the domain.

Special values are those of IEEE 754 and C99: NaN, infinities, signed zeros, overflow. Results and
arguments below 2^-126 in magnitude may be flushed to 0. Everything else, such as rounding, casts,
comparisons, `maximum`, and integers, is exact; `floor_divide` may differ by 1 ulp where the
quotient is 2^23 or more. Sums and means of float32 carry their rounding errors along.

A figure under an adapter is the worst of at least {points} results there: `make accuracy` measures
it, and in browsers `bench/accuracy.html`. The arguments are uniform in the domain and in the
exponent; crowded about the ends, the powers of two and the multiples of ln 2 / 2 and of pi / 4; the
floats closest to multiples of pi / 2; the worst of whole binades, every float of which was tried;
and special values, in the domain or not. NumPy in float64 says what is right.
`bench/results/accuracy.json` has the worst arguments.

"""

RANDOM = f"""
## Random numbers

Integers, `random` and `uniform` are the same to the bit on every adapter. `normal` is off what its
two words stand for, by Box and Muller, by at most {NORMAL_ULP:g} ulp
(`tests/browser/test_random.py`; the worst of four million draws on SwiftShader: 3.37).
"""

COMPLEX = """
## complex64

An error of a complex result is its distance from the right one, over the right one's modulus, in
units of 2^-24, each from half a ulp to a whole one. A part that is far smaller than the other is as
exact as the whole. The magnitude is that of the parts of the arguments, for `pow` that of w log z.
Infinities, NaN and the sides of branch cuts are those of the Array API standard, which are C99's;
products are by the textbook, quotients know one infinity, as in C99
(`tests/wgsl/test_numerics_complex.py`, on SwiftShader).

| function | magnitude up to | most units |
| --- | --- | --- |
"""


def number(value: float) -> str:
    """A bound as it is read: the ends of float32 by their meaning."""
    if abs(value) > 3.4e38:
        return "largest" if value > 0 else "-largest"
    return "smallest normal" if 0 < value < 1.2e-38 else f"{value:.8g}"


def shown(name: str) -> str:
    """A function as users call it."""
    plain = name.removeprefix("ag_").removesuffix("_f32")
    return {"div": "divide"}.get(plain, plain)


def page(measured: Mapping[str, Measurement]) -> str:
    """The whole page.

    Raises:
        SystemExit: A measured figure is missing, or is worse than the table allows.
    """
    columns = {key: title for key, title in COLUMNS.items() if key in measured}
    check(measured)
    points = min(measured[key]["points"] for key in columns)
    lines = [
        "| " + " | ".join(["operation", "domain", "bound", *columns.values()]) + " |",
        "| --- | --- | --- |" + " --- |" * len(columns),
    ]
    for name, (low, high, ulp) in ACCURACY.items():
        found = [figure(measured[key]["functions"].get(name)) for key in columns]
        cells = [f"`{shown(name)}`", f"{number(low)} to {number(high)}", f"{ulp:g}", *found]
        lines.append("| " + " | ".join(cells) + " |")
    notes = [f"- {title}: {facts(measured[key])}" for key, title in columns.items()]
    text = INTRODUCTION.format(points=points) + "\n".join([*lines, "", *notes]) + "\n"
    named = {"ag_cdiv": "divide", "ag_cmul": "multiply"}
    rows = (
        f"| `{named.get(name, name.removeprefix('ag_c'))}` | {number(most)} | {units:g} |\n"
        for name, (most, units) in COMPLEX_ACCURACY.items()
    )
    return text + RANDOM + COMPLEX + "".join(rows)


def facts(figures: Measurement) -> str:
    """Where and when something was measured."""
    return f"{figures['adapter']}; {figures['through']}; {figures['date']}"


def figure(found: Worst | None) -> str:
    """A cell of the table; empty for a function that is newer than the measurement."""
    return f"{found['ulp']:.2f}" if found else ""


def check(measured: Mapping[str, Measurement]) -> None:
    """Refuse figures that are not those of the present table.

    Raises:
        SystemExit: A figure of a software adapter is missing, or any is worse than its bound.
    """
    for key in ("swiftshader", "lavapipe"):
        found = measured[key]["functions"] if key in measured else {}
        if missing := sorted(ACCURACY.keys() - found.keys()):
            raise SystemExit(f"accuracy: {key}: {', '.join(missing)}: missing: `make accuracy`")
    for key, figures in measured.items():
        if wrong := too_far(figures["functions"]):
            raise SystemExit("\n".join([f"accuracy: {key}: worse than the table allows:", *wrong]))


def recorded() -> dict[str, Measurement]:
    """The figures of bench/results/accuracy.json."""
    found: dict[str, Measurement] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def write() -> None:
    """Write the page from the recorded figures."""
    TARGET.write_text(page(recorded()), encoding="utf-8")


def main() -> None:
    """Write the page, or with ``--check`` fail when it is not up to date."""
    if "--check" not in sys.argv:
        write()
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != page(recorded()):
        raise SystemExit("docs/accuracy.md is not up to date: run tools/accuracy_docs.py")


if __name__ == "__main__":
    main()
