"""Kernels of the user's own, in WGSL."""

from __future__ import annotations

import linecache
from math import prod
from typing import TYPE_CHECKING

from aiogpu import dtypes, evaluate, shapes
from aiogpu.array import Array
from aiogpu.errors import DTypeError, KernelError, Origin, UsageError
from aiogpu.graph import blocks, table
from aiogpu.graph.node import Node, caller
from aiogpu.kernels.user import Declared, Written, check_limits, declared

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from aiogpu.dtypes import DType


class WgslKernel:
    """A compute shader as a function of arrays; see `wgsl`."""

    def __init__(self, written: Written) -> None:
        self.source = written.text
        self.name = written.name
        self._written = written
        self._declared: Declared = declared(written.text, written.name)

    def __repr__(self) -> str:
        bindings = ", ".join(
            f"{b.name}: {'out ' if b.is_written else ''}{b.dtype.name}"
            for b in self._declared.bindings
        )
        return f"<aiogpu.wgsl {self.name}({bindings})>"

    def __call__(
        self,
        *inputs: Array,
        out_shape: int | Sequence[int] | Sequence[Sequence[int]],
        threads: int | Sequence[int] | None = None,
        workgroups: int | Sequence[int] | None = None,
        dtype: object = None,
        **constants: float,
    ) -> Array | tuple[Array, ...]:
        """Enqueue the kernel; nothing is computed before a result is awaited.

        Args:
            inputs: One array for each ``read`` binding, in order. An ``array<u32>`` takes uint32,
                and uint8 and bool as packed words.
            out_shape: Shape of the output; of each of them, where there are several.
            threads: Invocations needed along each axis, the last of which varies fastest (``x`` in
                WGSL): rounded up to whole workgroups. By default the first output's shape.
            workgroups: Workgroups along ``x``, ``y``, ``z``, in place of ``threads``.
            dtype: Dtype of the outputs where it is not what the text says: uint8 or bool for an
                ``array<u32>`` of packed words.
            constants: Values of ``override`` constants.

        Returns:
            The output, or a tuple of them in the order of their bindings.

        Raises:
            UsageError: Another number of inputs, an unknown constant, both threads and workgroups.
            DTypeError: An input's dtype is not what its binding declares.
            LimitError: The device, if it is open, does not allow so many bindings or workgroups, or
                so large a workgroup; else where a result is awaited.
        """
        facts = self._declared
        reads = [b for b in facts.bindings if not b.is_written]
        writes = [b for b in facts.bindings if b.is_written]
        if len(inputs) != len(reads):
            raise UsageError(f"{self.name}: {len(inputs)} arrays: the shader reads {len(reads)}")
        if unknown := set(constants) - facts.overrides:
            raise UsageError(
                f"{self.name}: {sorted(unknown)}: overrides are {sorted(facts.overrides)}"
            )
        operands = []
        for array, binding in zip(inputs, reads, strict=True):
            _check_input(self.name, array, binding.name, binding.dtype)
            operands.append(blocks.dense(array._node, from_start=True))
        shapes_of_outputs = self._shapes(out_shape, len(writes))
        kinds = [self._output_dtype(b.dtype, dtype) for b in writes]
        sizes = [prod(s) * kind.itemsize for s, kind in zip(shapes_of_outputs, kinds, strict=True)]
        groups = _groups(self.name, facts.workgroup, threads, workgroups, shapes_of_outputs[0])
        if (runtime := evaluate.DEFAULT.runtime) is not None:
            check_limits(self._written, facts, groups, runtime.limits)
        attrs = {
            "source": self._written,
            "declared": facts,
            "groups": groups,
            "constants": tuple(sorted((key, float(value)) for key, value in constants.items())),
            "outputs": sizes,
        }
        node = Node(table.USER, tuple(operands), shapes_of_outputs[0], kinds[0], attrs)
        if len(writes) == 1:
            return Array(node)
        return tuple(
            Array(Node(table.PICK, (node,), shape, kind, {"index": index}))
            for index, (shape, kind) in enumerate(zip(shapes_of_outputs, kinds, strict=True))
        )

    def _shapes(
        self, given: int | Sequence[int] | Sequence[Sequence[int]], count: int
    ) -> list[shapes.Shape]:
        nested = not isinstance(given, int) and any(not isinstance(size, int) for size in given)
        each = list(given) if nested else [given] * count  # type: ignore[arg-type]
        if len(each) != count:
            raise UsageError(f"{self.name}: {len(each)} shapes: the shader writes {count} outputs")
        return [shapes.check(shape, self.name) for shape in each]  # type: ignore[arg-type]

    def _output_dtype(self, declared_dtype: DType, wanted: object) -> DType:
        if wanted is None:
            return declared_dtype
        dtype = dtypes.as_dtype(wanted, self.name)
        if dtype is declared_dtype or (dtype.is_packed and declared_dtype is dtypes.uint32):
            return dtype
        raise DTypeError(
            f"{self.name}: dtype {dtype.name}: the shader writes {declared_dtype.name}"
        )


