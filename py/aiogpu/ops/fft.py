"""Discrete Fourier transforms: the ``fft`` extension of the Array API standard.

Everything is float32 and complex64. Any length: products of 2, 3, 5 and 7 by Stockham's passes, all
others by Bluestein's chirp (`aiogpu.kernels.fft` names the papers). Everything is enqueued: no
function reads.

Common to all: ``n`` or ``s`` are the lengths of the transforms; what there is beyond them along an
axis is left out, what is missing is zeros. ``norm`` says which direction is divided by the length:
``"backward"`` (the inverse one), ``"forward"`` (the other), or ``"ortho"`` (both, by its root).

They raise AxisError where there is no such axis, UsageError for a length below 1, an axis named
twice or another ``norm``, DTypeError where a real array is needed, and LimitError for more than
2^27 elements along an axis.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import DTypeError, UsageError
from aiogpu.graph import blocks, build, select, table
from aiogpu.graph.node import Node
from aiogpu.graph.transforms import transform
from aiogpu.ops.inspection import check_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip

Norm = Literal["backward", "ortho", "forward"]
_OTHER: Final = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The discrete Fourier transform along ``axis``.

    Args:
        x: Any shape with that axis; numeric.
        n: Length of the transform, by default that of ``x`` along ``axis``.
        axis: Which axis.
        norm: See the module.

    Returns:
        complex64; ``n`` elements along ``axis``.
    """
    return Array(_along("fft", _complex(x._node), n, axis, norm))


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `fft`: the same arguments and shapes."""
    return Array(_along("ifft", _complex(x._node), n, axis, norm, inverse=True))


def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The discrete Fourier transform along several axes.

    Args:
        x: Any shape; numeric.
        s: Lengths of the transforms, one for each of ``axes``; -1 for that of ``x``.
        axes: Which axes; by default all, or the last ``len(s)``.
        norm: See the module.

    Returns:
        complex64; lengths ``s`` along ``axes``.
    """
    return Array(_along_all("fftn", _complex(x._node), s, axes, norm))


def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The inverse of `fftn`: the same arguments and shapes."""
    return Array(_along_all("ifftn", _complex(x._node), s, axes, norm, inverse=True))


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The first half of the transform of a real array; the other half are its conjugates.

    Args:
        x: Any shape with that axis; real.
        n: Length of the transform, by default that of ``x`` along ``axis``.
        axis: Which axis.
        norm: See the module.

    Returns:
        complex64; ``n // 2 + 1`` elements along ``axis``.
    """
    return Array(_along("rfft", _real("rfft", x._node), n, axis, norm, half=True))


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `rfft`.

    Args:
        x: The first half of a transform; numeric.
        n: Length of the result, by default ``2 * (m - 1)`` for ``m`` elements along ``axis``.
        axis: Which axis.
        norm: See the module.

    Returns:
        float32; ``n`` elements along ``axis``.
    """
    return Array(_hermitian("irfft", _complex(x._node), n, axis, norm, inverse=True))


def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """`rfft` along the last of ``axes``, then `fft` along the others.

    Args:
        x: Any shape; real.
        s: As for `fftn`.
        axes: As for `fftn`.
        norm: See the module.

    Returns:
        complex64; ``s[-1] // 2 + 1`` elements along the last of ``axes``.
    """
    node = _real("rfftn", x._node)
    lengths, named = _lengths("rfftn", node, s, axes)
    if not named:
        raise UsageError("rfftn: no axes: needs at least one")
    node = _along("rfftn", node, lengths[-1], named[-1], norm, half=True)
    for length, axis in zip(lengths[:-1], named[:-1], strict=True):
        node = _along("rfftn", node, length, axis, norm)
    return Array(node)


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """The inverse of `rfftn`.

    Args:
        x: The first half of a transform; numeric.
        s: Lengths of the result; the last is by default ``2 * (m - 1)`` for ``m`` elements.
        axes: As for `fftn`.
        norm: See the module.

    Returns:
        float32; lengths ``s`` along ``axes``.
    """
    node = _complex(x._node)
    lengths, named = _lengths("irfftn", node, s, axes)
    if not named:
        raise UsageError("irfftn: no axes: needs at least one")
    for length, axis in zip(lengths[:-1], named[:-1], strict=True):
        node = _along("irfftn", node, length, axis, norm, inverse=True)
    last = None if s is None or s[-1] == -1 else s[-1]
    return Array(_hermitian("irfftn", node, last, named[-1], norm, inverse=True))


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The transform of a Hermitian signal, of which ``x`` is the first half: it is real.

    Args:
        x: The first half; numeric.
        n: Length of the result, by default ``2 * (m - 1)`` for ``m`` elements along ``axis``.
        axis: Which axis.
        norm: See the module.

    Returns:
        float32; ``n`` elements along ``axis``.
    """
    return Array(_hermitian("hfft", _complex(x._node), n, axis, norm, inverse=False))


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `hfft`.

    Args:
        x: Any shape with that axis; real.
        n: Length of the transform, by default that of ``x`` along ``axis``.
        axis: Which axis.
        norm: See the module.

    Returns:
        complex64; ``n // 2 + 1`` elements along ``axis``.
    """
    node = _real("ihfft", x._node)
    return Array(_along("ihfft", node, n, axis, norm, inverse=True, half=True))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: object = None, device: object = None) -> Array:
    """The frequencies of the elements of `fft`: 0, 1, ..., -2, -1, divided by ``n * d``.

    Args:
        n: Length of the transform.
        d: Distance of the samples.
        dtype: float32 by default.
        device: None, or the one that there is.

    Raises:
        UsageError: ``n`` is below 1, or there is no such device.
        DTypeError: ``dtype`` is not a real floating-point one.
    """
    check_device(device, "fftfreq")
    wanted = _frequency_dtype("fftfreq", n, dtype)
    count = Node(table.IOTA, (), (n,), dtypes.INT, {"start": 0, "step": 1})
    below = build.elementwise("less_equal", count, (n - 1) // 2)
    index = build.elementwise("where", below, count, build.elementwise("subtract", count, n))
    return Array(build.cast(build.elementwise("divide", index, n * d), wanted))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: object = None, device: object = None) -> Array:
    """The frequencies of the elements of `rfft`: 0, 1, ..., n // 2, divided by ``n * d``.

    Args:
        n: Length of the transform.
        d: Distance of the samples.
        dtype: float32 by default.
        device: None, or the one that there is.

    Raises:
        UsageError: ``n`` is below 1, or there is no such device.
        DTypeError: ``dtype`` is not a real floating-point one.
    """
    check_device(device, "rfftfreq")
    wanted = _frequency_dtype("rfftfreq", n, dtype)
    count = Node(table.IOTA, (), (n // 2 + 1,), dtypes.INT, {"start": 0, "step": 1})
    return Array(build.cast(build.elementwise("divide", count, n * d), wanted))


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """``x`` with the zero frequency in the middle of ``axes``, by default of all.

    Raises:
        AxisError: There is no such axis.
    """
    return Array(_shifted("fftshift", x._node, axes, inverse=False))


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`; they differ for odd lengths.

    Raises:
        AxisError: There is no such axis.
    """
    return Array(_shifted("ifftshift", x._node, axes, inverse=True))


