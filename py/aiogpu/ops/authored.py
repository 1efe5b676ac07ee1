"""Kernels written in Python: `elementwise`, `kernel` and what they make of a function."""

from __future__ import annotations

import functools
from math import prod
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

from aiogpu import dtypes, evaluate, shapes
from aiogpu.array import Array
from aiogpu.errors import KernelError, UsageError
from aiogpu.graph import build, table
from aiogpu.graph.node import Node
from aiogpu.lang import simulate
from aiogpu.lang.binding import Types, as_number, bind, resolve
from aiogpu.lang.intrinsics import func
from aiogpu.lang.launch import check_limits, layout_of
from aiogpu.lang.source import define
from aiogpu.lang.specialise import ElementwiseSource, KernelSource
from aiogpu.lang.values import default_type, is_number, plain
from aiogpu.limits import Limits
from aiogpu.schedule.step import Const
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aiogpu.dtypes import DType
    from aiogpu.lang.access import Bounds
    from aiogpu.lang.binding import Call
    from aiogpu.lang.launch import Compiled
    from aiogpu.lang.signature import Parameter
    from aiogpu.shapes import Shape

__all__ = ["Elementwise", "Kernel", "elementwise", "func", "kernel"]

R = TypeVar("R")
Sizes = int | tuple[int, ...] | list[int]


def _limits() -> Limits:
    runtime = evaluate.DEFAULT.runtime
    return runtime.limits if runtime is not None else Limits(immediate_nbytes=64)


