"""How dtypes look in WGSL: in storage, in registers, and on the way between them.

Elements under 4 bytes are packed in words, and no shader writes a byte: either an invocation makes
whole words (`pack`), or the words are atomic and each element's bits are exchanged (`store`).
float16 is packed too, unless the device has the feature shader-f16.

An argument ``stored`` is the WGSL element type with which a buffer is declared. One buffer may be
read as several dtypes: what differs is reinterpreted, except that only float16 can be read from a
buffer of ``f16``, since naga refuses to bitcast between that and u32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu import dtypes

if TYPE_CHECKING:
    from aiogpu.dtypes import DType

ATOMIC = "atomic<u32>"

_WIDEN = {dtypes.float16: "ag_f16_to_f32", dtypes.bfloat16: "ag_bf16_to_f32"}
_HALVE = {dtypes.float16: "ag_f32_to_f16", dtypes.bfloat16: "ag_f32_to_bf16"}


def storage(dtype: DType, has_f16: bool = False) -> str:
    """The WGSL element type of a buffer of ``dtype``; packed dtypes lie in words."""
    if dtype is dtypes.float16 and has_f16:
        return "f16"
    return "u32" if dtype.is_packed else dtype.compute


def stored_scattered(dtype: DType, has_f16: bool = False) -> str:
    """The same of a buffer that `store` writes."""
    kind = storage(dtype, has_f16)
    return ATOMIC if dtype.is_packed and kind == "u32" else kind


def lanes(dtype: DType, has_f16: bool) -> int:
    """How many elements of a buffer of `storage` share what one invocation must write."""
    return dtype.lanes if storage(dtype, has_f16) == "u32" and dtype.is_packed else 1


def load(buffer: str, index: str, dtype: DType, stored: str | None = None) -> str:
    """The value, in the compute type, of element ``index``, a u32 expression."""
    stored = stored or storage(dtype)
    if stored == "f16":
        if dtype is not dtypes.float16:
            raise ValueError(f"load: {dtype.name} from a buffer of f16: declare it as u32")
        return f"f32({buffer}[{index}])"
    if dtype.kind == "complex":
        if stored == "vec2f":
            return f"{buffer}[{index}]"
        real, imaginary = (
            _word(buffer, f"({_closed(index)} * 2u + {part}u)", "f32", stored) for part in (0, 1)
        )
        return f"vec2f({real}, {imaginary})"
    if not dtype.is_packed:
        return _word(buffer, index, dtype.compute, stored)
    bits, at = 8 * dtype.itemsize, _closed(index)
    kind = "i32" if dtype.kind == "int" else "u32"  # extractBits extends the sign of an i32
    word = _word(buffer, f"{at} / {dtype.lanes}u", kind, stored)
    return unpack(f"extractBits({word}, ({at} & {dtype.lanes - 1}u) * {bits}u, {bits}u)", dtype)


def _word(buffer: str, index: str, wanted: str, stored: str) -> str:
    """Word number ``index`` of a buffer as the 4-byte type ``wanted``."""
    if stored == "vec2f":
        at = _closed(index)
        word, stored = f"{buffer}[{at} / 2u][{at} % 2u]", "f32"
    elif stored == ATOMIC:
        word, stored = f"atomicLoad(&{buffer}[{index}])", "u32"
    else:
        word = f"{buffer}[{index}]"
    return word if stored == wanted else f"bitcast<{wanted}>({word})"


def _closed(expression: str) -> str:
    """An expression that operators can be put beside."""
    return expression if expression.replace("_", "").isalnum() else f"({expression})"


def unpack(bits: str, dtype: DType) -> str:
    """The value of an element's bits, given as a u32, or as an i32 for a signed integer."""
    if dtype is dtypes.bool_:
        return f"({bits} != 0u)"
    return f"{_WIDEN[dtype]}({bits})" if dtype in _WIDEN else bits


def pack(value: str, dtype: DType) -> str:
    """The bits, as a u32, of a value in the compute type; the bits above the element's are 0."""
    if dtype is dtypes.bool_:
        return f"select(0u, 1u, {value})"
    if dtype in _HALVE:
        return f"{_HALVE[dtype]}({value})"
    word = _closed(value) if dtype.kind == "uint" else f"bitcast<u32>({value})"
    return f"({word} & {hex(_mask(dtype))}u)"


def element(value: str, dtype: DType, stored: str) -> str:
    """What is assigned to one element of an unpacked buffer.

    For ``f16`` a value that `narrow` made, so that the adapter has nothing to round.
    """
    if stored == "f16":
        return f"f16({value})"
    return value if stored == dtype.compute else f"bitcast<{stored}>({value})"


