"""Cases for every dtype: the numerics in float16, small integers and complex, and odd sizes.

8- and 16-bit elements share words, so lengths around 4 and 64 are where neighbours are lost;
kernels walk in blocks and fold in passes, so lengths around those are where elements are.
"""

import bounded
import graphs
import numpy as np
from bounded import Value
from numpy.testing import assert_allclose, assert_array_equal
from registry import case

import aiogpu as gpu
from aiogpu.array import Array
from aiogpu.graph import build

nan, inf = float("nan"), float("inf")
DTYPES = (
    "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32",
    "complex64",
)  # fmt: skip
SHORT = (1, 2, 3, 4, 5, 7, 8, 9)  # around words of 4 bytes
LONG = (63, 64, 65, 255, 256, 257, 1025)  # around workgroups, shares and passes
HALF_ULP = 5e-4  # of float16, relative


def f16(*values):
    """A float16 array of the host."""
    return np.array(values, "f2")


def counted(dtype, shape):
    """Different small values, zero among them, and for integers the ends of the dtype."""
    values = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return values % 3 == 1
    if kind == "u":
        return ((values * 37) % 256).astype(dtype)
    if kind == "i":
        return ((values * 37) % 256 - 128).astype(dtype)
    host = (values % 23 - 11) / 4
    return (host + 0.5j * (values % 5) if kind == "c" else host).astype(dtype)


def valued(host):
    """The same as the reference sees it."""
    dtype = getattr(gpu, host.dtype.name)
    return Value(host.astype(bounded.WIDE[dtype.kind]), np.zeros(host.shape), dtype)


async def same(pairs):
    """Read arrays and compare each with what it must be, to the bit; labels tell which."""
    reads = await gpu.read(*(array for _, array, _ in pairs))
    for (label, _, wanted), read in zip(pairs, reads, strict=True):
        assert read.dtype == wanted.dtype, (label, read.dtype, wanted.dtype)
        assert_array_equal(read, wanted, err_msg=label)


@case("N01h", "tanh in float16 saturates, alone, fused, and inside gelu")
async def tanh_of_halves():
    host = f16(0, 12, -12, 9.02, 44, 1000, -1000, 65504, inf, -inf, nan, 0.001)
    x = gpu.asarray(host)
    read, fused = await gpu.read(gpu.tanh(x), gpu.tanh(x * 1) * 0.5 + 0.5)
    wanted = np.tanh(host.astype("f8"))
    assert_allclose(read, wanted, rtol=2 * HALF_ULP)
    # A unit of tanh next to 1 is left over where the sum is 0.
    assert_allclose(fused, wanted * 0.5 + 0.5, rtol=2 * HALF_ULP, atol=HALF_ULP)
    for dtype in ("float16", "float32"):
        large = gpu.asarray(np.array([9.02, 44, 88.8, 1000, -44, -1000, nan], dtype))
        gelu = Array(build.elementwise("gelu", (large * 1)._node))
        read = await (gelu + 0).numpy()
        assert_allclose(read, np.array([9.02, 44, 88.8, 1000, 0, 0, nan], dtype), rtol=1e-6)


@case("N03h", "NaN in float16 extremes, and infinities told apart")
async def halves_that_are_not_numbers():
    x = gpu.asarray(f16(nan, -1, 2, inf))
    made = await gpu.read(
        gpu.maximum(x, gpu.asarray(f16(1, nan, 1, 1))), x.max(), x[1:].max(), gpu.isnan(x),
        gpu.isinf(x), gpu.where(gpu.isnan(x), 0, x), x * 0, x - x,
    )  # fmt: skip
    assert_array_equal(made[0], f16(nan, nan, 2, inf))
    assert np.isnan(made[1])
    assert made[2] == inf
    assert made[3].tolist() == [True, False, False, False]
    assert made[4].tolist() == [False, False, False, True]
    assert_array_equal(made[5], f16(0, -1, 2, inf))
    assert_array_equal(made[6], f16(nan, 0, 0, nan))
    assert_array_equal(made[7], f16(nan, 0, 0, nan))


