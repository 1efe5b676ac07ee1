"""Reductions by functions of the user's: `reduce_kernel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import shapes
from aiogpu.array import Array
from aiogpu.errors import DTypeError, UsageError
from aiogpu.graph import build
from aiogpu.graph.node import Node
from aiogpu.lang.binding import as_number
from aiogpu.lang.specialise import ElementwiseSource
from aiogpu.lang.spell import literal
from aiogpu.lang.types import in_registers
from aiogpu.lang.values import literal as as_literal
from aiogpu.ops.authored import Elementwise, elementwise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiogpu.dtypes import DType
    from aiogpu.graph.table import Op


class ReduceKernel:
    """A reduction by functions of the user's; see `reduce_kernel`."""

    def __init__(self, mapping: Elementwise[Any], combine: Any, identity: float) -> None:  # noqa: ANN401 - a function
        self._map = mapping
        self._combine = elementwise(combine)
        self._source = ElementwiseSource(self._combine.function, is_fast=False)
        if len(self._source.parameters) != 2:
            raise UsageError(f"reduce_kernel: {self._source.name}: combines two elements")
        self._identity = as_number("reduce_kernel", "identity", identity)
        self._ops: dict[DType, Op] = {}

    def __repr__(self) -> str:
        return f"<aiogpu.reduce_kernel by {self._source.name} of {self._map!r}>"

    def __call__(
        self,
        *arrays: Any,  # noqa: ANN401 - arrays and numbers
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
    ) -> Array:
        """Reduce over some axes, all of them by default; nothing is computed yet.

        Args:
            arrays: What the mapping takes; shapes broadcast.
            axis: The axes.
            keepdims: Keep them, with size 1.

        Raises:
            AxisError: There is no such axis.
            DTypeError: The mapping gives bools.
            KernelError: A function does what kernels cannot.
        """
        mapped = self._map(*arrays)
        if not isinstance(mapped, Array):
            raise UsageError("reduce_kernel: the mapping gives several values: one is combined")
        node = mapped._node
        axes = shapes.axis_indices(axis, len(node.shape), self._source.name)
        shape, count = build.reduced_shape(node.shape, axes, keepdims=keepdims)
        if node.dtype.kind == "bool":
            raise DTypeError(f"{self._source.name}: bool: map to a number, or use any and all")
        first = as_literal(self._identity, in_registers(node.dtype), 0)
        if count == 0:
            return Array(build.constant(first.value, node.dtype, shape))
        op = self._ops.get(node.dtype)
        if op is None:
            op = self._ops[node.dtype] = self._source.combination(node.dtype)
        attrs = {"axes": axes, "count": count, "identity": literal(first.value, first.type)}
        return Array(Node(op, (node,), shape, node.dtype, attrs))

    def simulate(self, *arrays: Any) -> Any:  # noqa: ANN401 - NumPy arrays
        """The same over all axes of NumPy arrays, without a GPU."""
        mapped = self._map.simulate(*arrays)
        total = mapped.dtype.type(self._identity)
        for each in mapped.ravel():
            total = self._combine.simulate(total, each)[()]
        return total


def reduce_kernel(
    map: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    identity: float,
) -> ReduceKernel:
    """A reduction by two functions: elements are mapped, then combined two by two.

    ::

        largest = gpu.reduce_kernel(lambda x: abs(x), lambda a, b: max(a, b), 0.0)
        y = largest(x, axis=1)

    What is mapped is computed on the way, together with the operations before it. The order of
    combining is not said: ``combine`` must be associative and commutative.

    Args:
        map: A function of elements, as `elementwise` takes.
        combine: A function of two elements of the mapping's dtype.
        identity: What changes nothing when it is combined; the result where there are no elements.
    """
    mapping = map if isinstance(map, Elementwise) else elementwise(map)
    return ReduceKernel(mapping, combine, identity)
