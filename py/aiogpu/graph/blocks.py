"""Nodes of the larger operations: along an axis, by indices, convolutions, attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.errors import DTypeError, ShapeError, UsageError
from aiogpu.graph import build, table
from aiogpu.graph.node import Node
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.dtypes import DType, Scalar
    from aiogpu.shapes import Shape


def along(name: str, node: Node, axis: int, **attrs: object) -> Node:
    """A row operation or a scan of the op table along ``axis``; same shape.

    Raises:
        AxisError: There is no such axis.
    """
    at = shapes.axis_index(axis, len(node.shape), name)
    if 0 in node.shape:
        return node
    return Node(table.TABLE[name], (node,), node.shape, node.dtype, {"axis": at, **attrs})


def search(name: str, node: Node, axis: int | None, *, keepdims: bool) -> Node:
    """Argmax or argmin along an axis, or over all elements; int32.

    Raises:
        AxisError: There is no such axis.
        UsageError: There is no element to choose from.
    """
    axes = shapes.axis_indices(axis, len(node.shape), name)
    build.check_kind(table.TABLE[name], node.dtype)
    shape, count = build.reduced_shape(node.shape, axes, keepdims=keepdims)
    if count == 0:
        raise UsageError(f"{name}: shape {node.shape}: no elements to choose from")
    return Node(table.TABLE[name], (node,), shape, dtypes.int32, {"axes": axes, "count": count})


def variance(
    node: Node, axis: int | Sequence[int] | None, correction: float, *, keepdims: bool, root: bool
) -> Node:
    """The variance, or its square root, over the axes that ``axis`` names.

    In two passes, of which the second makes up for the rounding of the first's mean (T. F. Chan,
    G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", 1983). float16 is
    computed in float32; integers, in which a float32 mean may be far from the elements, by exact
    differences from a whole number near the mean.

    Raises:
        AxisError: There is no such axis.
        DTypeError: Complex numbers.
    """
    name = "std" if root else "var"
    axes = shapes.axis_indices(axis, len(node.shape), name)
    given = node.dtype
    if given.kind == "complex":
        raise DTypeError(
            f"{name}: {given.name}: takes real numbers; take it of real(x) and imag(x)"
        )
    result = given if given.kind == "float" else dtypes.FLOAT
    shape, count = build.reduced_shape(node.shape, axes, keepdims=keepdims)
    if count <= correction or count == 0:
        return build.constant(float("nan"), result, shape)
    numbers, mean = _near_mean(node, axes)
    # Two nodes of one value: each is computed on the way to its sum, and lies nowhere.
    off, again = (build.elementwise("subtract", numbers, mean) for _ in range(2))
    squares = build.reduce("sum", build.elementwise("square", off), axes, keepdims=keepdims)
    drift = build.reduce("sum", again, axes, keepdims=keepdims)
    lost = build.elementwise("multiply", build.elementwise("square", drift), 1 / count)
    rest = build.elementwise("maximum", build.elementwise("subtract", squares, lost), 0.0)
    variance = build.elementwise("divide", rest, float(count - correction))
    return build.cast(build.elementwise("sqrt", variance) if root else variance, result)


def _near_mean(node: Node, axes: tuple[int, ...]) -> tuple[Node, Node]:
    """Float32 numbers that are as far from each other as the elements, and about their mean."""
    single = build.cast(node, dtypes.FLOAT)
    mean = build.reduction("mean", single, axes, keepdims=True)
    if node.dtype.is_packed or node.dtype.kind == "float":
        return single, mean
    pivot = build.cast(mean, node.dtype)
    # The larger less the smaller is right modulo 2^32, and so as a uint32.
    up, down = (
        build.cast(build.cast(build.elementwise("subtract", *pair), dtypes.uint32), dtypes.FLOAT)
        for pair in ((node, pivot), (pivot, node))
    )
    is_above = build.elementwise("greater_equal", node, pivot)
    off = build.elementwise("where", is_above, up, build.elementwise("negative", down))
    # The mean in float32, and so the pivot, may be off by 128.
    return off, build.reduction("mean", off, axes, keepdims=True)


def concat(nodes: Sequence[Node], axis: int) -> Node:
    """Nodes of one dtype behind each other along ``axis``.

    Raises:
        ShapeError: Their other sizes differ.
        AxisError: There is no such axis.
    """
    first = nodes[0]
    at = shapes.axis_index(axis, len(first.shape), "concat")
    for node in nodes:
        if len(node.shape) != len(first.shape) or any(
            a != b for i, (a, b) in enumerate(zip(node.shape, first.shape, strict=True)) if i != at
        ):
            shown = " and ".join(str(node.shape) for node in nodes)
            raise ShapeError(f"concat: shapes {shown}: only sizes of axis {at} may differ")
    dtype = first.dtype
    size = sum(node.shape[at] for node in nodes)
    shape = (*first.shape[:at], size, *first.shape[at + 1 :])
    result = Node(table.EMPTY, (), shape, dtype)
    strides = shapes.contiguous_strides(shape)
    offset = 0
    for node in nodes:
        if 0 not in node.shape:
            target = View(node.shape, strides, offset)
            result = _put(result, node, target)
        offset += node.shape[at] * strides[at]
    return result


def pad(
    node: Node, widths: Sequence[tuple[int, int]], values: Sequence[tuple[Scalar, Scalar]]
) -> Node:
    """``node`` with elements added before and behind it along each axis, later axes at the corners.

    Args:
        node: What lies in the middle.
        widths: How many elements before and behind, for each axis.
        values: What they are, which the dtype can hold.
    """
    if not any(before or after for before, after in widths):
        return node
    shape = tuple(
        size + before + after for size, (before, after) in zip(node.shape, widths, strict=True)
    )
    strides = shapes.contiguous_strides(shape)
    common = values[0][0]
    result = build.constant(common, node.dtype, shape)
    for axis, (width, value) in enumerate(zip(widths, values, strict=True)):
        for count, number, start in (
            (width[0], value[0], 0),
            (width[1], value[1], shape[axis] - width[1]),
        ):
            slab = (*shape[:axis], count, *shape[axis + 1 :])
            if 0 not in slab and values != [(common, common)] * len(values):
                target = View(slab, strides, start * strides[axis])
                result = _put(result, build.constant(number, node.dtype, slab), target)
    if 0 in node.shape:
        return result
    start = sum(before * stride for (before, _), stride in zip(widths, strides, strict=True))
    return _put(result, node, View(node.shape, strides, start))


def _put(base: Node, node: Node, target: View) -> Node:
    """The value of ``base`` with ``node`` at ``target``."""
    return Node(table.STORE, (base, node), base.shape, base.dtype, {"target": target})


def dense(node: Node, *, from_start: bool = False) -> Node:
    """A node whose elements follow each other in memory, from any offset or from the start."""
    owner, how = build.view_of(node)
    is_dense = how.is_contiguous and not (from_start and how.offset)
    return node if owner is node or is_dense else build.copy(node)


def gather(data: Node, indices: Node, axis: int, *, raises: bool, fault: str = "") -> Node:
    """Elements of ``data`` along ``axis`` by int32 ``indices`` of one axis.

    Args:
        data: Where they are.
        indices: Which.
        axis: Along which axis.
        raises: Whether an index out of range makes the value an error; it is clamped otherwise.
        fault: What the error says of one; "" for that it is out of range.

    Raises:
        DTypeError: The indices are not int32.
        ShapeError: They have not one axis, or ``data`` has no elements along ``axis``.
    """
    at = _check_indices("gather", data, indices, axis)
    shape = (*data.shape[:at], indices.shape[0], *data.shape[at + 1 :])
    attrs = {"axis": at, "size": data.shape[at], "shape": shape, "raises": raises}
    if fault:
        attrs["fault"] = fault
    return Node(table.TABLE["gather"], (dense(data), dense(indices)), shape, data.dtype, attrs)


def places(indices: Node) -> Node:
    """Integers as int32; what it cannot hold is beyond every axis, and stays so."""
    if indices.dtype is dtypes.uint32:
        indices = build.elementwise("minimum", indices, dtypes.INT.range[1])
    return build.cast(indices, dtypes.INT)


def take(data: Node, indices: Node, axis: int) -> Node:
    """Elements of ``data`` along ``axis`` by integers of one axis, negative ones from the end.

    Raises:
        AxisError: When the value is awaited: an index is out of range.
        ShapeError: There are indices, and nothing along ``axis``.
    """
    size = data.shape[axis]
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    if 0 in shape and (size or 0 in indices.shape):
        return build.constant(0, data.dtype, shape)
    numbers = places(indices)
    if indices.dtype.kind == "uint":
        return gather(data, numbers, axis, raises=True)
    from_end = build.elementwise("add", numbers, size)
    is_behind = build.elementwise("less", numbers, 0)
    return gather(data, build.elementwise("where", is_behind, from_end, numbers), axis, raises=True)


def scatter(base: Node, data: Node, indices: Node, axis: int, *, raises: bool) -> Node:
    """The value of ``base`` after the elements of ``data`` were put at ``indices`` along ``axis``.

    Raises:
        DTypeError: The indices are not int32.
        ShapeError: The shapes do not fit.
    """
    at = _check_indices("scatter", base, indices, axis)
    shape = (*base.shape[:at], indices.shape[0], *base.shape[at + 1 :])
    if data.shape != shape:
        raise ShapeError(f"scatter: values of shape {data.shape}: must have shape {shape}")
    attrs = {"axis": at, "size": base.shape[at], "shape": shape, "raises": raises}
    operands = (base, dense(data), dense(indices))
    return Node(table.TABLE["scatter"], operands, base.shape, base.dtype, attrs)


def _check_indices(name: str, data: Node, indices: Node, axis: int) -> int:
    at = shapes.axis_index(axis, len(data.shape), name)
    if indices.dtype is not dtypes.int32:
        raise DTypeError(f"{name}: {indices.dtype.name} indices: must be int32")
    if len(indices.shape) != 1:
        raise ShapeError(f"{name}: indices of shape {indices.shape}: must have one axis")
    if data.shape[at] == 0:
        raise ShapeError(f"{name}: shape {data.shape}: nothing along axis {at} to index")
    return at


class Conv(NamedTuple):
    """How a two-dimensional convolution walks: height first, then width."""

    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1

    def output(self, image: Shape, filters: Shape) -> Shape:
        """The output's shape for data (n, c, h, w) and filters (k, c / groups, r, s).

        Raises:
            ShapeError: The shapes do not fit each other or the parameters.
        """
        what = f"conv2d: data {image}, filters {filters}, {self}"
        if len(image) != 4 or len(filters) != 4:
            raise ShapeError(f"{what}: both need 4 axes")
        if min(*self.stride, *self.dilation, self.groups) < 1 or min(self.padding) < 0:
            raise ShapeError(f"{what}: strides, dilations and groups begin at 1, paddings at 0")
        n, c, *size = image
        k, per_group, *window = filters
        if c != per_group * self.groups or k % self.groups:
            raise ShapeError(f"{what}: channels and groups do not fit")
        spans = [d * (f - 1) + 1 for d, f in zip(self.dilation, window, strict=True)]
        padded = [s + 2 * p for s, p in zip(size, self.padding, strict=True)]
        if any(f < 1 for f in window) or any(a > b for a, b in zip(spans, padded, strict=True)):
            raise ShapeError(f"{what}: the filter is larger than the padded data")
        high, wide = (
            (p - span) // stride + 1
            for p, span, stride in zip(padded, spans, self.stride, strict=True)
        )
        return n, k, high, wide

    def sizes(self, image: Shape, filters: Shape) -> dict[str, int]:
        """What the kernels need to know, by the names that they use."""
        n, k, high, wide = self.output(image, filters)
        _, c, h, w = image
        _, per_group, r, s = filters
        return {
            "batch": n, "c": c, "h": h, "w": w, "k": k, "r": r, "s": s, "oh": high, "ow": wide,
            "stride_h": self.stride[0], "stride_w": self.stride[1],
            "pad_h": self.padding[0], "pad_w": self.padding[1],
            "dilation_h": self.dilation[0], "dilation_w": self.dilation[1],
            "cpg": per_group, "kpg": k // self.groups,
        }  # fmt: skip


def conv2d(name: str, first: Node, second: Node, image: Shape, filters: Shape, conv: Conv) -> Node:
    """A convolution, or one of its gradients, of data of shape ``image`` with ``filters``.

    Args:
        name: ``conv2d`` (data, filters), ``conv2d_data`` (output gradient, filters) or
            ``conv2d_filter`` (data, output gradient).
        first: First operand, float32 or float16.
        second: Second operand, of the same dtype.
        image: Shape of the data, (n, c, h, w).
        filters: Shape of the filters, (k, c / groups, r, s).
        conv: Strides and so on.

    Returns:
        A node of float32: what follows it rounds to float16, once.

    Raises:
        ShapeError: The shapes do not fit.
        DTypeError: The operands are not both float32 or both float16.
    """
    output = conv.output(image, filters)
    shape = {"conv2d": output, "conv2d_data": image, "conv2d_filter": filters}[name]
    wanted = {
        "conv2d": (image, filters),
        "conv2d_data": (output, filters),
        "conv2d_filter": (image, output),
    }[name]
    _check_floats(name, (first, second))
    for operand, expected in zip((first, second), wanted, strict=True):
        if operand.shape != expected:
            raise ShapeError(f"{name}: shape {operand.shape}: must be {expected}")
    attrs = {"sizes": conv.sizes(image, filters)}
    return Node(table.TABLE[name], (dense(first), dense(second)), shape, dtypes.float32, attrs)


def _check_floats(name: str, nodes: Sequence[Node]) -> DType:
    """The one dtype of all nodes, float32 or float16."""
    first = nodes[0].dtype
    if first.kind != "float" or any(node.dtype is not first for node in nodes):
        given = " and ".join(dict.fromkeys(node.dtype.name for node in nodes))
        raise DTypeError(f"{name}: {given}: takes float32, or float16; cast with astype")
    return first


def attention(operands: Sequence[Node], mask: Node | None, scale: float, *, causal: bool) -> Node:
    """Attention of queries (b, h, sq, d), keys and values (b, h, skv, d), with a mask to be added.

    Args:
        operands: Queries, keys and values, all float32 or all float16.
        mask: Of that dtype too; broadcasts to (b, h, sq, skv), or None.
        scale: What scores are multiplied by, before the mask is added.
        causal: Query i sees keys up to i + skv - sq.

    Raises:
        ShapeError: The shapes do not fit.
        DTypeError: The operands are not all float32 or all float16.
    """
    queries, keys, values = (node.shape for node in operands)
    dtype = _check_floats("attention", [*operands, *([mask] if mask is not None else [])])
    if len(queries) != 4 or keys != values or keys[:2] != queries[:2] or keys[3:] != queries[3:]:
        raise ShapeError(
            f"attention: queries {queries}, keys {keys}, values {values}: must be (b, h, sq, d) "
            "and twice (b, h, skv, d)"
        )
    nodes = [dense(node) for node in operands]
    if mask is not None:
        nodes.append(_mask(mask, (*queries[:3], keys[2])))
    attrs = {"keys": keys[2], "scale": scale, "causal": causal}
    if 0 in queries or keys[2] == 0:
        return build.constant(0.0, dtype, queries)
    return Node(table.TABLE["attention"], tuple(nodes), queries, dtype, attrs)


def _mask(mask: Node, scores: Shape) -> Node:
    """The mask as a view of the shape of the scores, whose rows are dense."""
    spread = build.broadcast_to(mask, scores, "attention")
    return spread if _has_dense_rows(build.view_of(spread)[1]) else build.copy(spread)


def _has_dense_rows(how: View) -> bool:
    keys = how.shape[3]
    return how.strides[3] in {1, 0 if keys == 1 else 1} and how.strides[2] == keys
