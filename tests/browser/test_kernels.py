"""Kernels written in Python: fusion, views, values, bounds, grids, and what is refused."""

from pathlib import Path

from pytest_pyodide import run_in_pyodide

from fuzz import features


@run_in_pyodide
async def test_elementwise_functions_fuse_with_the_rest(selenium_worker):
    import math

    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    names = {"gl": gl, "gpu": gpu, "math": math}
    text = """
    def smooth(x: gl.f32, lo: gl.f32, hi: gl.f32) -> gl.f32:
        t = (x - lo) / (hi - lo)
        if t < 0:
            return 0.0
        if t > 1:
            return 1.0
        return t * t * (3 - 2 * t)
    """
    from aiogpu.lang.source import define

    smooth = gpu.elementwise(define(text, names))
    x = np.linspace(-1, 2, 300, dtype="f4").reshape(3, 100)
    a = gpu.asarray(x)
    t = np.clip(x, 0, 1)
    wanted = t * t * (3 - 2 * t)
    before = gpu.counters()["dispatches"]
    made = await (smooth(a * 2.0, 0.0, 2.0).sum() * 2).item()
    first = gpu.counters()["dispatches"] - before
    plain = await ((a * 2.0).sum() * 2).item()
    assert gpu.counters()["dispatches"] - before - first == first, plain
    assert_allclose(made, wanted.sum(dtype="f8") * 2, rtol=1e-5)
    # Shapes broadcast, dtypes promote, views are read as they lie.
    rows = smooth(a[:, ::-3], gpu.asarray([[0], [0], [-1]]), 1)
    low = np.array([[0], [0], [-1]], "f4")
    t = np.clip((x[:, ::-3] - low) / (1 - low), 0, 1)
    assert_allclose(await rows.numpy(), t * t * (3 - 2 * t), rtol=1e-6, atol=1e-7)
    assert rows.shape == (3, 34)
    half = smooth(a.astype("float16"), 0, 1)
    assert half.dtype == gpu.float32
    with np.testing.assert_raises_regex(gpu.errors.DTypeError, "smooth: x: complex64"):
        smooth(gpu.ones(3, dtype="complex64"), 0, 1)
    with np.testing.assert_raises_regex(gpu.errors.UsageError, "hi: is not given"):
        smooth(a, 0)
    two = gpu.elementwise(
        define("def both(x, k: gl.const[int] = 2):\n    return x // k, x % k, x > k", names)
    )
    whole = np.arange(-9, 9, dtype="i4")
    made = await gpu.read(*two(gpu.asarray(whole), k=4))
    for one, other in zip(made, (whole // 4, whole % 4, whole > 4), strict=True):
        assert_array_equal(one, other, strict=True)
    made = await gpu.read(*two(gpu.asarray(x)))
    for one, other in zip(made, (x // 2, x % 2, x > 2), strict=True):
        assert_array_equal(one, other, strict=True)


@run_in_pyodide
async def test_arguments_keep_their_values(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    double = gpu.kernel(
        source="""
        def double(x: gl.InOut[gl.f32], total: gl.InOut[gl.i32], copy: gl.Out[gl.f32]):
            i = gl.global_id(1)
            if i < len(x):
                copy[i] = x[i]
                x[i] *= 2
                gl.atomic_add(total, 0, 1)
        """,
        namespace={"gl": gl},
    )
    host = np.arange(100, dtype="f4")
    x, total = gpu.asarray(host), gpu.zeros(1, dtype="int32")
    y, count, copy = double(x, total)
    z, count, again = double(y, count)
    for made, wanted in ((x, host), (y, 2 * host), (z, 4 * host), (copy, host), (again, 2 * host)):
        assert_array_equal(await made.numpy(), wanted)
    assert (await count.item(), await total.item()) == (200, 0)
    # Where nobody else can see the old value its memory is taken over.
    keep = gpu.asarray(host) + 0
    await keep.evaluate()
    before = gpu.memory()["in_use"]
    keep, count, copy = double(keep, count)
    await gpu.read(keep, count, copy)
    first = gpu.memory()["in_use"]
    for _ in range(3):
        keep, count, copy = double(keep, count)
        await gpu.read(keep, count, copy)
    assert gpu.memory()["in_use"] == first
    assert first - before <= 1024
    assert_array_equal(await keep.numpy(), 16 * host)
    # Views and numbers as what is changed; an array that is read and changed by one call.
    turned, _, _ = double(gpu.asarray(host)[::-1], gpu.zeros(1, dtype="int32"))
    assert_array_equal(await turned.numpy(), 2 * host[::-1])
    shift = gpu.kernel(
        source="""
        def shift(x: gl.In[gl.f32], y: gl.InOut[gl.f32]):
            i = gl.global_id(1)
            y[i] += x[i + 1]
        """,
        namespace={"gl": gl},
    )
    same = gpu.asarray(host) + 1
    made = shift(same, same)
    del same
    wanted = host + 1
    assert_array_equal(await made.numpy(), wanted + np.append(wanted[1:], 0))


@run_in_pyodide
async def test_every_dtype_is_read_and_written(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    copy = """
    def copy(x: gl.In[gl.{0}], y: gl.Out[gl.{0}]):
        i, j = gl.global_id(2)
        y[i, j] = x[i, j]
    """
    for name, dtype in (
        ("f32", "f4"), ("f16", "f2"), ("i32", "i4"), ("u32", "u4"), ("i8", "i1"), ("u8", "u1"),
        ("i16", "i2"), ("u16", "u2"), ("bool", "?"),
    ):  # fmt: skip
        text = copy.format(name).replace("gl.bool", "bool")
        kernel = gpu.kernel(source=text, workgroup=(4, 8), namespace={"gl": gl})
        host = (np.random.default_rng(0).integers(0, 2**16, (7, 9)) - 2**15).astype(dtype)
        for a, b in ((host, gpu.asarray(host)), (host.T[1:, ::-2], gpu.asarray(host).T[1:, ::-2])):
            assert_array_equal(await kernel(b).numpy(), a, strict=True)
            assert_array_equal(kernel.simulate(a), a, strict=True)
        cut = kernel(gpu.asarray(host), out_shape=(3, 3))
        assert_array_equal(await cut.numpy(), host[:3, :3])
    wrap = gpu.kernel(
        source="""
        def wrap(x: gl.In[gl.i32], y: gl.Out[gl.u8], z: gl.Out[gl.i8], h: gl.Out[gl.f16]):
            i = gl.global_id(1)
            y[i] = gl.u32(x[i])
            z[i] = x[i]
            h[i] = float(x[i]) + 0.0001
        """,
        namespace={"gl": gl},
    )
    host = np.arange(-300, 300, 7, dtype="i4")
    made = await gpu.read(*wrap(gpu.asarray(host)))
    wanted = (host.astype("u1"), host.astype("i1"), (host + np.float32(0.0001)).astype("f2"))
    for one, two, three in zip(made, wanted, wrap.simulate(host), strict=True):
        assert_array_equal(one, two, strict=True)
        assert_array_equal(three, two, strict=True)


@run_in_pyodide
async def test_indices_out_of_range(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    text = """
    def look(x: gl.In[gl.f32], y: gl.InOut[gl.f32], by: gl.i32):
        i, j = gl.global_id(2)
        s = gl.shared(4, gl.f32)
        s[0] = 1.0
        y[i, j + by] = x[i - by, j] + s[by * 9]
    """
    host = np.arange(12, dtype="f4").reshape(3, 4) + 1
    names = {"gl": gl}
    safe = gpu.kernel(source=text, workgroup=(4, 4), namespace=names)
    for by in (0, 1, 1000, -1, -(2**31)):
        wanted = np.zeros_like(host)
        for i in range(3):
            for j in range(4):
                if 0 <= j + by < 4:
                    wanted[i, j + by] = host[i - by, j] if 0 <= i - by < 3 else 0
        wanted[:] += by == 0
        made = safe(gpu.asarray(host), gpu.zeros((3, 4)), by)
        assert_array_equal(await made.numpy(), wanted)
        assert_array_equal(safe.simulate(host, np.zeros((3, 4), "f4"), by), wanted)
    debug = gpu.kernel(source=text, workgroup=(4, 4), bounds="debug", namespace=names)
    made = debug(gpu.asarray(host), gpu.zeros((3, 4)), 0, threads=(4, 4))
    with pytest.raises(gpu.errors.AxisError, match=r"look: index 3 .* 3\n.*:6\n.*x\[i - by"):
        await made.numpy()
    fine = gpu.asarray(host)
    assert_array_equal(await (fine + 1).numpy(), host + 1)
    made = debug(gpu.asarray(host), gpu.zeros((3, 4)), 1, threads=(3, 4))
    with pytest.raises(gpu.errors.AxisError, match="index"):
        await gpu.synchronize()
    await gpu.synchronize()
    with pytest.raises(gpu.errors.AxisError, match="index -1 of axis 0"):
        debug.simulate(host, np.zeros((3, 4), "f4"), 1, threads=(3, 4))
    fits = gpu.kernel(source=text, workgroup=(1, 1), bounds="debug", namespace=names)
    made = fits(gpu.asarray(host), gpu.zeros((3, 4)), 0)
    assert_array_equal(await made.numpy(), host + 1)
    loose = gpu.kernel(source=text, workgroup=(1, 1), bounds="unchecked", namespace=names)
    made = loose(gpu.asarray(host), gpu.zeros((3, 4)), 0)
    assert_array_equal(await made.numpy(), host + 1)


@run_in_pyodide
async def test_grids_ids_and_sizes(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    where = gpu.kernel(
        source="""
        def where(y: gl.Out[gl.i32]):
            z, r, c = gl.global_id(3)
            gz, gr, gc = gl.group_id(3)
            lz, lr, lc = gl.local_id(3)
            nz, nr, nc = gl.num_groups(3)
            sz, sr, sc = gl.group_size(3)
            right = z == gz * sz + lz and r == gr * sr + lr and c == gc * sc + lc
            right = right and gl.local_index() == (lz * sr + lr) * sc + lc
            right = right and gl.global_id(1) == c and gl.global_id(2)[0] == r
            if z < y.shape[0] and r < y.shape[1] and c < y.shape[2] and right:
                y[z, r, c] = ((z * 100 + r) * 100 + c) * 10 + nz * nr * nc
        """,
        workgroup=(2, 2, 4),
        namespace={"gl": gl},
    )
    z, r, c = np.indices((3, 5, 7))
    wanted = ((z * 100 + r) * 100 + c) * 10 + 2 * 3 * 2
    for more in ({}, {"threads": (3, 5, 7)}, {"workgroups": (2, 3, 2)}):
        made = await where(out_shape=(3, 5, 7), **more).numpy()
        assert_array_equal(made, wanted)
        assert_array_equal(where.simulate(out_shape=(3, 5, 7), **more), wanted)
    count = gpu.kernel(
        source="""
        def count(y: gl.InOut[gl.i32]):
            gl.atomic_add(y, 0, 1)
        """,
        workgroup=1,
        namespace={"gl": gl},
    )
    # More workgroups than an axis of a dispatch has, and no multiple of it.
    made = count(gpu.zeros(1, dtype="int32"), workgroups=65535 * 2 + 7)
    assert await made.item() == 65535 * 2 + 7
    assert await count(gpu.zeros(1, dtype="int32"), workgroups=0).item() == 0


@run_in_pyodide
async def test_compiled_once_for_each_kind_of_call(selenium_worker):
    import itertools
    from typing import TypeVar

    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    names = {"gl": gl, "T": TypeVar("T", gl.f32, gl.i32), "SCALE": 3}
    text = """
    def scaled(x: gl.In[T], y: gl.Out[T], by: T, add: gl.const[int] = 0):
        if x.ndim == 2:
            i, j = gl.global_id(2)
            y[i, j] = x[i, j] * by * SCALE + add
        else:
            i = gl.global_id(1)
            y[i] = x[i] * by * SCALE + add
    """
    kernel = gpu.kernel(source=text, workgroup=8, namespace=names)
    x = np.arange(20)
    pipelines = []
    for dtype, shape, by, add in (
        ("f4", 20, 2, 0), ("i4", 20, 2, 0), ("f4", (4, 5), 2, 0), ("f4", 20, 2, 5),
        ("f4", 20, 7, 0), ("f4", 10, 2, 0),
    ):  # fmt: skip
        host = np.resize(x, shape).astype(dtype)
        made = await kernel(gpu.asarray(host), by, add=add).numpy()
        assert_array_equal(made, host * by * 3 + add)
        assert made.dtype == host.dtype
        pipelines.append(gpu.counters()["pipelines"])
    assert [b - a for a, b in itertools.pairwise(pipelines)] == [1, 1, 1, 0, 0]
    kernel.function.__globals__["SCALE"] = 4
    assert_array_equal(await kernel(gpu.asarray(x.astype("f4")), 1).numpy(), x * 4)
    with pytest.raises(gpu.errors.DTypeError, match="x: uint32: T is float32 or int32"):
        kernel(gpu.asarray(x.astype("u4")), 1)
    with pytest.raises(gpu.errors.DTypeError, match=r"by: 1\.5: takes int32"):
        kernel(gpu.asarray(x.astype("i4")), 1.5)


@run_in_pyodide
async def test_a_compiler_error_names_the_python_line(selenium_worker):
    import pytest

    import aiogpu as gpu
    import aiogpu.lang as gl
    from aiogpu.lang import operations

    kernel = gpu.kernel(
        source="""
        def wrong(x: gl.In[gl.f32], y: gl.Out[gl.f32]):
            i = gl.global_id(1)
            y[i] = gl.rsqrt(
                x[i])
        """,
        namespace={"gl": gl},
    )
    kept = operations.ROWS["rsqrt"]
    operations.ROWS["rsqrt"] = kept._replace(wgsl={"f32": "nonsense({0})"})
    try:
        with pytest.raises(gpu.errors.KernelError) as caught:
            await kernel(gpu.ones(3)).numpy()
    finally:
        operations.ROWS["rsqrt"] = kept
    said = str(caught.value)
    assert "wrong: the shader does not compile" in said
    assert "in WGSL: let value = nonsense(" in said
    assert "y[i] = gl.rsqrt(" in said


@run_in_pyodide
async def test_subgroups_and_floats_by_atomics(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    kernel = gpu.kernel(
        source="""
        def sums(x: gl.In[gl.i32], total: gl.Out[gl.i32], top: gl.Out[gl.i32], at: gl.Out[gl.i32],
                 mean: gl.InOut[gl.f32]):
            i = gl.global_id(1)
            total[i] = gl.subgroup_add(x[i])
            top[i] = gl.subgroup_max(x[i])
            at[i] = gl.subgroup_shuffle(i, gl.subgroup_id() ^ 1)
            gl.atomic_add(mean, 0, float(x[i]))
            gl.atomic_max(mean, 1, float(x[i]))
        """,
        workgroup=64,
        namespace={"gl": gl},
    )
    x = np.random.default_rng(0).integers(-99, 99, 128).astype("i4")
    on_the_gpu = await gpu.read(*kernel(gpu.asarray(x), gpu.zeros(2)))
    for made in (on_the_gpu, kernel.simulate(x, np.zeros(2, "f4"))):
        size = 32
        parts = x.reshape(-1, size)
        assert_array_equal(made[0], np.repeat(parts.sum(1), size))
        assert_array_equal(made[1], np.repeat(parts.max(1), size))
        assert_array_equal(made[2], np.arange(128) ^ 1)
        assert_allclose(made[3], [x.sum(), x.max()])


def test_subgroups_are_the_same_by_any_means(selenium_worker):
    run_subgroups(selenium_worker, Path(features.__file__).read_text("utf-8"))


@run_in_pyodide
async def run_subgroups(selenium_worker, text):
    import dataclasses

    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl
    from aiogpu import evaluate

    names = {}
    exec(text, names)
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(300) * 10.0 ** rng.integers(-3, 4, 300)).astype("f4")
    n = rng.integers(-99, 99, 300).astype("i4")
    x[:3] = np.nan, np.inf, -0.0
    runtime = await evaluate.DEFAULT.open()
    kept = runtime.limits
    assert kept.has_subgroups
    try:
        for has_subgroups in (True, False):
            runtime.limits = dataclasses.replace(kept, has_subgroups=has_subgroups)
            for workgroup in (1, 2, 3, 4, 16, 24, 32, 48, 64, (4, 2, 16), 256):
                kernel = gpu.kernel(
                    source=names["SUBGROUPS"], namespace={"gl": gl}, workgroup=workgroup
                )
                more = {"workgroups": 2, "out_shape": 2 * int(np.prod(workgroup))}
                made = kernel(gpu.asarray(x), gpu.asarray(n), **more)
                wanted = kernel.simulate(x, n, **more)
                for one, two in zip(await gpu.read(*made), wanted, strict=True):
                    assert_array_equal(one, two, err_msg=f"{has_subgroups} {workgroup}")
                # As they are documented: within 32 neighbours, floats two by two.
                size = min(32, int(np.prod(workgroup)))
                assert_array_equal(wanted[1][:size], np.min(x[:size]))
                assert_array_equal(wanted[3][:size], n[:size].sum() * 100 + size)
    finally:
        runtime.limits = kept


@run_in_pyodide
async def test_neighbours_in_a_subgroup_of_the_device_are_found(selenium_worker):
    import aiogpu as gpu
    from aiogpu.gpu import browser
    from aiogpu.lang import subgroups

    look = gpu.wgsl(
        "enable subgroups;\n"
        "@group(0) @binding(0) var<storage, read_write> found: array<u32>;\n"
        + subgroups.scratch(64, native=True)
        + "@compute @workgroup_size(64) fn look(@builtin(local_invocation_index) lid: u32,\n"
        "@builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) nlanes: u32) {\n"
        + "\n".join(subgroups.prologue())
        + "\nfound[lid] = lanes; }"
    )
    info = (await browser.request_adapter("high-performance"))[1].info
    assert 1 < info.subgroupMinSize <= info.subgroupMaxSize
    lanes = set(await look(out_shape=64, threads=64).tolist())
    assert len(lanes) == 1
    assert min(info.subgroupMinSize, 32) <= lanes.pop() <= min(info.subgroupMaxSize, 32)


@run_in_pyodide
async def test_reductions_by_functions_of_the_users(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu
    from aiogpu.lang.source import define

    def of(text):
        return define(f"def f({text.split(':')[0]}):\n    return {text.split(':')[1]}", {})

    largest = gpu.reduce_kernel(of("x: abs(x)"), of("a, b: max(a, b)"), 0)
    x = (np.random.default_rng(0).random((7, 9, 400), "f4") - 0.5) * 99
    a = gpu.asarray(x)
    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
        for keep in (False, True):
            made = largest(a, axis=axis, keepdims=keep)
            wanted = np.abs(x).max(axis=axis, keepdims=keep)
            assert_array_equal(await made.numpy(), wanted)
    before = gpu.counters()["dispatches"]
    made = await (largest(a[:, ::2] * 2.0 - 1.0, axis=0) + 1).numpy()
    assert gpu.counters()["dispatches"] == before + 1
    assert_array_equal(made, np.abs(x[:, ::2] * np.float32(2) - 1).max(0) + 1)
    big = gpu.reduce_kernel(of("x, y: (x ^ y) & 0xffff"), of("a, b: a ^ b"), 0)
    i = np.arange(300_000, dtype="u4")
    j = i * np.uint32(2654435761)
    made = big(gpu.asarray(i), gpu.asarray(j))
    assert await made.item() == np.bitwise_xor.reduce((i ^ j) & 0xFFFF)
    assert big.simulate(i[:50], j[:50]) == np.bitwise_xor.reduce((i ^ j)[:50] & 0xFFFF)
    assert await big(gpu.zeros((0,), dtype="uint32"), 1).item() == 0
    root = gpu.reduce_kernel(of("x: x * x"), of("a, b: a + b"), 0.0)
    assert_allclose(await root(a[0, 0]).item(), (x[0, 0] ** 2).sum(), rtol=1e-5)
    with np.testing.assert_raises_regex(gpu.errors.KernelError, "gives f32 from two i32"):
        gpu.reduce_kernel(of("x: x"), of("a, b: a / b"), 1)(gpu.arange(3))


def test_every_feature_in_every_mode(selenium_worker):
    run_every_feature(selenium_worker, Path(features.__file__).read_text("utf-8"))


@run_in_pyodide
async def run_every_feature(selenium_worker, text):
    import math

    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl

    names = {}
    exec(text, names)
    for mode in names["MODES"]:
        kernel = gpu.kernel(
            source=names["EVERYTHING"], namespace={"gl": gl, "math": math}, workgroup=64, **mode
        )
        given = names["arguments"](np)
        arrays = [gpu.asarray(a) if isinstance(a, np.ndarray) else a for a in given]
        made = kernel(*arrays)
        if mode.get("bounds") == "debug":  # the last invocation reads h[i + 1]
            with np.testing.assert_raises_regex(gpu.errors.AxisError, "index 64 is out of range"):
                await gpu.read(*made)
            continue
        made = await gpu.read(*made)
        wanted = kernel.simulate(*given)
        inside = slice(None, -1)
        assert_array_equal(made[3][inside], wanted[3][inside])
        assert_array_equal(made[4][inside], wanted[4][inside])
        assert_array_equal(made[2][1:], wanted[2][1:])


@run_in_pyodide
async def test_kernels_call_functions_of_the_device(selenium_worker):
    import math

    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu
    import aiogpu.lang as gl
    from aiogpu.lang.source import define

    names = {"gl": gl, "gpu": gpu, "math": math}
    bump = define(
        """
        def bump(x: gl.f32, at: gl.f32) -> gl.f32:
            return math.exp(-(x - at) * (x - at))
        """,
        names,
    )
    names["bump"] = gpu.func(bump)
    two = gpu.elementwise(
        define(
            """
            def two(x: gl.f32) -> gl.f32:
                return bump(x, 1.0) + bump(x, -1.0)
            """,
            names,
        )
    )
    x = np.linspace(-3, 3, 101, dtype="f4")
    wanted = np.exp(-((x - 1) ** 2)) + np.exp(-((x + 1) ** 2))
    assert_allclose(await two(gpu.asarray(x)).numpy(), wanted, rtol=2e-6)
