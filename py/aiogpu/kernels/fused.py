"""A step as its kernel sees it: functions to call before and after its core.

::

    operand(i)        the element that the core takes, computed on the way
    operand4(q)       the four from 4 q on
    finish(i, value)  the output's element, computed from what the core gives
    spot(i)           where an element lies among the others, if axes were moved behind the rest
    target(i)         where the output's element is stored, if not at its own number

Kernels write calls of them by the methods of `Fused`, which leave out what there is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu.kernels import types
from aiogpu.kernels.body import Function, Spot, buffer, moved_last
from aiogpu.schedule.step import OUT, Load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.graph.node import Node
    from aiogpu.kernels.writer import Params
    from aiogpu.limits import Limits
    from aiogpu.schedule.step import Step


MAX_INSTRS: Final = 24  # in a body that is written four times


class Fused:
    """What surrounds the core of a step in one of its launches.

    Attributes:
        slots: The inputs that the launch binds, in order.
        dtype: The dtype of the elements that are stored.
        takes_fours: There is an ``operand4``.
        puts_fours: The output is stored by `store_four`, and not otherwise.
    """

    def __init__(
        self,
        step: Step,
        limits: Limits,
        *,
        moved: tuple[int, ...] = (),
        is_first: bool = True,
        is_last: bool = True,
        is_scattered: bool = False,
        fours: Sequence[bool] = (),
        takes_fours: bool = False,
        puts_fours: bool = False,
    ) -> None:
        """As the class says.

        Args:
            step: The step.
            limits: What the device can.
            moved: Axes of the body's space that the kernel walks along: they are moved last.
            is_first: Whether this launch of the step reads its operands.
            is_last: Whether it writes its output.
            is_scattered: Whether it writes elements one by one, not whole words of them.
            fours: For each operand that the core reads as it lies, whether it would read it by
                aligned vectors of four.
            takes_fours: Whether it would take elements of the body by four, of which four divides
                the number of the first.
            puts_fours: Whether it would store such fours.
        """
        self._step = step
        self._has_f16 = limits.has_f16
        self.dtype = step.dtype
        self._before: Function | None = None
        self._after: Function | None = None
        self._spot: Spot | None = None
        self._target: Spot | None = None
        slots: set[int] = set()
        if is_first:
            slots.update(step.slots)
            if step.body is not None:
                body, spot = moved_last(step.body, moved)
                self._before = Function(body, "")
                slots.update(body.slots)
                if spot is not None:
                    self._spot = Spot(spot, "spot")
        if is_last:
            if step.finish is not None:
                self._after = Function(step.finish, "f")
                slots.update(step.finish.slots)
            if step.target is not None:
                self._target = Spot(step.target, "target_")
        self._is_last = is_last
        self.is_scattered = is_last and (is_scattered or step.target is not None)
        self.slots = sorted(slots)
        self._stored = self._declared()
        self._fours = self._vectors(fours)
        self.puts_fours = puts_fours and is_last and self._can_put_fours()
        self.takes_fours = (
            takes_fours
            and self._before is not None
            and len(self._before.code.instrs) <= MAX_INSTRS
            and self._before.code.dtype.compute in {"f32", "i32", "u32"}
        )
        self._aligned: set[int] = set()
        if self.takes_fours and self._before is not None:
            after = self._after.code.slots if self._after is not None else []
            self._aligned = self._before.aligned(self._stored) - {*after, OUT}
        for slot in (*self._fours, *self._aligned):
            self._stored[slot] = f"vec4<{self._stored[slot]}>"

    def _can_put_fours(self) -> bool:
        """Whether four neighbours of the output are a vector in memory, and nobody reads it."""
        return (
            self._target is None
            and self.dtype.kind != "complex"
            and OUT not in self._step_slots()
            and self.out_kind in {"f32", "i32", "u32", "f16"}
            and types.lanes(self.dtype, self._has_f16) == 1
        )

    def _step_slots(self) -> set[int]:
        """All slots that the functions read, the output's own among them."""
        both = (self._before, self._after)
        return {
            instr.slot
            for function in both
            if function is not None
            for instr in function.code.instrs
            if isinstance(instr, Load)
        }

    def _vectors(self, fours: Sequence[bool]) -> set[int]:
        """The inputs that are declared as vectors: those that nobody reads otherwise."""
        others = {
            slot
            for function in (self._before, self._after)
            if function is not None
            for slot in function.code.slots
        }
        operands = zip(self._step.slots, self._operands(), strict=True)
        for number, (slot, operand) in enumerate(operands):
            kind = types.storage(operand.dtype, self._has_f16)
            is_packed = types.lanes(operand.dtype, self._has_f16) > 1
            if number >= len(fours) or not fours[number] or is_packed or kind != self._stored[slot]:
                others.add(slot)
        return set(self._step.slots) - others

    def _declared(self) -> dict[int, str]:
        """How each input is declared: as it is read; where that differs, as the first does."""
        kinds: dict[int, str] = {OUT: self.out_kind} if self._is_last else {}
        reads = [
            (slot, operand.dtype)
            for slot, operand in zip(self._step.slots, self._operands(), strict=True)
        ]
        for function in (self._before, self._after):
            if function is not None:
                loads = [instr for instr in function.code.instrs if isinstance(instr, Load)]
                reads += [(load.slot, load.dtype) for load in loads]
        for slot, dtype in reads:
            kind = types.storage(dtype, self._has_f16)
            if kinds.setdefault(slot, kind) != kind and "f16" in {kind, kinds[slot]}:
                kinds[slot] = "u32"  # naga does not reinterpret float16
        return kinds

    def _operands(self) -> Sequence[Node]:
        """The operands that lie in memory as the core reads them."""
        operands = self._step.core.inputs
        return operands[len(operands) - len(self._step.slots) :]

    @property
    def out_kind(self) -> str:
        """The WGSL element type of the output's binding."""
        if self.is_scattered:
            return types.stored_scattered(self.dtype, self._has_f16)
        return types.storage(self.dtype, self._has_f16)

    @property
    def lanes(self) -> int:
        """How many elements of the output share a word that one invocation must write."""
        return 1 if self.is_scattered else types.lanes(self.dtype, self._has_f16)

    @property
    def ninstrs(self) -> int:
        """The instructions for one element, roughly."""
        both = (self._before, self._after)
        return sum(len(function.code.instrs) for function in both if function is not None)

    @property
    def key(self) -> tuple[object, ...]:
        """All that the text depends on, as far as it comes from here."""
        parts = (self._before, self._after, self._spot, self._target)
        return (
            self._step.slots,
            self.dtype,
            tuple(self._stored.items()),
            (self.takes_fours, self.puts_fours),
            *(part and part.key for part in parts),
        )

    def add_params(self, params: Params) -> None:
        """Append what the functions need."""
        for part in (self._before, self._after, self._spot, self._target):
            if part is not None:
                part.add_params(params)

    def buffers(self) -> list[tuple[str, str, bool]]:
        """The inputs as bindings, and the output if this launch writes it."""
        inputs = [(buffer(slot), self._stored[slot], False) for slot in self.slots]
        out = f"vec4<{self.out_kind}>" if self.puts_fours else self.out_kind
        return [*inputs, ("out", out, True)] if self._is_last else inputs

    def functions(self) -> str:
        """The text of the functions."""
        parts = (self._before, self._after)
        own = [part.functions for part in parts if part is not None]
        texts = list({text: None for each in own for text in each})
        if self._before is not None and not self.takes_fours:
            texts.append(self._before.text("fn operand(i: u32)", self._stored))
        elif self._before is not None:
            texts += self._operand_four(self._before)
        if self._after is not None:
            kind = self._step.core.dtype.compute
            texts.append(self._after.text(f"fn finish(i: u32, value: {kind})", self._stored))
        texts += [spot.text() for spot in (self._spot, self._target) if spot is not None]
        return "".join(texts)

    def _operand_four(self, before: Function) -> list[str]:
        """Functions of one element, given what is loaded by vectors, and of four."""
        slots = sorted(self._aligned)
        kinds = {slot: self._stored[slot].removeprefix("vec4<").rstrip(">") for slot in slots}
        given = "".join(
            f", x{slot}: {'f32' if kinds[slot] == 'f16' else kinds[slot]}" for slot in slots
        )
        lines = []
        for slot in slots:
            vector = f"{buffer(slot)}[{before.vector_number(slot, 'q')}]"
            lines.append(f"let x{slot} = {f'vec4f({vector})' if kinds[slot] == 'f16' else vector};")
        each = (
            f"element(4u * q + {lane}u{''.join(f', x{slot}[{lane}]' for slot in slots)})"
            for lane in range(4)
        )
        kind = before.code.dtype.compute
        lines.append(f"return vec4<{kind}>({', '.join(each)});")
        body = "".join(f"  {line}\n" for line in lines)
        return [
            before.text(f"fn element(i: u32{given})", self._stored, slots),
            f"fn operand4(q: u32) -> vec4<{kind}> {{\n{body}}}\n",
        ]

    # What kernels write

    def load(self, number: int, index: str) -> str:
        """An element of an operand that the core reads as it lies."""
        slot = self._step.slots[number]
        dtype = self._operands()[number].dtype
        return types.load(buffer(slot), index, dtype, self._stored[slot])

    def reader(self, number: int, name: str) -> str:
        """A function of an element's number that loads it from such an operand."""
        kind = self._operands()[number].dtype.compute
        return f"fn {name}(i: u32) -> {kind} {{ return {self.load(number, 'i')}; }}\n"

    def fours(self, number: int) -> bool:
        """Whether an operand that the core reads as it lies is read by vectors of four."""
        return self._step.slots[number] in self._fours

    def load_four(self, number: int, index: str) -> str:
        """Vector ``index`` of such an operand, in the compute type."""
        slot = self._step.slots[number]
        vector = f"{buffer(slot)}[{index}]"
        return f"vec4f({vector})" if self._stored[slot] == "vec4<f16>" else vector

    def spot(self, index: str) -> str:
        """Where element ``index``, counted with the moved axes last, lies among the others."""
        return index if self._spot is None else f"spot({index})"

    def finish(self, index: str, value: str) -> str:
        """The output's element ``index``, from what the core gives for it."""
        return value if self._after is None else f"finish({index}, {value})"

    def store(self, index: str, value: str) -> list[str]:
        """Statements that finish element ``index`` and store it, its neighbours untouched."""
        place = index if self._target is None else f"target_({index})"
        done = self.finish(index, value)
        if self.out_kind == types.ATOMIC:
            return [
                "{",
                f"  let at_ = {place};",
                f"  let done_ = {done};",
                *(f"  {s}" for s in types.store("out", "at_", "done_", self.dtype, self.out_kind)),
                "}",
            ]
        return [f"out[{place}] = {types.element(done, self.dtype, self.out_kind)};"]

    def store_four(self, index: str, values: str) -> list[str]:
        """Statements that finish and store the four elements from ``4 * index`` on."""
        kind = self.out_kind
        done = [
            types.element(self.finish(f"(4u * {index} + {lane}u)", f"{values}[{lane}]"),
                          self.dtype, kind)
            for lane in range(4)
        ]  # fmt: skip
        if self._after is None and kind == self.dtype.compute:
            return [f"out[{index}] = {values};"]
        return [f"out[{index}] = vec4<{kind}>({', '.join(done)});"]

    def each(self, workgroup: int, count: str, statements: Sequence[str], value: str) -> list[str]:
        """Statements of a kernel of which an invocation computes one element ``i`` of the output.

        Or all elements of one word, where several share it: no shader writes a byte.

        Args:
            workgroup: Invocations of a workgroup.
            count: The number of elements.
            statements: What computes ``value``; they see ``i``.
            value: What the core gives for element ``i``.
        """
        at = f"let at = group * {workgroup}u + lid;"
        if self.lanes == 1:
            return [
                at,
                "let i = at;",
                f"if (i >= {count}) {{ return; }}",
                *statements,
                *self.store("i", value),
            ]
        dtype, lanes = self.dtype, self.lanes
        return [
            at,
            f"if (at >= ({count} + {lanes - 1}u) / {lanes}u) {{ return; }}",
            "var packed = 0u;",
            f"for (var lane = 0u; lane < {lanes}u; lane++) {{",
            f"  let i = at * {lanes}u + lane;",
            f"  if (i >= {count}) {{ break; }}",
            *(f"  {line}" for line in statements),
            f"  packed |= {types.pack(self.finish('i', value), dtype)}"
            f" << (lane * {8 * dtype.itemsize}u);",
            "}",
            "out[at] = packed;",
        ]
