"""How dtypes are loaded, stored, packed, narrowed and cast: in Tint, and on both adapters."""

import itertools

import numpy as np
import pytest

from aiogpu import dtypes
from aiogpu.kernels import numerics, types

WORDS = ("u32", "i32", "f32", "vec2f", "atomic<u32>")
PACKED = [dtype for dtype in (*dtypes.ALL, dtypes.bfloat16) if dtype.is_packed]
PAIRS = [
    pair
    for pair in itertools.product(dtypes.ALL, dtypes.ALL)
    if pair[0].kind != "complex" or pair[1].kind in {"bool", "complex"}
]
RNG = np.random.default_rng(5)


def shader(buffers: list[str], statements: list[str]) -> str:
    """A kernel on buffers ``b0``, ``b1``, ... of these element types; ``i`` is the invocation."""
    text = "\n".join(statements)
    functions = numerics.sources(numerics_in(text))
    enable = "enable f16;\n" if "f16" in buffers else ""
    bindings = "".join(
        f"@group(0) @binding({at}) var<storage, {access(kind, at == len(buffers) - 1)}> "
        f"b{at}: array<{kind}>;\n"
        for at, kind in enumerate(buffers)
    )
    return (
        f"{enable}{bindings}{functions}\n"
        "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
        f"let i = id.x;\n{text}\n}}\n"
    )


def access(kind: str, is_last: bool) -> str:
    return "read_write" if is_last or kind.startswith("atomic") else "read"


def numerics_in(text: str) -> set[str]:
    return {name for name in numerics.FUNCTIONS if f"{name}(" in text}


def bits(value: str, dtype: dtypes.DType) -> list[str]:
    """The words of a value in its compute type."""
    if dtype.kind == "complex":
        return [f"bitcast<u32>({value}.{part})" for part in "xy"]
    return [f"select(0u, 1u, {value})" if dtype.kind == "bool" else f"bitcast<u32>({value})"]


def show(value: str, dtype: dtypes.DType, count: int) -> list[str]:
    """Statements that write the words of a value for every ``i`` below ``count``."""
    words = bits("value", dtype)
    width = len(words)
    return [
        f"if (i >= {count}u) {{ return; }}",
        f"let value = {value};",
        *(f"b1[i * {width}u + {at}u] = {word};" for at, word in enumerate(words)),
    ]


def test_every_load_compiles(validate):
    shaders = {}
    for dtype in (*dtypes.ALL, dtypes.bfloat16):
        for stored in (*WORDS, *(["f16"] if dtype is dtypes.float16 else [])):
            for index in ("i", "i + 3u", "(i * 2u + 1u)"):
                value = types.load("b0", index, dtype, stored)
                label = f"{dtype.name} from {stored} at {index}"
                shaders[label] = shader([stored, "u32"], show(value, dtype, 9))
        assert types.load("b", "i", dtype) == types.load("b", "i", dtype, types.storage(dtype))
    assert validate(shaders) == {}


def test_halves_are_all_that_a_buffer_of_halves_gives():
    for dtype in dtypes.ALL:
        if dtype is not dtypes.float16:
            with pytest.raises(ValueError, match=f"{dtype.name} from a buffer of f16"):
                types.load("b", "i", dtype, "f16")


def test_every_store_pack_and_narrow_compiles(validate):
    shaders = {}
    for dtype in (*dtypes.ALL, dtypes.bfloat16):
        value = types.load("b0", "i", dtype)
        source = types.storage(dtype)
        for has_f16 in (False, True):
            stored = types.stored_scattered(dtype, has_f16)
            lines = types.store("b1", "9u - i", types.narrow("value", dtype), dtype, stored)
            shaders[f"store {dtype.name} in {stored}"] = shader(
                [source, stored], [f"let value = {value};", *lines]
            )
            target = types.storage(dtype, has_f16)
            assert (stored == target) == (target == "f16" or not dtype.is_packed)
            text = (
                types.element("value", dtype, target)
                if stored == target
                else f"{types.pack('value', dtype)} << 8u"
            )
            shaders[f"own {dtype.name} in {target}"] = shader(
                [source, target], [f"let value = {value};", f"b1[i] = {text};"]
            )
        for number in (types.zero(dtype), types.one(dtype)):
            shaders[f"{dtype.name} {number}"] = shader(
                ["u32", "u32"],
                [f"var value = {number};", f"value = {types.narrow('value', dtype)};"],
            )
    assert validate(shaders) == {}


def test_every_cast_compiles(validate):
    shaders = {}
    for given, wanted in PAIRS:
        value = types.cast(types.load("b0", "i", given), given, wanted)
        shaders[f"{given.name} to {wanted.name}"] = shader(
            [types.storage(given), "u32"], show(value, wanted, 9)
        )
    assert validate(shaders) == {}


# On SwiftShader and on lavapipe.

SPECIALS = [
    0, -0.0, 0.5, -0.5, 1, -1, 3.9, -3.9, 127.9, 128, -128.9, -129, 255.9, 256, 32767.5, 32768,
    -32768.9, -32769, 65504, 65519.9, 65520, 65535.9, 65536, 70000, 1e10, -1e10, 2.0**31, 2.0**32,
    2.0**-14, 2.0**-24, 2.0**-25, 1.5 * 2.0**-24, 2.0**-60, 3e38, np.inf, -np.inf, np.nan,
]  # fmt: skip


