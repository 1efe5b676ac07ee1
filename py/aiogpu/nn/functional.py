"""Layers as functions of arrays.

All of them add nodes to the graph and return at once; elementwise work around them joins their
launch. float16 is computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.graph import blocks, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType
    from aiogpu.graph.node import Node


def relu(x: Array, /) -> Array:
    """``x`` where it is above 0, else 0; NaN for NaN. Real, same dtype.

    Raises:
        DTypeError: ``x`` is bool or complex.
    """
    return Array(build.elementwise("relu", x._node))


def gelu(x: Array, /) -> Array:
    """``x`` times the distribution function of the normal distribution: the exact form, by erf.

    Raises:
        DTypeError: ``x`` is bool or complex.
    """
    return Array(build.elementwise("gelu", x._node))


def silu(x: Array, /) -> Array:
    """``x * sigmoid(x)``, also called swish. Floating-point result.

    Raises:
        DTypeError: ``x`` is bool or complex.
    """
    return Array(build.elementwise("silu", x._node))


def sigmoid(x: Array, /) -> Array:
    """``1 / (1 + exp(-x))``. Floating-point result.

    Raises:
        DTypeError: ``x`` is bool or complex.
    """
    return Array(build.elementwise("sigmoid", x._node))


def softmax(x: Array, /, *, axis: int = -1) -> Array:
    """``exp(x)`` over its sum along ``axis``, without overflow; NaN where all are -infinity.

    Args:
        x: Real or bool; float16 gives float16, all else float32.
        axis: The axis along which the results sum to 1.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
    """
    return Array(blocks.along("softmax", _floating("softmax", x), axis))


def log_softmax(x: Array, /, *, axis: int = -1) -> Array:
    """The logarithm of `softmax`, exact also where that is nearly 0.

    Args:
        x: Real or bool; float16 gives float16, all else float32.
        axis: The axis along which the exponentials of the results sum to 1.

    Raises:
        AxisError: There is no such axis.
        DTypeError: ``x`` is complex.
    """
    return Array(blocks.along("log_softmax", _floating("log_softmax", x), axis))


def layer_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    epsilon: float = 1e-5,
) -> Array:
    """The last axis brought to mean 0 and variance 1, times ``weight``, plus ``bias``.

    Args:
        x: Shape ``(..., n)``; real or bool, and float32 unless float16.
        weight: Broadcasts to the shape of ``x``, usually ``(n,)``.
        bias: The same.
        epsilon: Added to the variance, so that it is not 0.

    Returns:
        The shape of ``x``; float16 where ``x`` is, else float32.

    Raises:
        AxisError: ``x`` is 0-d.
        ShapeError: ``weight`` or ``bias`` does not broadcast to ``x``.
        DTypeError: An array is complex.
    """
    node = _floating("layer_norm", x)
    result = blocks.along("standardize", build.cast(node, dtypes.FLOAT), -1, epsilon=float(epsilon))
    for name, given in (("multiply", weight), ("add", bias)):
        if given is not None:
            factor = build.cast(_floating("layer_norm", given), dtypes.FLOAT)
            if shapes.broadcast((node.shape, factor.shape), "layer_norm") != node.shape:
                raise ShapeError(
                    f"layer_norm: shapes {x.shape} and {given.shape}: does not broadcast to x"
                )
            result = build.elementwise(name, result, factor)
    return Array(build.cast(result, node.dtype))


def conv2d(
    x: Array,
    w: Array,
    /,
    bias: Array | None = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    """Two-dimensional cross-correlation, which neural networks call convolution.

    Args:
        x: Images, shape ``(n, c, height, width)``; floating-point, the dtypes promote.
        w: Filters, shape ``(k, c / groups, r, s)``.
        bias: Shape ``(k,)``, added to each output channel; or None.
        stride: Step in the image, for both axes or (vertical, horizontal).
        padding: Zeros around the image, likewise.
        dilation: Distance between neighbours in the filter, likewise.
        groups: Into how many parts the channels are cut, each convolved with its own filters.

    Returns:
        Shape ``(n, k, height', width')`` in the promoted dtype, with
        ``height' = (height + 2 * padding - dilation * (r - 1) - 1) // stride + 1``.

    Raises:
        ShapeError: The shapes do not fit each other or the parameters.
        DTypeError: An array is not floating-point.
        UsageError: A parameter is neither an integer nor two.
    """
    given = (x, w) if bias is None else (x, w, bias)
    dtype = _meeting("conv2d", given)
    nodes = [build.cast(each._node, dtype) for each in given]
    conv = blocks.Conv(
        _pair("stride", stride), _pair("padding", padding), _pair("dilation", dilation), groups
    )
    shape = conv.output(x.shape, w.shape)
    if 0 in (*shape, *w.shape):  # nothing to sum: of no images, or no channels
        result = build.constant(0.0, dtypes.FLOAT, shape)
    else:
        result = blocks.conv2d("conv2d", nodes[0], nodes[1], x.shape, w.shape, conv)
    if bias is not None:
        if bias.shape != w.shape[:1]:
            raise ShapeError(f"conv2d: bias of shape {bias.shape}: must be {w.shape[:1]}")
        column = build.reshape(nodes[2], (1, w.shape[0], 1, 1))
        result = build.elementwise("add", result, build.cast(column, dtypes.FLOAT))
    return Array(build.cast(result, dtype))


def attention(
    q: Array,
    k: Array,
    v: Array,
    /,
    *,
    mask: Array | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Array:
    """Scaled dot-product attention, ``softmax(q @ k.mT * scale + mask) @ v``, by one launch.

    Args:
        q: Queries, shape ``(*batch, sq, d)``; floating-point, the dtypes promote.
        k: Keys, shape ``(*batch, skv, d)``.
        v: Values, shape ``(*batch, skv, d)``.
        mask: Broadcasts to ``(*batch, sq, skv)``. bool: which keys a query sees; floating-point:
            what is added to the scores.
        causal: Query i sees keys up to ``i + skv - sq`` only.
        scale: What the products are multiplied by; ``1 / sqrt(d)`` by default.

    Returns:
        Shape ``(*batch, sq, d)`` in the promoted dtype. Zeros for a query that sees no key.

    Raises:
        ShapeError: The shapes do not fit.
        DTypeError: An array is not floating-point, nor a bool mask.
    """
    dtype = _meeting("attention", (q, k, v))
    if q.ndim < 2 or not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ShapeError(
            f"attention: queries {q.shape}, keys {k.shape}, values {v.shape}: must be "
            "(*batch, sq, d) and twice (*batch, skv, d)"
        )
    batch = q.shape[:-2]
    lead = (1, prod(batch)) if len(batch) != 2 else batch
    nodes = [
        build.reshape(build.cast(each._node, dtype), (*lead, *each.shape[-2:]))
        for each in (q, k, v)
    ]
    added = None if mask is None else _added(mask, dtype)
    if added is not None:
        spread = build.broadcast_to(added, (*batch, q.shape[-2], k.shape[-2]), "attention")
        added = build.reshape(spread, (*lead, *spread.shape[-2:]))
    factor = q.shape[-1] ** -0.5 if scale is None and q.shape[-1] else float(scale or 0)
    result = blocks.attention(nodes, added, factor, causal=causal)
    return Array(build.reshape(result, q.shape))


def _added(mask: Array, dtype: DType) -> Node:
    """A mask as what is added to the scores."""
    if mask.dtype.kind == "float":
        return build.cast(mask._node, dtype)
    if mask.dtype.kind != "bool":
        raise DTypeError(f"attention: {mask.dtype.name} mask: takes bool and floating-point")
    unseen = build.constant(float("-inf"), dtype)
    return build.elementwise("where", mask._node, build.constant(0.0, dtype), unseen)


def _floating(name: str, x: Array) -> Node:
    """``x`` as floating-point numbers: float32 where it is not."""
    if x.dtype.kind == "complex":
        raise DTypeError(f"{name}: {x.dtype.name}: takes real numbers")
    return x._node if x.dtype.kind == "float" else build.cast(x._node, dtypes.FLOAT)


def _meeting(name: str, arrays: Sequence[Array]) -> DType:
    """The floating-point dtype to which all promote."""
    for x in arrays:
        if x.dtype.kind != "float":
            raise DTypeError(f"{name}: {x.dtype.name}: takes float32 and float16; cast with astype")
    return build.promotion([x._node for x in arrays], name)


def _pair(name: str, given: int | Sequence[int]) -> tuple[int, int]:
    numbers = shapes.integers(given, f"conv2d: {name}")
    if len(numbers) != 2 and not shapes.is_integer(given):
        raise UsageError(f"conv2d: {name} {given}: must be an integer, or two")
    return numbers[0], numbers[-1]