@case("N07b", "division of small integers floors, wraps and survives zero")
async def small_division():
    pairs = []
    for dtype in ("int8", "int16", "int32"):
        least = int(np.iinfo(dtype).min)
        a = np.array([-7, 7, -7, 7, -1, -1, -5, least, 5], dtype)
        b = np.array([3, -3, -3, 3, 3, 76, 3, -1, 0], dtype)
        x, y = gpu.asarray(a), gpu.asarray(b)
        pairs += [
            (f"{dtype} %", x % y, np.array([2, -2, -1, 1, 2, 75, 1, 0, 0], dtype)),
            (f"{dtype} //", x // y, np.array([-3, -3, 2, 2, -1, -1, -2, least, 0], dtype)),
        ]
    await same(pairs)


@case("N08b", "casts to every small dtype truncate and saturate; integers wrap")
async def small_casts():
    floats = np.array([3.9, -3.9, 1e10, -1e10, 200.5, 70000, nan, inf, -inf], "f4")
    x = gpu.asarray(floats)
    pairs = []
    for dtype in ("int8", "uint8", "int16", "uint16"):
        ends = np.iinfo(dtype)
        whole = np.clip(np.trunc(np.nan_to_num(floats, nan=0)), ends.min, ends.max)
        pairs.append((dtype, x.astype(dtype), whole.astype(dtype)))
        ints = np.array([300, -300, 70000, -1, 128, 2**31 - 1], "i4")
        pairs.append((f"int32 to {dtype}", gpu.asarray(ints).astype(dtype), ints.astype(dtype)))
    with np.errstate(over="ignore"):
        pairs.append(("float16", x.astype("float16"), floats.astype("f2")))
    await same(pairs)


@case("N09b", "small integers wrap in arithmetic and are summed in 32 bits")
async def small_sums():
    made = await gpu.read(
        gpu.full(3, 100, dtype="int8") * 2, gpu.full(3, 200, dtype="uint8") + 100,
        gpu.full(3, 30000, dtype="int16") + 30000, gpu.full(100_001, 127, dtype="int8").sum(),
        gpu.full(100_001, 65535, dtype="uint16").sum(), gpu.full(99_999, True, dtype="bool").sum(),
        gpu.prod(gpu.full((2, 3), -128, dtype="int8")), abs(gpu.full(2, -128, dtype="int8")),
    )  # fmt: skip
    assert made[0].tolist() == [-56] * 3
    assert made[1].tolist() == [44] * 3
    assert made[2].tolist() == [-5536] * 3
    assert (made[3], made[3].dtype) == (127 * 100_001, "i4")
    assert (made[4], made[4].dtype) == (65535 * 100_001 % 2**32, "u4")
    assert (made[5], made[5].dtype) == (99_999, "i4")
    assert (made[6], made[6].dtype) == ((2**42 + 2**31) % 2**32 - 2**31, "i4")
    assert made[7].tolist() == [-128, -128]


@case("N11h", "means of float16 and of integers do not overflow on the way")
async def means():
    made = await gpu.read(
        gpu.full(65536, 2.0, dtype="float16").mean(), gpu.ones(30000, dtype="float16").sum(),
        gpu.full((3, 65536), 2.0, dtype="float16").mean(1), gpu.full(70_000, 2**31 - 1).mean(),
        gpu.full(1000, 255, dtype="uint8").mean(),
        gpu.full(65536, 3 - 2j, dtype="complex64").mean(),
    )  # fmt: skip
    assert (made[0], made[0].dtype) == (2, "f2")
    assert (made[1], made[1].dtype) == (30000, "f2")
    assert made[2].tolist() == [2, 2, 2]
    assert_allclose(made[3], 2.0**31, rtol=1e-7)
    assert (made[4], made[4].dtype) == (255, "f4")
    assert made[5] == 3 - 2j


@case("N18c", "products of every dtype around the tiles are exact")
async def products():
    sizes = (1, 3, 16, 17, 31, 32, 33, 65)
    triples = [
        (m, n, k) for m in sizes for n in sizes for k in sizes if (m + 3 * n + 5 * k) % 37 == 0
    ]
    pairs = []
    for dtype in DTYPES[1:]:
        rng = np.random.default_rng(4)
        for m, n, k in triples:
            a, b = (rng.integers(0, 4, shape).astype(dtype) for shape in ((m, k), (k, n)))
            if dtype == "complex64":
                a, b = a - 1j * a[::-1], b + 2j
            pairs.append((f"{dtype} {m} {n} {k}", gpu.asarray(a) @ gpu.asarray(b), a @ b))
    await same(pairs)


@case("S01b", "shapes with zeros and without axes, in every dtype")
async def nothing():
    pairs = []
    for dtype in DTYPES:
        empty, one = np.zeros((0, 3), dtype), np.ones((), dtype)
        x, y = gpu.asarray(empty), gpu.asarray(one)
        part = counted(dtype, (2, 3))
        pairs += [
            (f"{dtype} (0, 3)", x, empty),
            (f"{dtype} concat", gpu.concat([x, gpu.asarray(part)]), part),
            (f"{dtype} any", gpu.any(x, axis=0), np.zeros(3, "?")),
            (f"{dtype} all", gpu.all(x), np.array(True)),
            (f"{dtype} equal", x == x, np.zeros((0, 3), "?")),
            (f"{dtype} view", x.T[::-1, None], np.zeros((3, 1, 0), dtype)),
            (f"{dtype} ()", y, one),
            (f"{dtype} () new axes", y[None, ..., None], np.ones((1, 1), dtype)),
            (f"{dtype} () copy", gpu.where(y == y, y, y), one),
            (f"{dtype} () all", gpu.all(y), np.array(True)),
            (f"{dtype} () broadcast", gpu.broadcast_to(y, (3, 5)).copy(), np.ones((3, 5), dtype)),
        ]
        for wanted in DTYPES:
            if dtype != "complex64" or wanted in {"bool", "complex64"}:
                pairs.append((f"{dtype} () to {wanted}", y.astype(wanted), one.astype(wanted)))
                pairs.append((f"{dtype} to {wanted}", x.astype(wanted), empty.astype(wanted)))
    await same(pairs)


async def within(triples):
    """Read arrays and compare each with its reference."""
    reads = await gpu.read(*(array for _, array, _ in triples))
    for (label, _, value), read in zip(triples, reads, strict=True):
        assert not (said := graphs.difference(value, read)), f"{label}: {said}"


@case("R05", "reductions of every dtype at lengths around words, shares and passes")
async def reductions():
    for dtype in DTYPES:
        triples = []
        for length in (*SHORT, *LONG):
            for shape, axis in (((length,), 0), ((3, length), 1), ((length, 5), 0)):
                host = counted(dtype, shape)
                x, value = gpu.asarray(host), valued(host)
                for name in ("sum", "mean", "max", "min", "any", "all"):
                    if dtype == "complex64" and name in {"max", "min"}:
                        continue
                    made = getattr(gpu, name)(x, axis=axis)
                    wanted = bounded.reduction(name, value, (axis,), keepdims=False)
                    triples.append((f"{name} {dtype} {shape}", made, wanted))
        await within(triples)


@case("R06", "reductions over every choice of axes, up to eight of them")
async def many_axes():
    shape = (2, 1, 3, 2, 1, 2, 3, 2)
    for dtype in ("float32", "int8", "float16", "bool", "uint16"):
        host = counted(dtype, shape)
        order = (5, 2, 7, 0, 4, 6, 3, 1)
        moved = host.transpose(order)[..., ::-1, :]
        x = gpu.permute_dims(gpu.asarray(host), order)[..., ::-1, :]
        triples = []
        for number in range(0, 256, 7):
            axes = tuple(axis for axis in range(8) if number >> axis & 1)
            for name in ("sum", "max"):
                made = getattr(gpu, name)(x, axis=axes, keepdims=number % 2 == 0)
                wanted = bounded.reduction(name, valued(moved), axes, keepdims=number % 2 == 0)
                triples.append((f"{name} {dtype} {axes}", made, wanted))
        await within(triples)


KEYS = {
    "all but the first": np.s_[1:],
    "backwards": np.s_[::-1],
    "every other": np.s_[::2],
    "every third, backwards": np.s_[-2::-3],
    "the last": np.s_[-1:],
    "one": np.s_[0],
    "with an axis": np.s_[None, 1:, None],
    "nothing": np.s_[5:5],
}


@case("V02", "views of every dtype at lengths around words, read, copied and computed with")
async def views():
    for dtype in DTYPES:
        pairs = []
        for length in (*SHORT, 63, 65):
            host = counted(dtype, (length,))
            x = gpu.asarray(host)
            for name, key in KEYS.items():
                label = f"{dtype} {length} {name}"
                pairs.append((label, x[key], host[key]))
                pairs.append((f"{label} equal", x[key] == x[key], host[key] == host[key]))
            grid = counted(dtype, (length, 3))
            y = gpu.asarray(grid)
            pairs += [
                (f"{dtype} {length} transposed", y.T, grid.T),
                (f"{dtype} {length} flat", y.T.reshape(-1), grid.T.reshape(-1)),
                (f"{dtype} {length} column", y[:, 1], grid[:, 1]),
                (f"{dtype} {length} spread", gpu.broadcast_to(y[:, :1], (length, 5)),
                 np.broadcast_to(grid[:, :1], (length, 5))),
            ]  # fmt: skip
        await same(pairs)


@case("V03", "every cast at lengths around words")
async def casts():
    for dtype in DTYPES:
        triples = []
        for wanted in DTYPES:
            if dtype == "complex64" and wanted not in {"bool", "complex64"}:
                continue
            for length in (1, 2, 3, 5, 7, 33):
                host = counted(dtype, (length + 1,))
                cast = bounded.cast(valued(host[1:]), getattr(gpu, wanted))
                label = f"{dtype} to {wanted} {length}"
                triples.append((label, gpu.asarray(host)[1:].astype(wanted), cast))
        await within(triples)


@case("L04b", "assignments into words leave the neighbours as they are")
async def neighbours():
    keys = (np.s_[1:-1], np.s_[::3], np.s_[-1], np.s_[::-2], np.s_[2:3])
    for dtype in DTYPES:
        pairs = []
        for length in (1, 2, 3, 4, 5, 7, 9, 33):
            for key in keys:
                if length < 3 and key == np.s_[2:3]:
                    continue
                host, new = counted(dtype, (length,)), counted(dtype, (length,))[::-1]
                x, value = gpu.asarray(host), gpu.asarray(new.copy())
                same_before = x.copy()
                x[key] = value[key]
                wanted = host.copy()
                wanted[key] = new[key]
                pairs.append((f"{dtype} {length} {key}", x, wanted))
                pairs.append((f"{dtype} {length} {key} before", same_before, host))
        await same(pairs)


@case("X01b", "the same operation on other dtypes and ranks, other activations, in both orders")
async def other_dtypes():
    makers = []
    for dtype in DTYPES[1:]:
        for shape in ((6,), (2, 3), ()):
            host = counted(dtype, shape)
            x = gpu.asarray(host)
            makers += [
                (dtype, lambda x=x: x + x, host + host), (dtype, lambda x=x: x * 1, host * 1),
                (dtype, lambda x=x: x == x, host == host), (dtype, lambda x=x: x * 2, host * 2),
            ]  # fmt: skip
    host = counted("float32", (5, 5))
    x, product = gpu.asarray(host), host @ host
    makers += [
        ("relu", lambda: gpu.maximum(x @ x, 0), np.maximum(product, 0)),
        ("abs", lambda: abs(x @ x), np.abs(product)), ("minus", lambda: -(x @ x), -product),
        ("least", lambda: gpu.minimum(x @ x, 0), np.minimum(product, 0)),
    ]  # fmt: skip
    for order in (makers, makers[::-1]):
        await same([(dtype, make(), wanted.astype(wanted.dtype)) for dtype, make, wanted in order])


@case("N30", "random words are the known ones, and a draw is the same in every place")
async def random_words():
    rng = gpu.random.Generator(0)
    known = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], "u4")
    words = rng.integers(0, 2**32, 4, dtype="uint32")
    sixes = gpu.random.Generator(0).integers(1, 6, (2, 2), dtype="int8", endpoint=True)
    low, high = np.float32(-0.1), np.float32(3)
    unit = (known >> 8).astype("f4") * np.float32(2**-24)
    await same(
        [
            ("words", words, known),
            ("integers", sixes, (known.astype("u8") * 6 >> 32).astype("i1").reshape(2, 2) + 1),
            ("random", gpu.random.Generator(0).random(4), unit),
            ("view", gpu.random.Generator(0).random((2, 2)).T[::-1], unit.reshape(2, 2).T[::-1]),
            ("uniform", gpu.random.Generator(0).uniform(low, high, 4), low + (high - low) * unit),
        ]
    )
    normal = await gpu.random.Generator(0).normal(size=2).numpy()
    radius, angle = np.sqrt(-2 * np.log(known[0] / 2**32)), 2 * np.pi * (known[1] >> 8) / 2**24
    assert_allclose(normal, radius * np.array([np.cos(angle), np.sin(angle)]), rtol=2e-6)
