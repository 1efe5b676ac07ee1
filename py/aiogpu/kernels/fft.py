"""Discrete Fourier transforms along an axis, of any length.

Lengths of the primes 2, 3, 5 and 7: Stockham's passes through global memory, radix 8 first, without
barriers and without a bit reversal (Govindaraju and others, "High performance discrete Fourier
transforms on graphics processors", 2008). Other lengths: as a convolution with a chirp, of a length
of small primes (Bluestein, "A linear filtering approach to the computation of the discrete Fourier
transform", 1970). Roots of unity are computed where they are needed.

All passes transform forwards; an inverse one conjugates what it reads first and stores last. The
first pass reads its operand by the step's body, the last one writes by the step's finish.
"""

from __future__ import annotations

from math import pi, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu import dtypes
from aiogpu.kernels.butterflies import ROOT, TIMES, butterfly, radices
from aiogpu.kernels.fused import Fused
from aiogpu.kernels.writer import Params, TextCache, indent, launch, shader
from aiogpu.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiogpu.limits import Limits
    from aiogpu.program import Launch, ParamSpace
    from aiogpu.schedule.step import Step

WORKGROUP: Final = 64
_COMPLEX_NBYTES: Final = 8

# exp(-pi i j^2 / n), j^2 modulo 2 n by digits of 4 bits where it does not fit a word.
_CHIRP: Final = """\
fn chirp(j: u32) -> vec2f {
  let m = 2u * p.n;
  var square = 0u;
  if (p.n <= 65536u) {
    square = (j * j) % m;
  } else {
    for (var bit = 28u; bit > 0u; bit -= 4u) {
      square = ((square << 4u) % m + (((j >> (bit - 4u)) & 15u) * j) % m) % m;
    }
  }
  return root(square, m, p.chirp_quarter);
}
"""