def samples(dtype: dtypes.DType) -> np.ndarray:
    """Some hundred values of a dtype, its ends and specials among them; not a multiple of 4."""
    if dtype.kind == "bool":
        return RNG.integers(0, 2, 301).astype(bool)
    if dtype.kind in {"int", "uint"}:
        low, high = dtype.range
        wide = RNG.integers(low, high, 300, endpoint=True)
        small = np.arange(max(low, -40), 300)
        return np.hstack([wide, np.clip(small, low, high), [low, high, 0, 1]]).astype(dtype.name)[
            :601
        ]
    with np.errstate(all="ignore"):
        reals = np.hstack([SPECIALS, RNG.normal(size=300) * 10.0 ** RNG.integers(-8, 9, 300)])
        if dtype.kind == "float":
            return reals.astype(dtype.name)
        return (reals + 1j * RNG.permutation(reals)).astype(dtype.name)


def padded(host: np.ndarray) -> np.ndarray:
    """The bytes of an array in whole words, and an even number of these."""
    data = host.tobytes()
    return np.frombuffer(data + bytes(-len(data) % 8), "u4")


def computed(host: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    """The words of values in their compute type."""
    wide = {"bool": "u4", "i32": "i4", "u32": "u4", "f32": "f4", "vec2f": "c8"}[dtype.compute]
    return np.ascontiguousarray(host.astype(wide)).view("u4")


def assert_same(got: np.ndarray, want: np.ndarray, dtype: dtypes.DType, label: str) -> None:
    """Equal to the bit, but for one NaN and another."""
    if dtype.kind in {"float", "complex"}:
        nan = np.isnan(got.view("f4")) & np.isnan(want.view("f4"))
        got, want = np.where(nan, 0, got), np.where(nan, 0, want)
    np.testing.assert_array_equal(got, want, label)


def test_loads_give_the_values_from_any_word_type(launch):
    jobs, wants = {}, {}
    for dtype in dtypes.ALL:
        host = samples(dtype)
        for stored in WORDS:
            label = f"{dtype.name} from {stored}"
            value = types.load("b0", f"{len(host) - 1}u - i", dtype, stored)
            want = computed(host[::-1], dtype)
            wants[label] = want, dtype
            # A declaration of 8-byte elements must see whole ones.
            lines = show(value, dtype, len(host))
            jobs[label] = shader([stored, "u32"], lines), (padded(host),), len(want)
    for label, got in launch(jobs).items():
        assert_same(got, *wants[label], label)


def expected(host: np.ndarray, given: dtypes.DType, wanted: dtypes.DType) -> np.ndarray:
    """A cast by the rule: NumPy's is not defined where a float does not fit an integer."""
    with np.errstate(all="ignore"):
        if given.kind == "float" and wanted.kind in {"int", "uint"}:
            whole = np.trunc(np.nan_to_num(host.astype("f8"), nan=0.0))
            return np.clip(whole, *wanted.range).astype(wanted.name)
        return host.astype(wanted.name)


def test_casts_between_all_pairs(launch):
    jobs, wants = {}, {}
    for given, wanted in PAIRS:
        host = samples(given)
        label = f"{given.name} to {wanted.name}"
        value = types.cast("loaded", given, wanted)
        want = computed(expected(host, given, wanted), wanted)
        wants[label] = want, wanted
        lines = [f"let loaded = {types.load('b0', 'i', given)};", *show(value, wanted, len(host))]
        jobs[label] = shader([types.storage(given), "u32"], lines), (padded(host),), len(want)
    for label, got in launch(jobs).items():
        assert_same(got, *wants[label], label)


def test_casts_of_what_saturates():
    host = np.array([3.9, -3.9, 1e10, -1e10, np.nan, np.inf], "f4")
    got = expected(host, dtypes.float32, dtypes.int8)
    assert got.tolist() == [3, -3, 127, -128, 0, 127]


def test_narrowing_wraps_and_rounds(launch):
    jobs, wants = {}, {}
    for dtype in dtypes.ALL:
        wide = {"i32": dtypes.int32, "u32": dtypes.uint32, "f32": dtypes.float32}.get(dtype.compute)
        if wide is None:
            continue
        host = samples(wide)
        with np.errstate(all="ignore"):
            want = computed(host.astype(dtype.name), dtype)
        wants[dtype.name] = want, dtype
        value = types.narrow(types.load("b0", "i", wide), dtype)
        jobs[dtype.name] = (
            shader([types.storage(wide), "u32"], show(value, dtype, len(host))),
            (padded(host),),
            len(want),
        )
    assert len(jobs) == 8
    for label, got in launch(jobs).items():
        assert_same(got, *wants[label], label)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 1000])
def test_stores_change_one_element_and_leave_the_others(launch, length):
    """Backwards, every second element last, each stored twice: neighbours race for their word."""
    jobs, wants = {}, {}
    for dtype in dtypes.ALL:
        host = np.resize(samples(dtype), length)
        stored = types.stored_scattered(dtype)
        value, other = types.load("b0", "at", dtype), types.load("b0", "0u", dtype)
        lines = [
            f"if (i >= {length}u) {{ return; }}",
            f"let at = {length - 1}u - i;",
            *types.store("b1", "at", other, dtype, stored),
            *types.store("b1", "at", value, dtype, stored),
        ]
        count = 2 * length  # of words, more than are stored to
        wants[dtype.name] = np.frombuffer(host.tobytes().ljust(4 * count, b"\0"), "u4"), dtype
        jobs[dtype.name] = shader([types.storage(dtype), stored], lines), (padded(host),), count
    for label, got in launch(jobs).items():
        want, dtype = wants[label]
        if dtype.is_packed:
            got, want = (each.view(dtype.name) for each in (got, want))  # noqa: PLW2901
        np.testing.assert_array_equal(got, want, label)