def store(buffer: str, index: str, value: str, dtype: DType, stored: str) -> list[str]:
    """Statements that store one element anywhere and leave its neighbours as they are.

    ``stored`` is that of `stored_scattered`. In an atomic word every invocation changes only the
    bits of its own element: two that share a word do not disturb each other, in any order.
    """
    if stored != ATOMIC:
        return [f"{buffer}[{index}] = {element(value, dtype, stored)};"]
    at = _closed(index)
    word = f"&{buffer}[{at} / {dtype.lanes}u]"
    lane = f"(({at} & {dtype.lanes - 1}u) * {8 * dtype.itemsize}u)"
    return [
        f"atomicAnd({word}, ~({hex(_mask(dtype))}u << {lane}));",
        f"atomicOr({word}, {pack(value, dtype)} << {lane});",
    ]


def _mask(dtype: DType) -> int:
    return int((1 << 8 * dtype.itemsize) - 1)


def narrow(value: str, dtype: DType) -> str:
    """A computed value as ``dtype`` has it: integers wrap to its width, float16 rounds."""
    if dtype is dtypes.float16:
        return f"ag_round_f16({value})"
    if not dtype.is_packed or dtype.kind not in {"int", "uint"}:
        return value
    if dtype.kind == "int":
        return f"extractBits({value}, 0u, {8 * dtype.itemsize}u)"
    return f"({value} & {hex(_mask(dtype))}u)"


def cast(value: str, given: DType, wanted: DType) -> str:
    """A value of one dtype in another.

    Floats truncate to integers and saturate at the ends of ``wanted``, NaN gives 0; integers wrap;
    float16 rounds. True is what is not 0, NaN included.

    Raises:
        DTypeError: From complex to a real number.
    """
    dtypes.check_cast(given, wanted, "astype")
    if given is wanted:
        return value
    if wanted.kind == "bool":
        return _truth(value, given)
    if given.kind == "bool":
        return f"select({zero(wanted)}, {one(wanted)}, {value})"
    if wanted.kind == "complex":
        return f"vec2f({cast(value, given, dtypes.float32)}, 0.0)"
    if wanted.kind == "float":
        # Through float32 no integer rounds twice: what float32 must round, float16 cannot hold.
        return narrow(value if given.kind == "float" else _to_f32(value, given), wanted)
    if given.kind == "float":
        return f"ag_f32_to_{wanted.kind[0]}{8 * wanted.itemsize}({value})"
    number = value if given.compute == wanted.compute else f"{wanted.compute}({value})"
    low, high = wanted.range
    return number if low <= given.range[0] and given.range[1] <= high else narrow(number, wanted)


def _truth(value: str, given: DType) -> str:
    if given.kind == "complex":
        return f"(ag_truth({_closed(value)}.x) || ag_truth({_closed(value)}.y))"
    return f"ag_truth({value})" if given.kind == "float" else f"({value} != {zero(given)})"


def _to_f32(value: str, given: DType) -> str:
    return f"f32({value})" if given.is_packed else f"ag_{given.compute}_to_f32({value})"


def two_sum(value: str, tag: str = "") -> list[str]:
    """Statements that add ``value`` to ``acc`` and the rounding error to ``err``.

    The names of all that they use end in ``tag``.

    TwoSum (Knuth, The Art of Computer Programming, volume 2, 4.2.2); every step passes through
    `ag_opaque`, or compilers that reassociate would find that the error is 0.
    """
    acc, err, total, part, back = (f"{name}{tag}" for name in ("acc", "err", "sum", "part", "back"))
    return [
        f"let {total} = ag_opaque({acc} + {value}, p.zero);",
        f"let {part} = ag_opaque({total} - {acc}, p.zero);",
        f"let {back} = ag_opaque({total} - {part}, p.zero);",
        f"{err} += ({acc} - {back}) + ({value} - {part});",
        f"{acc} = {total};",
    ]


def zero(dtype: DType) -> str:
    """The literal 0 of the compute type."""
    return _ZERO[dtype.compute]


def one(dtype: DType) -> str:
    """The literal 1 of the compute type."""
    return _ONE[dtype.compute]


_ZERO = {"f32": "0.0", "i32": "0", "u32": "0u", "bool": "false", "vec2f": "vec2f(0.0, 0.0)"}
_ONE = {"f32": "1.0", "i32": "1", "u32": "1u", "bool": "true", "vec2f": "vec2f(1.0, 0.0)"}