def _complex(node: Node) -> Node:
    """A real array stays real: the first pass reads it as it is."""
    if node.dtype.kind == "complex":
        return node
    return build.cast(node, dtypes.FLOAT)


def _real(name: str, node: Node) -> Node:
    if node.dtype.kind == "complex":
        raise DTypeError(f"{name}: {node.dtype.name}: takes real arrays; use fft, or real(x)")
    return build.cast(node, dtypes.FLOAT)


def _scale(name: str, n: int, norm: str, *, inverse: bool) -> float:
    if norm not in _OTHER:
        raise UsageError(f"{name}: norm {norm!r}: must be one of {', '.join(_OTHER)}")
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "backward") == inverse else 1.0


def _checked_length(name: str, n: int | None, default: int) -> int:
    length = default if n is None else n
    if length < 1:
        raise UsageError(f"{name}: a transform of length {length}: must be at least 1")
    return length


def _along(
    name: str,
    node: Node,
    n: int | None,
    axis: int,
    norm: str,
    *,
    inverse: bool = False,
    half: bool = False,
) -> Node:
    at = shapes.axis_index(axis, len(node.shape), name)
    length = _checked_length(name, n, node.shape[at])
    scale = _scale(name, length, norm, inverse=inverse)
    return transform(name, node, at, length, scale=scale, inverse=inverse, half=half)


def _hermitian(
    name: str, node: Node, n: int | None, axis: int, norm: str, *, inverse: bool
) -> Node:
    at = shapes.axis_index(axis, len(node.shape), name)
    length = _checked_length(name, n, 2 * (node.shape[at] - 1))
    scale = _scale(name, length, norm, inverse=inverse)
    return transform(name, node, at, length, scale=scale, inverse=inverse, hermitian=True)


def _lengths(
    name: str, node: Node, s: Sequence[int] | None, axes: Sequence[int] | None
) -> tuple[list[int], list[int]]:
    """The length of each transform, and its axis."""
    rank = len(node.shape)
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    named = [shapes.axis_index(axis, rank, name) for axis in axes]
    if len(set(named)) != len(named):
        raise UsageError(f"{name}: axes {tuple(axes)}: an axis is named twice")
    if s is None:
        return [node.shape[axis] for axis in named], named
    if len(s) != len(named):
        raise UsageError(f"{name}: {len(s)} lengths and {len(named)} axes: must be as many")
    return [
        node.shape[axis] if length == -1 else length for length, axis in zip(s, named, strict=True)
    ], named


def _along_all(
    name: str,
    node: Node,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
    *,
    inverse: bool = False,
) -> Node:
    lengths, named = _lengths(name, node, s, axes)
    if not named:
        return build.cast(node, dtypes.COMPLEX)
    for length, axis in zip(reversed(lengths), reversed(named), strict=True):
        node = _along(name, node, length, axis, norm, inverse=inverse)
    return node


def _frequency_dtype(name: str, n: int, dtype: object) -> DType:
    if n < 1:
        raise UsageError(f"{name}: n {n}: must be at least 1")
    wanted = dtypes.FLOAT if dtype is None else dtypes.as_dtype(dtype, name)
    if wanted.kind != "float":
        raise DTypeError(f"{name}: {wanted.name}: takes float32 and float16")
    return wanted


def _shifted(name: str, node: Node, axes: int | Sequence[int] | None, *, inverse: bool) -> Node:
    for axis in shapes.axis_indices(axes, len(node.shape), name):
        size = node.shape[axis]
        middle = size // 2 if inverse else -(-size // 2)
        if 0 < middle < size:
            before = (slice(None),) * axis
            parts = [select.cut(node, (*before, slice(middle, None))),
                     select.cut(node, (*before, slice(None, middle)))]  # fmt: skip
            node = blocks.concat(parts, axis)
    return node