def _check_input(kernel: str, array: object, name: str, dtype: DType) -> None:
    if not isinstance(array, Array):
        raise UsageError(
            f"{kernel}: {name}: {type(array).__name__}: takes an array; make one with asarray"
        )
    if array.dtype is not dtype and not (array.dtype.is_packed and dtype is dtypes.uint32):
        raise DTypeError(
            f"{kernel}: {name}: {array.dtype.name}: the shader reads {dtype.name}; cast with astype"
        )


def _groups(
    kernel: str,
    workgroup: tuple[int, int, int],
    threads: int | Sequence[int] | None,
    workgroups: int | Sequence[int] | None,
    shape: shapes.Shape,
) -> tuple[int, int, int]:
    if threads is not None and workgroups is not None:
        raise UsageError(f"{kernel}: both threads and workgroups are given")
    if workgroups is not None:
        given = (workgroups,) if isinstance(workgroups, int) else tuple(workgroups)
        x, y, z = (*given, *[1] * (3 - len(given)))[:3]
    else:
        wanted = (
            shape if threads is None else (threads,) if isinstance(threads, int) else tuple(threads)
        )
        if len(wanted) > 3:
            raise UsageError(f"{kernel}: threads {wanted}: at most 3 axes")
        along = [*reversed(wanted), *[1] * (3 - len(wanted))]
        x, y, z = (-(-need // size) for need, size in zip(along, workgroup, strict=True))
    if min(x, y, z) < 0:
        raise UsageError(f"{kernel}: workgroups {(x, y, z)}: must not be negative")
    return x, y, z


def _place(source: str, made: tuple[CodeType, int] | None) -> tuple[str, int]:
    """The file that holds a text as it is, and the line in it; "" where none is found.

    Args:
        source: The text.
        made: Where the user's code gives it.
    """
    if made is None:
        return "", 1
    origin = Origin(*made)
    filename = origin.code.co_filename
    lines = linecache.getlines(filename)
    whole = "".join(lines)
    # Below the call it is another one's; with the call's own lines, which may go on after it.
    last = sum(map(len, lines[: origin.line])) + len(source)
    at = whole.rfind(source, 0, last)
    return ("", 1) if at < 0 else (filename, whole.count("\n", 0, at) + 1)


def wgsl(source: str, *, name: str | None = None) -> WgslKernel:
    """A kernel of raw WGSL: a function of the arrays that it reads, giving those that it writes.

    The text is taken as it is. It declares its storage buffers in ``@group(0)``, numbered from 0:
    ``var<storage, read>`` are the inputs, ``var<storage, read_write>`` the outputs, which are
    new arrays of undefined content. Sizes and scalars travel as ``override`` constants. A shader
    that does not compile raises KernelError where a result is awaited: what the compiler says, and
    the lines it is about.

    Args:
        source: WGSL with one ``@compute`` entry point of literal ``@workgroup_size``.
        name: Shown by errors; the entry point's name by default.

    Raises:
        KernelError: The declarations cannot be read or bound.
    """
    label = name or declared(source, "kernel").entry
    kernel = WgslKernel(Written(source, label, *_place(source, caller(2))))
    if not any(b.is_written for b in kernel._declared.bindings):
        raise KernelError(f"wgsl: {label}: no read_write binding: the kernel would have no result")
    return kernel
