"""Functions under `aiogpu.kernel` and `aiogpu.elementwise`, compiled once for each kind of call."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiogpu.errors import KernelError, UsageError
from aiogpu.graph.build import FAST
from aiogpu.graph.table import Op
from aiogpu.lang import tree
from aiogpu.lang.binding import RESERVED
from aiogpu.lang.compiler import compile_function, compile_kernel
from aiogpu.lang.emit import Emitter
from aiogpu.lang.launch import Compiled
from aiogpu.lang.signature import parameters
from aiogpu.lang.source import capture
from aiogpu.lang.text import Text
from aiogpu.lang.types import BOOL, F16, F32, I32, U32, Pair, in_registers, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import FunctionType

    from aiogpu.dtypes import DType
    from aiogpu.lang.access import Bounds
    from aiogpu.lang.binding import Call
    from aiogpu.lang.signature import Parameter
    from aiogpu.lang.text import Origins

MOST_INVOCATIONS: Final = 1024
_PLACEHOLDER: Final = "own_"


def is_current(captured: list[tuple[Any, str, Any]]) -> bool:
    """Whether what a kernel took from outside is still what stands there."""
    for place, name, found in captured:
        if isinstance(place, dict):
            now = place.get(name, captured)
        else:
            try:
                now = getattr(place, name)
            except ValueError:  # a cell that was emptied
                return False
        if now is not found and not (
            type(now) is type(found) and isinstance(now, (bool, int, float, str)) and now == found
        ):
            return False
    return True


class KernelSource:
    """A block kernel: what is known before a call.

    Attributes:
        name: The function's name.
        op: Its row for the graph.
        parameters: Its parameters.
        workgroup: Invocations along each axis, the fastest last.
        bounds: What happens to indices out of range.
    """

    def __init__(
        self,
        function: FunctionType,
        workgroup: Any,  # noqa: ANN401 - sizes
        bounds: Bounds,
        *,
        is_fast: bool,
    ) -> None:
        self.source = capture(function)
        self.name = function.__name__
        self.op = Op(self.name, "kernel")
        self.parameters = parameters(self.source, is_elementwise=False)
        for each in self.parameters:
            if each.name in RESERVED:
                self.source.refuse(self.source.tree, f"{each.name}: the call has that name itself")
        self.workgroup = _sizes(self.name, workgroup)
        if bounds not in ("safe", "unchecked", "debug"):
            raise UsageError(f"{self.name}: bounds={bounds!r}: safe, unchecked or debug")
        self.bounds: Bounds = bounds
        self._is_fast = is_fast
        self._compiled: dict[object, Compiled] = {}

    def compiled(self, call: Call) -> Compiled:
        """The kernel for the types of a call.

        Raises:
            KernelError: The function does what kernels cannot.
        """
        is_fast = self._is_fast or FAST.get()
        key = (*call.key(), is_fast)
        try:
            found = self._compiled.get(key)
        except TypeError:
            raise UsageError(f"{self.name}: a const that cannot be hashed: pass a tuple") from None
        if found is None or not is_current(found.kernel.captured):
            arrays = {
                each.name: tree.Memory(
                    each.name,
                    each.kind,  # type: ignore[arg-type]
                    call.kinds[each.name],
                    len(call.shapes[each.name]),
                )
                for each in self.parameters
                if each.is_array
            }
            known = {**call.scalar_types, **call.kinds}
            kernel = compile_kernel(
                self.source,
                arrays,
                call.scalar_types,
                call.consts,
                self.workgroup,
                call.naxes,
                generic(self.parameters, known),
            )
            found = self._compiled[key] = Compiled(kernel, self.bounds, is_fast=is_fast)
        return found


def generic(parameters: Iterable[Parameter], known: Mapping[str, DType]) -> dict[TypeVar, DType]:
    """What the type variables of parameters are, from the dtypes of a call."""
    return {
        each.element: known[each.name]
        for each in parameters
        if isinstance(each.element, TypeVar) and each.name in known
    }


def _sizes(name: str, workgroup: Any) -> tuple[int, ...]:  # noqa: ANN401 - sizes
    sizes = tuple(workgroup) if isinstance(workgroup, (tuple, list)) else (workgroup,)
    total = 1
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise UsageError(f"{name}: workgroup {workgroup}: 1 to 3 positive numbers")
        total *= size
    if not 1 <= len(sizes) <= 3 or total > MOST_INVOCATIONS:
        raise UsageError(
            f"{name}: workgroup {workgroup}: 1 to 3 axes, {MOST_INVOCATIONS} invocations at most"
        )
    return sizes


class Rows:
    """An elementwise function for the types of its arguments, as rows of the op table.

    Attributes:
        function: Its typed tree.
        ops: One row for each of its results.
        dtypes: Their dtypes.
    """

    def __init__(
        self,
        function: tree.Function,
        functions: list[tree.Function],
        captured: list[Any],
        *,
        is_fast: bool,
    ) -> None:
        self.function = function
        self.captured = captured
        prefix, text = _text(functions, is_fast=is_fast, letter="e")
        called = Emitter(None, (), prefix=prefix).function_name(function)
        result = function.result
        parts = result.parts if isinstance(result, Pair) else (result,)
        count = len(function.params)
        given = ", ".join(f"{{{at}}}" for at in range(count))
        self.ops = []
        self.dtypes: list[DType] = []
        for at, part in enumerate(parts):
            if part not in (F32, F16, I32, U32, BOOL):
                source = function.source
                source.refuse(source.tree, f"returns {short(part)}: return its components")
            member = f".m{at}" if isinstance(result, Pair) else ""
            name = f"{function.source.name}()" + (f"[{at}]" if member else "")
            wgsl = {"*": f"{called}({given}){member}"}
            self.ops.append(
                Op(
                    name,
                    "elementwise",
                    count,
                    wgsl=wgsl,
                    functions=text.declarations,
                    origin=text,
                )
            )
            self.dtypes.append(part)


def _text(functions: list[tree.Function], *, is_fast: bool, letter: str) -> tuple[str, Origins]:
    """Functions as WGSL, under names that no other text uses; and the prefix of these names."""
    emitter = Emitter(None, (), is_fast=is_fast, prefix=_PLACEHOLDER)
    emitter.functions(functions)
    text = Text()
    for line in (*emitter.structs(functions), *emitter.helpers().splitlines()):
        text.add(line)
    text.lines += emitter.text.lines
    prefix = f"{letter}{hashlib.sha256(text.plain().encode()).hexdigest()[:10]}_"
    text.lines = [(line.replace(_PLACEHOLDER, prefix), *at) for line, *at in text.lines]  # type: ignore[misc]
    return prefix, text.origins()


class ElementwiseSource:
    """An elementwise function: what is known before a call."""

    def __init__(self, function: FunctionType, *, is_fast: bool) -> None:
        self.source = capture(function)
        self.name = "lambda" if function.__name__ == "<lambda>" else function.__name__
        self.parameters = parameters(self.source, is_elementwise=True)
        self._is_fast = is_fast
        self._rows: dict[object, Rows] = {}

    def combination(self, dtype: DType) -> Op:
        """A function of two elements that gives a third, as the row of a reduction.

        Raises:
            KernelError: It is not such a function.
        """
        first, second = (each.name for each in self.parameters)
        kind = in_registers(dtype)
        function, compiler = compile_function(self.source, {first: kind, second: kind}, {})
        if function.result is not kind:
            self.source.refuse(
                self.source.tree, f"gives {short(function.result)} from two {short(kind)}"
            )
        prefix, text = _text(compiler.functions, is_fast=self._is_fast, letter="r")
        called = Emitter(None, (), prefix=prefix).function_name(function)
        wgsl = {"*": f"{called}({{0}}, {{1}})"}
        return Op(
            f"{self.name}()", "reduce", 1, wgsl=wgsl, functions=text.declarations, origin=text
        )

    def rows(self, types: dict[str, DType], consts: dict[str, Any]) -> Rows:
        """The function for the types of its arguments.

        Raises:
            KernelError: The function does what kernels cannot.
        """
        is_fast = self._is_fast or FAST.get()
        key = (tuple(types.items()), tuple((type(v), v) for v in consts.values()), is_fast)
        found = self._rows.get(key)
        if found is None or not is_current(found.captured):
            widened = {name: in_registers(dtype) for name, dtype in types.items()}
            function, compiler = compile_function(
                self.source, widened, consts, generic(self.parameters, types)
            )
            if not function.params:
                raise KernelError(f"{self.name}: no element to compute from")
            found = self._rows[key] = Rows(
                function, compiler.functions, compiler.captured, is_fast=is_fast
            )
        return found
