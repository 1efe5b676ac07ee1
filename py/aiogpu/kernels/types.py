"""How dtypes look in WGSL: in storage, in registers, and on the way between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes

if TYPE_CHECKING:
    from aiogpu.dtypes import DType


_WIDEN = {dtypes.float16: "ag_f16_to_f32", dtypes.bfloat16: "ag_bf16_to_f32"}


def storage(dtype: DType, has_f16: bool = False) -> str:
    """The WGSL element type of a buffer of ``dtype``; packed dtypes lie in words."""
    return "u32" if dtype.is_packed else dtype.compute


def stored_scattered(dtype: DType, has_f16: bool = False) -> str:
    return "atomic<u32>" if dtype.is_packed else storage(dtype, has_f16)


def element(value: str, dtype: DType, stored: str) -> str:
    return value


def store(buffer: str, index: str, value: str, dtype: DType, stored: str) -> list[str]:
    if not dtype.is_packed:
        return [f"{buffer}[{index}] = {element(value, dtype, stored)};"]
    bits = 8 * dtype.itemsize
    mask = hex((1 << bits) - 1)
    return [
        f"let shift_ = ({index} & {dtype.lanes - 1}u) * {bits}u;",
        f"atomicAnd(&{buffer}[{index} / {dtype.lanes}u], ~({mask}u << shift_));",
        f"atomicOr(&{buffer}[{index} / {dtype.lanes}u], {pack(value, dtype)} << shift_);",
    ]


def load(buffer: str, index: str, dtype: DType, stored: str | None = None) -> str:
    """The value of element ``index``; ``stored`` is how the buffer is declared."""
    kind = storage(dtype)

    def word(at: str) -> str:
        return f"{buffer}[{at}]" if stored in {None, kind} else f"bitcast<{kind}>({buffer}[{at}])"

    if not dtype.is_packed:
        return word(index)
    bits = 8 * dtype.itemsize
    lane = f"({index} & {dtype.lanes - 1}u) * {bits}u"
    return unpack(f"extractBits({word(f'({index}) / {dtype.lanes}u')}, {lane}, {bits}u)", dtype)


def unpack(bits: str, dtype: DType) -> str:
    """The value of an element's bits, given as a u32."""
    if dtype is dtypes.bool_:
        return f"({bits} != 0u)"
    return f"{_WIDEN[dtype]}({bits})" if dtype in _WIDEN else bits


def pack(value: str, dtype: DType) -> str:
    """The bits, as a u32, of a value in the compute type."""
    if dtype is dtypes.bool_:
        return f"select(0u, 1u, {value})"
    return f"({value} & {hex((1 << 8 * dtype.itemsize) - 1)}u)"


def narrow(value: str, dtype: DType) -> str:
    """A computed value wrapped to the width of ``dtype``, where that is under 32 bits."""
    return (
        f"({value} & {hex(dtype.range[1])}u)" if dtype.is_packed and dtype.kind == "uint" else value
    )


_FROM_F32 = {"int32": "ag_f32_to_i32", "uint32": "ag_f32_to_u32", "uint8": "ag_f32_to_u8"}


def cast(value: str, given: DType, wanted: DType) -> str:
    """A value of one dtype in another: floats truncate and saturate, integers wrap, NaN gives 0."""
    if given is wanted:
        return value
    if wanted is dtypes.bool_:
        # NaN is true, and WGSL's != is false of it on some adapters.
        test = f"{value} != {zero(given)}"
        return f"({test} || ag_isnan({value}))" if given.kind == "float" else f"({test})"
    if given is dtypes.bool_:
        return f"select({zero(wanted)}, {one(wanted)}, {value})"
    if given.kind == wanted.kind == "float":
        return value
    if given.kind == "float":
        return f"{_FROM_F32[wanted.name]}({value})"
    if wanted.kind == "float":
        return f"f32({value})" if given.is_packed else f"ag_{given.compute}_to_f32({value})"
    return narrow(
        f"{wanted.compute}({value})" if given.compute != wanted.compute else value, wanted
    )


def two_sum(value: str) -> list[str]:
    """Statements that add ``value`` to ``acc`` and the rounding error to ``err``.

    TwoSum (Knuth, The Art of Computer Programming, volume 2, 4.2.2); every step passes through
    `ag_opaque`, or compilers that reassociate would find that the error is 0.
    """
    return [
        f"let total = ag_opaque(acc + {value}, p.zero);",
        "let part = ag_opaque(total - acc, p.zero);",
        "let back = ag_opaque(total - part, p.zero);",
        f"err += (acc - back) + ({value} - part);",
        "acc = total;",
    ]


def zero(dtype: DType) -> str:
    """The literal 0 of the compute type."""
    return {"f32": "0.0", "i32": "0", "u32": "0u", "bool": "false"}[dtype.compute]


def one(dtype: DType) -> str:
    """The literal 1 of the compute type."""
    return {"f32": "1.0", "i32": "1", "u32": "1u", "bool": "true"}[dtype.compute]


def is_word(dtype: DType, has_f16: bool) -> bool:
    """Whether an element of ``dtype`` is stored without touching others."""
    return storage(dtype, has_f16) != "u32" or not dtype.is_packed


def lanes(dtype: DType, has_f16: bool) -> int:
    """Elements that share what one invocation must write."""
    return 1 if is_word(dtype, has_f16) else dtype.lanes
