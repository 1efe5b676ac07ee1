"""How dtypes look in WGSL, as text; `tests/wgsl/test_types.py` compiles and runs it."""

import pytest

from aiogpu import dtypes
from aiogpu.dtypes import bool_, complex64, float16, float32, int8, int16, int32, uint8, uint16
from aiogpu.errors import DTypeError
from aiogpu.kernels import types


def test_storage_is_words_for_what_is_packed():
    kinds = {dtype.name: types.storage(dtype) for dtype in (*dtypes.ALL, dtypes.bfloat16)}
    own = {"int32": "i32", "float32": "f32", "complex64": "vec2f"}
    assert kinds == dict.fromkeys(kinds, "u32") | own
    scattered = {name: types.stored_scattered(dtypes.BY_NAME[name]) for name in dtypes.BY_NAME}
    words = dict.fromkeys(scattered, "atomic<u32>")
    assert scattered == words | own | {"uint32": "u32"}


def test_only_float16_uses_shader_f16():
    for dtype in (*dtypes.ALL, dtypes.bfloat16):
        for choose in (types.storage, types.stored_scattered):
            changed = choose(dtype, has_f16=True) != choose(dtype)
            assert changed == (dtype is float16)
    assert types.storage(float16, has_f16=True) == "f16"
    assert types.load("b", "i", float16, "f16") == "f32(b[i])"
    assert types.element("v", float16, "f16") == "f16(v)"
    assert types.store("b", "i", "v", float16, "f16") == ["b[i] = f16(v);"]


@pytest.mark.parametrize(
    ("dtype", "stored", "text"),
    [
        (float32, None, "b[i]"), (complex64, None, "b[i]"), (float32, "u32", "bitcast<f32>(b[i])"),
        (int32, "vec2f", "bitcast<i32>(b[i / 2u][i % 2u])"),
        (complex64, "f32", "vec2f(b[(i * 2u + 0u)], b[(i * 2u + 1u)])"),
        (uint8, None, "extractBits(b[i / 4u], (i & 3u) * 8u, 8u)"),
        (int16, None, "extractBits(bitcast<i32>(b[i / 2u]), (i & 1u) * 16u, 16u)"),
        (int8, "i32", "extractBits(b[i / 4u], (i & 3u) * 8u, 8u)"),
        (bool_, "atomic<u32>", "(extractBits(atomicLoad(&b[i / 4u]), (i & 3u) * 8u, 8u) != 0u)"),
        (float16, None, "ag_f16_to_f32(extractBits(b[i / 2u], (i & 1u) * 16u, 16u))"),
    ],
)  # fmt: skip
def test_loads(dtype, stored, text):
    assert types.load("b", "i", dtype, stored) == text


def test_an_index_may_be_any_expression():
    assert types.load("b", "i + 1u", uint16).count("(i + 1u)") == 2
    assert types.load("b", "i + 1u", float32) == "b[i + 1u]"
    assert "(i + 1u) / 4u" in types.store("b", "i + 1u", "v", uint8, "atomic<u32>")[0]


def test_stores_of_packed_elements_touch_only_their_own_bits():
    assert types.store("b", "i", "v", int8, "atomic<u32>") == [
        "atomicAnd(&b[i / 4u], ~(0xffu << ((i & 3u) * 8u)));",
        "atomicOr(&b[i / 4u], (bitcast<u32>(v) & 0xffu) << ((i & 3u) * 8u));",
    ]
    assert types.store("b", "i", "v", int32, "i32") == ["b[i] = v;"]
    assert types.store("b", "i", "v", int32, "u32") == ["b[i] = bitcast<u32>(v);"]


def test_narrowing_is_nothing_for_what_fills_a_word():
    narrowed = {dtype.name for dtype in dtypes.ALL if types.narrow("v", dtype) != "v"}
    assert narrowed == {"int8", "int16", "uint8", "uint16", "float16"}


def test_casts_to_wider_integers_cost_nothing():
    assert types.cast("v", int8, int16) == types.cast("v", uint8, dtypes.uint32) == "v"
    assert types.cast("v", uint8, int16) == "i32(v)"
    assert types.cast("v", int16, int8) == "extractBits(v, 0u, 8u)"
    assert types.cast("v", int8, uint16) == "(u32(v) & 0xffffu)"
    assert types.cast("v", float16, float32) == "v"
    assert types.cast("v", dtypes.bfloat16, float16) == "ag_round_f16(v)"


def test_complex_numbers_are_not_cut():
    for dtype in dtypes.ALL:
        if dtype.kind not in {"complex", "bool"}:
            assert types.cast("v", dtype, complex64).startswith("vec2f(")
            with pytest.raises(DTypeError, match=f"complex64 to {dtype.name}"):
                types.cast("v", complex64, dtype)