class _Pass(NamedTuple):
    """One launch.

    Attributes:
        radix: Numbers that an invocation transforms.
        ns: The product of the radices of the passes before.
        length: Of the transform.
        source: Where numbers come from: ``operand``, ``temp``, or ``chirp``, what Bluestein's
            numbers are convolved with.
        sink: Where they go: ``out``, ``temp``, or ``spectrum``: times the chirp's transform.
    """

    radix: int
    ns: int
    length: int
    source: str
    sink: str


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a transform along ``axis``; see `aiogpu.graph.transforms.transform`."""
    return _Renderer(step, limits, cache).program()


class _Renderer:
    def __init__(self, step: Step, limits: Limits, cache: TextCache) -> None:
        attrs = step.core.attrs
        assert attrs is not None
        assert step.body is not None
        axis = attrs["axis"]
        space = step.body.space
        self._step, self._limits, self._cache = step, limits, cache
        self._attrs = attrs
        self._given = space[axis]
        self._keep = step.core.shape[axis]
        self._outer, self._inner = prod(space[:axis]), prod(space[axis + 1 :])
        self._n: int = attrs["n"]
        self._is_chirped = False
        self._out = len(step.inputs)

    def program(self) -> Program:
        stages = radices(self._n)
        first = self._out + 1
        if stages is not None:
            passes = list(_passes(stages, self._n, "operand", "out"))
            launches, ntemps = self._chain(passes, None, (first, first + 1), self._out)
            nbytes = _COMPLEX_NBYTES * self._outer * self._inner * self._n
            return Program(tuple(launches), (nbytes,) * ntemps)
        self._is_chirped = True
        length = _padded(2 * self._n - 1)
        stages = radices(length)
        assert stages is not None
        spectra = first + 2, first + 3
        launches, _ = self._chain(
            list(_passes(stages, length, "chirp", "temp")), None, spectra, spectra[0]
        )
        there, _ = self._chain(
            list(_passes(stages, length, "operand", "spectrum")), spectra[0], (first, first + 1),
            first,
        )  # fmt: skip
        back, _ = self._chain(
            list(_passes(stages, length, "temp", "out")), first, (first + 1, first), self._out
        )
        nbytes = _COMPLEX_NBYTES * length
        size = self._outer * self._inner * nbytes
        return Program((*launches, *there, *back), (size, size, nbytes, nbytes))

    def _chain(
        self, passes: list[_Pass], beside: int | None, temps: tuple[int, int], target: int
    ) -> tuple[list[Launch], int]:
        """Launches of which each reads what the one before wrote, the last into ``target``.

        ``beside`` is what the first reads where that is not the operand, or what the last
        multiplies by.
        """
        between = len(passes) - 1
        is_alone = passes[0].source == "chirp"  # one transform, for all that are asked for
        # The pass before the last must not write where the last one does.
        shift = int(between > 0 and temps[(between - 1) % 2] == target)
        places = [temps[(at + shift) % 2] for at in range(between)]
        launches = []
        for at, each in enumerate(passes):
            sources = [places[at - 1]] if at else []
            if beside is not None and each.source == "temp" and not at:
                sources = [beside]
            if each.sink == "spectrum":
                assert beside is not None
                sources.append(beside)
            launches.append(
                self._launch(
                    each, sources, target if at == between else places[at], is_alone=is_alone
                )
            )
        return launches, min(between, 2)

    def _launch(self, each: _Pass, sources: list[int], target: int, *, is_alone: bool) -> Launch:
        is_first, is_last = each.source == "operand", each.sink == "out"
        fused = Fused(
            self._step, self._limits, is_first=is_first, is_last=is_last, is_scattered=True
        )
        inner, outer = (1, 1) if is_alone else (self._inner, self._outer)
        params = Params()
        per = each.length // each.radix
        span = each.ns * each.radix
        for name, word in (
            ("count", outer * per * inner), ("inner", inner), ("length", each.length), ("per", per),
            ("ns", each.ns), ("span", span), ("n", self._n), ("given", self._given),
            ("keep", self._keep),
        ):  # fmt: skip
            params.add(name, word)
        scale = self._attrs["scale"] / (each.length if self._is_chirped else 1)
        for name, number in (
            ("quarter", pi / 2 / span), ("chirp_quarter", pi / 4 / self._n), ("scale", scale),
            ("turn", -1.0 if self._attrs["inverse"] else 1.0),
        ):  # fmt: skip
            params.add(name, dtypes.word(number, dtypes.FLOAT), "f32")
        fused.add_params(params)
        params.ensure_zero()
        space = params.space(self._limits)
        is_twisted = each.ns > 1
        key = ("fft", each.radix, is_twisted, each.source, each.sink, self._is_chirped,
               self._attrs["hermitian"], self._step.core.dtype, space, fused.key)  # fmt: skip
        wgsl = self._cache.get(key)
        if wgsl is None:
            wgsl = self._cache.put(key, self._text(each, fused, params, space))
        groups = -(-outer * per * inner // WORKGROUP)
        bindings = (*sources, *fused.slots, target)
        cost = WORKGROUP * each.radix * (40 + fused.ninstrs)
        return launch(wgsl, self._step.core.op.name, params, space, bindings, groups, cost)

    def _text(self, each: _Pass, fused: Fused, params: Params, space: ParamSpace) -> str:
        names = [f"v{r}" for r in range(each.radix)]
        lines = [
            f"let at = group * {WORKGROUP}u + lid;",
            "if (at >= p.count) { return; }",
            "let q = at % p.inner;",
            "let t = at / p.inner;",
            "let j = t % p.per;",
            "let o = t / p.per;",
        ]
        if each.ns > 1:
            lines.append("let jm = j % p.ns;")
        for r, name in enumerate(names):
            value = f"source(o, j + {r}u * p.per, q)"
            if each.ns > 1 and r:
                value = f"times({value}, root({r}u * jm, p.span, p.quarter))"
            lines.append(f"let {name} = {value};")
        more, results = butterfly(names)
        lines += more
        lines.append("let k0 = j / p.ns * p.span + jm;" if each.ns > 1 else "let k0 = j * p.span;")
        for r, name in enumerate(results):
            lines += self._store(each, fused, f"k0 + {r}u * p.ns", name)
        source = self._source(each)
        buffers = [] if each.source in {"operand", "chirp"} else [("temp", "vec2f", False)]
        if each.sink == "spectrum":
            buffers.append(("spectrum", "vec2f", False))
        buffers += fused.buffers()
        if each.sink != "out":
            buffers.append(("out", "vec2f", True))
        chirp = _CHIRP if self._is_chirped else ""
        return shader(
            space=space,
            params=params,
            buffers=buffers,
            declarations=f"{ROOT}{TIMES}{chirp}{fused.functions()}{source}",
            body=indent(lines),
            workgroup=WORKGROUP,
        )

    def _source(self, each: _Pass) -> str:
        """The function that gives number ``j`` of a transform."""
        if each.source == "temp":
            lines = ["return temp[(o * p.length + j) * p.inner + q];"]
        elif each.source == "chirp":
            lines = [
                "let k = select(p.length - j, j, j < p.n);",
                "if (k >= p.n) { return vec2f(); }",
                "let z = chirp(k);",
                "return vec2f(z.x, -z.y);",
            ]
        else:
            lines = self._read()
        return f"fn source(o: u32, j: u32, q: u32) -> vec2f {{\n{indent(lines)}}}\n"

    def _read(self) -> list[str]:
        """Statements that return number ``j`` of the operand: padded, completed, conjugated."""
        step = self._step
        assert step.body is not None
        is_real = step.body.dtype.kind != "complex"
        value = "vec2f(operand(i), 0.0)" if is_real else "operand(i)"
        if self._attrs["hermitian"]:
            lines = [
                "if (j >= p.n) { return vec2f(); }",
                "let mirrored = j > p.n / 2u;",
                "let k = select(j, p.n - j, mirrored);",
                "if (k >= p.given) { return vec2f(); }",
                "let turn = select(p.turn, -p.turn, mirrored);",
            ]
        else:
            lines = [
                "let k = j;",
                "if (k >= min(p.given, p.n)) { return vec2f(); }",
                "let turn = p.turn;",
            ]
        result = "times(z, chirp(j))" if self._is_chirped else "z"
        return [
            *lines,
            "let i = (o * p.given + k) * p.inner + q;",
            f"let given = {value};",
            "let z = vec2f(given.x, turn * given.y);",
            f"return {result};",
        ]

    def _store(self, each: _Pass, fused: Fused, k: str, value: str) -> list[str]:
        """Statements that put result ``k`` of a transform where it goes."""
        if each.sink != "out":
            at = "(o * p.length + k) * p.inner + q"
            lines = [f"let k = {k};", f"let z = {value};"]
            if each.sink == "spectrum":  # conjugated, as the way back begins
                lines += ["let y = times(z, spectrum[k]);", f"out[{at}] = vec2f(y.x, -y.y);"]
            else:
                lines.append(f"out[{at}] = z;")
            return ["{", *(f"  {line}" for line in lines), "}"]
        if self._is_chirped:
            value = f"times(vec2f({value}.x, -{value}.y), chirp(k))"
        lines = [
            f"let z = {value} * p.scale;",
            "let e = (o * p.keep + k) * p.inner + q;",
        ]
        is_real = self._step.core.dtype.kind != "complex"
        lines.append(f"let value = {'z.x' if is_real else 'vec2f(z.x, p.turn * z.y)'};")
        lines += fused.store("e", "value")
        return [
            "{",
            f"  let k = {k};",
            "  if (k < p.keep) {",
            *(f"    {line}" for line in lines),
            "  }",
            "}",
        ]


def _passes(stages: list[int], length: int, source: str, sink: str) -> Iterator[_Pass]:
    ns = 1
    for at, radix in enumerate(stages):
        is_last = at == len(stages) - 1
        yield _Pass(radix, ns, length, "temp" if at else source, sink if is_last else "temp")
        ns *= radix


def _padded(least: int) -> int:
    """The smallest length of at least so many numbers of which few passes are made."""
    return min(odd << max(0, (-(-least // odd) - 1).bit_length()) for odd in (1, 3, 5, 7, 9))