class Elementwise(Generic[R]):
    """A Python function of elements as a function of arrays; see `elementwise`.

    Attributes:
        function: The Python function.
    """

    is_elementwise = True

    def __init__(self, function: FunctionType, *, fast_math: bool) -> None:
        self.function = function
        self._source = ElementwiseSource(function, is_fast=fast_math)
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<aiogpu.elementwise {self._source.name}>"

    def __call__(self, *args: Any, **named: Any) -> R:  # noqa: ANN401 - arrays and numbers
        """Apply the function to each element; shapes broadcast, nothing is computed yet.

        Args:
            args: An array or a Python number for each parameter; `gl.const` parameters take what
                they say.
            named: The same by name.

        Raises:
            UsageError: Too many or too few arguments.
            DTypeError: An array that does not promote to its parameter's dtype.
            ShapeError: The shapes do not broadcast.
            KernelError: The function does what kernels cannot.
        """
        name = self._source.name
        bound = bind(name, self._source.parameters, args, named)
        types, consts = self._types(bound)
        rows = self._source.rows(types, consts)
        nodes = tuple(
            build.cast(value._node, types[key])
            if isinstance(value := bound[key], Array)
            else build.scalar(as_number(name, key, value), types[key])
            for key in types
        )
        shape = shapes.broadcast([node.shape for node in nodes], name)
        made = tuple(
            Array(Node(op, nodes, shape, dtype))
            for op, dtype in zip(rows.ops, rows.dtypes, strict=True)
        )
        return made if len(made) > 1 else made[0]  # type: ignore[return-value]

    def _types(self, bound: Mapping[str, Any]) -> tuple[dict[str, DType], dict[str, Any]]:
        """The dtype of each parameter that is an element, and the constants."""
        types = Types(self._source.name)
        found: dict[str, DType] = {}
        consts: dict[str, Any] = {}
        parameters = self._source.parameters
        for each in sorted(parameters, key=lambda p: not hasattr(bound[p.name], "dtype")):
            value = bound[each.name]
            if each.kind == "const":
                consts[each.name] = value
            else:
                found[each.name] = self._type(types, each, value, found)
        return {each.name: found[each.name] for each in parameters if each.name in found}, consts

    def _type(
        self,
        types: Types,
        parameter: Parameter,
        value: Any,  # noqa: ANN401 - an array or a number
        known: Mapping[str, DType],
    ) -> DType:
        wanted = parameter.element
        given = getattr(value, "dtype", None)
        if given is not None and not is_number(plain(value)):
            dtype = dtypes.as_dtype(given, self._source.name)
            if wanted is None or isinstance(wanted, TypeVar):
                return types.array(parameter, dtype)
            met = dtypes.promote(dtype, wanted, f"{self._source.name}: {parameter.name}")
            return wanted if met is wanted else types.array(parameter, dtype)
        number = as_number(self._source.name, parameter.name, value)
        if wanted is None:  # weak, as beside an array
            beside = next(iter(known.values()), None)
            if beside is None or (beside.kind == "bool") != isinstance(number, bool):
                return default_type(number)
            return dtypes.promote_scalar(beside, number, self._source.name)
        kind = types.made(parameter, default_type(number))
        return dtypes.promote_scalar(kind, number, f"{self._source.name}: {parameter.name}")

    def wgsl(self, *args: Any, **named: Any) -> str:  # noqa: ANN401 - arrays and numbers
        """The WGSL functions for arguments like these."""
        bound = bind(self._source.name, self._source.parameters, args, named)
        return self._source.rows(*self._types(bound)).ops[0].functions

    def simulate(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - NumPy arrays and numbers
        """The same on NumPy arrays, without a GPU: an array, or a tuple of them."""
        bound = bind(self._source.name, self._source.parameters, args, named)
        types, consts = self._types(bound)
        rows = self._source.rows(types, consts)
        return simulate.elementwise(
            rows.function, [bound[key] for key in types], list(types.values())
        )


class Kernel:
    """A Python function as a kernel on arrays; see `kernel`.

    Attributes:
        function: The Python function.
    """

    def __init__(
        self, function: FunctionType, workgroup: Sizes, bounds: Bounds, *, fast_math: bool
    ) -> None:
        self.function = function
        self._source = KernelSource(function, workgroup, bounds, is_fast=fast_math)
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.name}: {each.kind}" for each in self._source.parameters)
        return f"<aiogpu.kernel {self._source.name}({shown})>"

    def __call__(
        self,
        *args: Any,  # noqa: ANN401 - arrays and numbers
        out_shape: Any = None,  # noqa: ANN401 - a shape, or several
        threads: Sizes | None = None,
        workgroups: Sizes | None = None,
        **named: Any,  # noqa: ANN401 - arrays and numbers
    ) -> Array:
        """Enqueue the kernel; nothing is computed before a result is awaited.

        Args:
            args: Arrays for the ``In`` and ``InOut`` parameters, numbers for the others, in order;
                ``Out`` parameters are not given.
            out_shape: The shape of the ``Out`` arrays, or a list with one for each; by default that
                of the array that `gl.like` names, else of the first one given.
            threads: Invocations along each axis, the last the fastest, rounded up to whole
                workgroups; by default the shape of the first array that is written.
            workgroups: Workgroups along each axis, in place of ``threads``.
            named: Arguments by name.

        Returns:
            The arrays that the kernel makes or changes, in the order of its parameters: one, or a
            tuple of them (for a type checker an array, which unpacks into arrays too). Arrays
            that were given keep their values.

        Raises:
            UsageError: Arguments that do not fit; DTypeError and ShapeError among them.
            KernelError: The function does what kernels cannot; the message shows the line.
            LimitError: The device, if it is open, does not allow so many arrays, so large a
                workgroup or so much shared memory; else where a result is awaited.
        """
        grid = {"out_shape": out_shape, "threads": threads, "workgroups": workgroups}
        call = self._call(args, named, grid)
        compiled = self._source.compiled(call)
        if (runtime := evaluate.DEFAULT.runtime) is not None:
            check_limits(compiled, runtime.limits)
        operands = [_operand(call.given[key], each.kind) for key, each in self._given(call)]
        numbers = [
            build.constant(call.scalars[key], dtype) for key, dtype in call.scalar_types.items()
        ]
        return self._launch(compiled, call, operands, numbers)  # type: ignore[no-any-return]

    def __getitem__(self, grid: object) -> NoReturn:
        name = self._source.name
        raise UsageError(
            f"{name}[...]: a launch is a call: {name}(..., threads=...) counts invocations, "
            "workgroups=... workgroups"
        )

    def _given(self, call: Call) -> list[tuple[str, Parameter]]:
        """The parameters that are given arrays."""
        parameters = self._source.parameters
        return [(each.name, each) for each in parameters if each.name in call.given]

    def _call(
        self, args: Sequence[Any], named: Mapping[str, Any], grid: Mapping[str, Any],
        kind: type | None = Array,
    ) -> Call:  # fmt: skip
        source = self._source
        bound = bind(source.name, source.parameters, args, named)
        described: dict[str, tuple[DType, Shape]] = {}
        for each in source.parameters:
            if each.is_array and each.is_given:
                value = bound[each.name]
                if (kind is not None and not isinstance(value, kind)) or not hasattr(
                    value, "dtype"
                ):
                    raise UsageError(
                        f"{source.name}: {each.name}: {type(value).__name__}: takes an array; make "
                        "one with asarray"
                    )
                dtype = dtypes.as_dtype(value.dtype, f"{source.name}: {each.name}")
                described[each.name] = dtype, tuple(value.shape)
        return resolve(source.name, source.parameters, source.workgroup, bound, described, grid)

    def _launch(
        self, compiled: Compiled, call: Call, operands: list[Node], numbers: list[Node]
    ) -> Any:  # noqa: ANN401 - an array, or several
        written = [each for each in self._source.parameters if each.kind in {"out", "inout"}]
        order = [key for key, _ in self._given(call)]
        made = [call.shapes[each.name] for each in written]
        kinds = [call.kinds[each.name] for each in written]
        attrs = {
            "compiled": compiled,
            "narrays": len(operands),
            "groups": call.groups,
            "shapes": made,
            "outputs": [prod(s) * kind.itemsize for s, kind in zip(made, kinds, strict=True)],
            "changed": {
                at: order.index(each.name)
                for at, each in enumerate(written)
                if each.kind == "inout"
            },
        }
        node = Node(self._source.op, (*operands, *numbers), made[0], kinds[0], attrs)
        if len(written) == 1:
            return Array(node)
        return tuple(
            Array(Node(table.PICK, (node,), shape, kind, {"index": at}))
            for at, (shape, kind) in enumerate(zip(made, kinds, strict=True))
        )

    def wgsl(
        self,
        *args: Any,  # noqa: ANN401 - arrays and numbers
        out_shape: Any = None,  # noqa: ANN401 - a shape, or several
        threads: Sizes | None = None,
        workgroups: Sizes | None = None,
        **named: Any,  # noqa: ANN401 - arrays and numbers
    ) -> str:
        """The shader that such a call would run, with the Python lines as comments."""
        grid = {"out_shape": out_shape, "threads": threads, "workgroups": workgroups}
        call = self._call(args, named, grid, None)
        compiled = self._source.compiled(call)
        limits = _limits()
        views = [
            build.view_of(value._node)[1]
            if isinstance(value := call.given.get(key), Array)
            else View.contiguous(shape)
            for key, shape in call.shapes.items()
        ]
        layouts = tuple(map(layout_of, views))
        numbers = [Const(call.scalars[key], dtype) for key, dtype in call.scalar_types.items()]
        params = compiled.params(layouts, views, numbers, call.groups)
        wgsl, origins = compiled.text(layouts, params, limits)
        return origins.annotated(wgsl)

    def simulate(
        self,
        *args: Any,  # noqa: ANN401 - NumPy arrays and numbers
        out_shape: Any = None,  # noqa: ANN401 - a shape, or several
        threads: Sizes | None = None,
        workgroups: Sizes | None = None,
        **named: Any,  # noqa: ANN401 - NumPy arrays and numbers
    ) -> Any:  # noqa: ANN401 - a NumPy array, or several
        """Run the kernel on NumPy arrays, without a GPU; the arguments keep their values.

        Barriers and atomics work; invocations run one after another between barriers. What a
        kernel does not write is 0. With ``bounds="debug"`` an index out of range raises at once.

        Raises:
            AxisError: An index is out of range, in debug mode.
            UsageError: As a call, or some invocations ended where others wait.
            KernelError: As a call.
        """
        grid = {"out_shape": out_shape, "threads": threads, "workgroups": workgroups}
        return self._simulated(args, named, grid)

    def _simulated(
        self, args: Sequence[Any], named: Mapping[str, Any], grid: Mapping[str, Any], *,
        seed: int | None = None, limits: Limits | None = None,
    ) -> Any:  # fmt: skip # noqa: ANN401 - a NumPy array, or several
        """See `simulate`; in another order, and within limits."""
        import numpy as np  # only the simulator needs it

        call = self._call(args, named, grid, None)
        compiled = self._source.compiled(call)
        if limits is not None:
            check_limits(compiled, limits)
        arrays = []
        results = []
        for each in self._source.parameters:
            if not each.is_array:
                continue
            kind = simulate.numpy_dtype(call.kinds[each.name])
            if each.kind == "out":
                array = np.zeros(call.shapes[each.name], kind)
            else:
                array = np.array(call.given[each.name], kind, copy=each.kind == "inout" or None)
            arrays.append(array)
            if each.kind != "in":
                results.append(array)
        is_debug = self._source.bounds == "debug"
        simulate.run(
            compiled.kernel, arrays, call.scalars, call.groups, is_debug=is_debug, seed=seed
        )
        return results[0] if len(results) == 1 else tuple(results)


