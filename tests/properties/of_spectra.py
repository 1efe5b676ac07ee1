"""Fourier transforms.

Tolerance: the norm of the error against that of what a transform of such an operand has. Every pass
rounds twice and errors of passes add as a random walk: 2e-6 times the root of log2 n is some ten
times what is measured, as in tests/browser/test_fft.py.
"""

import math

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, EDGES, NUMERIC, REAL, axes_of, operands, several_axes, shapes
from rows import call, row, wide
from verdict import Judged, mismatch, within

INVERSE = {"ifft", "ifftn", "irfft", "irfftn", "ihfft"}
NORMS = st.sampled_from(["backward", "ortho", "forward"])
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 49, 97, *EDGES[9:])


@st.composite
def along_one(draw, dtypes, least):
    shape = draw(shapes(1, 6, nelems=3000, empty=False).filter(lambda each: max(each) >= 1))
    axis = draw(axes_of(len(shape)))
    how = {"axis": axis, "norm": draw(NORMS)}
    if shape[axis] < least or draw(st.booleans()):
        how["n"] = draw(st.sampled_from(LENGTHS))
    return (draw(operands(dtypes, shape, "mild")),), how


@st.composite
def along_several(draw, dtypes, least):
    shape = draw(shapes(1, 5, nelems=1200, empty=False))
    axes = draw(several_axes(len(shape), 1))
    how = {"axes": axes, "norm": draw(NORMS)}
    if shape[axes[-1]] < least or draw(st.booleans()):
        how["s"] = [draw(st.sampled_from([3, 4, 1, 2, 5, 8, 17])) for _ in axes]
    return (draw(operands(dtypes, shape, "mild")),), how


def transformed(name):
    def reference(x, norm, **how):
        value = np.asarray(getattr(np.fft, name)(wide(x), norm=norm, **how))
        axes = how.get("axes", (how.get("axis"),))
        count = math.prod(value.shape[axis] for axis in axes)
        if name in {"rfft", "rfftn", "ihfft"}:
            count *= 2
        # By Parseval's theorem the norm of a transform is that of its operand, times this.
        forward = {"backward": count**0.5, "ortho": 1.0, "forward": count**-0.5}[norm]
        gain = (
            {"backward": count**-0.5, "ortho": 1.0, "forward": count**0.5}[norm]
            if name in INVERSE
            else forward
        )
        size = max(np.linalg.norm(value.ravel()), 2 * gain * np.linalg.norm(wide(x).ravel()))
        bound = 2e-6 * max(1.0, np.log2(max(1, count))) ** 0.5 * size

        def judge(got):
            dtype = "float32" if value.dtype.kind == "f" else "complex64"
            if said := mismatch(np.empty(value.shape, dtype), got):
                return said
            off = np.linalg.norm((got - value).ravel())
            return "" if off <= bound else f"off by {off:.3g}, {bound:.3g} allowed"

        return Judged(judge)

    return reference


for _name, _dtypes, _least in (
    ("fft", NUMERIC, 1), ("ifft", NUMERIC, 1), ("rfft", REAL, 1), ("irfft", NUMERIC, 2),
    ("hfft", NUMERIC, 2), ("ihfft", REAL, 1),
):  # fmt: skip
    row(f"fft.{_name}", along_one(_dtypes, _least), transformed(_name))
for _name, _dtypes, _least in (
    ("fftn", NUMERIC, 1), ("ifftn", NUMERIC, 1), ("rfftn", REAL, 1), ("irfftn", NUMERIC, 2),
):  # fmt: skip
    row(f"fft.{_name}", along_several(_dtypes, _least), transformed(_name))


@st.composite
def shifted(draw):
    x = draw(operands(DTYPES, domain="bits"))
    rank = x.host.ndim
    kinds = [st.none(), several_axes(rank)] + ([axes_of(rank)] if rank else [])
    return (x,), {"axes": draw(draw(st.sampled_from(kinds)))}


for _name in ("fftshift", "ifftshift"):
    row(
        f"fft.{_name}", shifted(),
        lambda x, axes, _name=_name: (
            x if axes == () or not x.ndim else getattr(np.fft, _name)(x, axes)
        ),
    )  # fmt: skip
for _name in ("fftfreq", "rfftfreq"):
    row(
        f"fft.{_name}", call(st.integers(1, 300), d=st.sampled_from([1.0, 0.5, 0.1, -3.0])),
        lambda n, d, _name=_name: within(getattr(np.fft, _name)(n, d), 3, "float32"),
    )  # fmt: skip