def _operand(array: Array, kind: str) -> Node:
    """What a kernel reads: any view; or, what it changes, a node that owns all its elements."""
    node = array._node
    if kind == "inout" and build.view_of(node)[0] is not node:
        return build.copy(node)
    return node


@overload
def elementwise(
    function: Callable[..., tuple[Any, ...]], *, fast_math: bool = False
) -> Elementwise[tuple[Array, ...]]: ...
@overload
def elementwise(
    function: Callable[..., float], *, fast_math: bool = False
) -> Elementwise[Array]: ...
@overload
def elementwise(
    function: None = None, *, fast_math: bool = False
) -> Callable[[Callable[..., Any]], Elementwise[Any]]: ...
def elementwise(function: Any = None, *, fast_math: bool = False) -> Any:
    """Make a Python function of elements a function of arrays.

    Shapes broadcast, views are read as they lie, and the function is computed together with the
    operations around it, in one launch. It may return a tuple. ::

        @gpu.elementwise
        def gelu(x: gl.f32) -> gl.f32:
            return 0.5 * x * (1 + math.tanh(0.79788456 * (x + 0.044715 * x**3)))

    Args:
        function: Parameters are annotated ``gl.f32``, ``gl.i32`` and so on, or take any dtype;
            those that are ``gl.const`` are known when the function is compiled.
        fast_math: Take the adapter's own functions: faster, less exact, not sure of NaN.

    Raises:
        KernelError: Its source cannot be read, or its parameters cannot be those of a kernel.
    """
    if function is None:
        return functools.partial(elementwise, fast_math=fast_math)
    return Elementwise(_checked(function, "elementwise"), fast_math=fast_math)


@overload
def kernel(
    function: Callable[..., None],
    *,
    workgroup: Sizes = 64,
    bounds: Bounds = "safe",
    fast_math: bool = False,
) -> Kernel: ...
@overload
def kernel(
    function: None = None,
    *,
    workgroup: Sizes = 64,
    bounds: Bounds = "safe",
    fast_math: bool = False,
    source: str,
    namespace: Mapping[str, Any] | None = None,
) -> Kernel: ...
@overload
def kernel(
    function: None = None,
    *,
    workgroup: Sizes = 64,
    bounds: Bounds = "safe",
    fast_math: bool = False,
) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(
    function: Any = None,
    *,
    workgroup: Sizes = 64,
    bounds: Bounds = "safe",
    fast_math: bool = False,
    source: str | None = None,
    namespace: Mapping[str, Any] | None = None,
) -> Any:
    """Make a Python function a kernel on arrays; docs/kernels.md shows the language.

    ::

        @gpu.kernel(workgroup=64)
        def saxpy(a: gl.f32, x: gl.In[gl.f32], y: gl.In[gl.f32], out: gl.Out[gl.f32]):
            i = gl.global_id(1)
            out[i] = a * x[i] + y[i]

        z = saxpy(2.0, x, y)

    Args:
        function: The function; left out where there are other arguments.
        workgroup: Invocations of a workgroup along each axis, the fastest last.
        bounds: For indices out of range: ``safe`` reads give 0 and writes are dropped;
            ``unchecked`` leaves them to WebGPU, which keeps them inside of the buffer; ``debug``
            reports the first at the next await, with its line.
        fast_math: Take the adapter's own functions: faster, less exact, not sure of NaN.
        source: The text of the kernel, in place of a function whose source cannot be read.
        namespace: What names outside of ``source`` stand for.

    Raises:
        KernelError: Its source cannot be read, or its parameters cannot be those of a kernel.
    """
    if source is not None:
        if function is not None:
            raise UsageError("kernel: both a function and source are given")
        function = define(source, namespace)
    if function is None:
        return functools.partial(
            kernel, workgroup=workgroup, bounds=bounds, fast_math=fast_math, namespace=namespace
        )
    return Kernel(_checked(function, "kernel"), workgroup, bounds, fast_math=fast_math)


def _checked(function: Any, name: str) -> FunctionType:  # noqa: ANN401 - whatever was decorated
    if not isinstance(function, FunctionType):
        hint = {int: "; sizes go by name: workgroup=", MethodType: " outside of a class"}
        raise KernelError(
            f"{name}: {function!r}: takes a function written with def{hint.get(type(function), '')}"
        )
    return function
