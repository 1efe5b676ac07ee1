"""Kernels of raw WGSL: inputs, outputs, overrides, packed bytes, grids, and what is refused."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_inputs_overrides_and_one_output(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    scaled = gpu.wgsl(
        """
        override factor: f32 = 1.0;
        override count: u32 = 0u;
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read> y: array<i32>;  // added
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(32) fn scale(@builtin(global_invocation_id) id: vec3u) {
            if (id.x >= count) { return; }
            out[id.x] = factor * x[id.x] + f32(y[id.x]);
        }
        """
    )
    assert "scale" in repr(scaled)
    a, b = np.arange(100, dtype="f4"), np.arange(100, dtype="i4")[::-1].copy()
    x, y = gpu.asarray(a), gpu.asarray(b)
    for factor in (2.0, -0.5):
        made = scaled(x, y, out_shape=100, factor=factor, count=100)
        assert (made.shape, made.dtype) == ((100,), gpu.float32)
        assert_array_equal(await made.numpy(), (factor * a + b).astype("f4"))
    # Views and computed values are laid out densely for the kernel.
    made = scaled(x[::-1] + 1, y[::-1], out_shape=(10, 10), threads=100, factor=1, count=100)
    assert_array_equal(await made.numpy(), (a[::-1] + 1 + b[::-1]).reshape(10, 10))
    part = scaled(x[10:20], y[5:15], out_shape=10, factor=1, count=10)
    assert_array_equal(await (part * 2).numpy(), (a[10:20] + b[5:15]) * 2)


@run_in_pyodide
async def test_several_outputs_of_several_shapes(selenium_worker):
    import pytest

    import aiogpu as gpu

    split = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read_write> low: array<u32>;
        @group(0) @binding(1) var<storage, read> x: array<u32>;
        @group(0) @binding(2) var<storage, read_write> high: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            low[id.x] = x[id.x] & 0xffffu;
            if (id.x < 2u) { high[id.x] = f32(x[id.x] >> 16u); }
        }
        """,
        name="split",
    )
    x = gpu.asarray([0x00010002, 0x00030004, 5], dtype="uint32")
    low, high = split(x, out_shape=[(3, 1), (2,)], threads=3)
    assert (low.shape, low.dtype, high.shape, high.dtype) == (
        (3, 1), gpu.uint32, (2,), gpu.float32,
    )  # fmt: skip
    before = gpu.counters()["dispatches"]
    a, b = await gpu.read(low, high * 2)
    assert (a.tolist(), b.tolist()) == ([[2], [4], [5]], [2, 6])
    assert gpu.counters()["dispatches"] == before + 2
    same = split(x, out_shape=3)
    assert [y.shape for y in same] == [(3,), (3,)]
    del low, a
    assert (await high.tolist()) == [1, 3]
    with pytest.raises(gpu.errors.UsageError, match="2 outputs"):
        split(x, out_shape=[(3,), (3,), (3,)])


@run_in_pyodide
async def test_packed_bytes_in_and_out(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    invert = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
            y[id.x] = ~x[id.x];
        }
        """
    )
    host = (np.arange(30) * 9 % 256).astype("u1").reshape(5, 6)
    made = invert(gpu.asarray(host), out_shape=(5, 6), threads=8, dtype=gpu.uint8)
    assert made.dtype == gpu.uint8
    assert_array_equal(await made.numpy(), ~host, strict=True)
    assert_array_equal(await (made.astype("int32") + 1).numpy(), (~host).astype("i4") + 1)


@run_in_pyodide
async def test_grids_of_threads_and_of_workgroups(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    kernel = gpu.wgsl(
        """
        override width: u32 = 1u;
        override height: u32 = 1u;
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(8, 4)
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) n: vec3u) {
            if (id.x < width && id.y < height) {
                y[(id.z * height + id.y) * width + id.x] =
                    id.x + 100u * id.y + 10000u * id.z + 1000000u * n.x + 10000000u * n.y;
            }
        }
        """
    )
    z, y, x = np.indices((2, 10, 13))
    wanted = (x + 100 * y + 10000 * z + 1000000 * 2 + 10000000 * 3).astype("u4")
    for given in ({"threads": (2, 10, 13)}, {"workgroups": (2, 3, 2)}, {}):
        made = kernel(out_shape=(2, 10, 13), width=13, height=10, **given)
        assert_array_equal(await made.numpy(), wanted)
    with pytest.raises(gpu.errors.UsageError, match="both"):
        kernel(out_shape=4, threads=4, workgroups=1)
    with pytest.raises(gpu.errors.LimitError, match="65536"):
        await kernel(out_shape=4, workgroups=65536).numpy()
    assert (await kernel(out_shape=0, threads=0).numpy()).shape == (0,)


@run_in_pyodide
async def test_wrong_use_is_refused_at_the_call(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    declarations = """
        override k: f32 = 1.0;
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    """
    body = "@compute @workgroup_size(1) fn main() { y[0] = k * x[0]; }"
    kernel = gpu.wgsl(declarations + body, name="mine")
    x = gpu.ones(3)
    before = gpu.counters()
    for wrong, error, match in (
        (lambda: kernel(out_shape=1), gpu.errors.UsageError, "mine: 0 arrays.*reads 1"),
        (lambda: kernel(x, x, out_shape=1), gpu.errors.UsageError, "2 arrays"),
        (lambda: kernel(gpu.arange(3), out_shape=1), gpu.errors.DTypeError, "x: int32.*float32"),
        (lambda: kernel(np.ones(3, "f4"), out_shape=1), gpu.errors.UsageError, "asarray"),
        (lambda: kernel(x, out_shape=1, q=2), gpu.errors.UsageError, "'q'.*'k'"),
        (lambda: kernel(x, out_shape=1, dtype="uint8"), gpu.errors.DTypeError, "float32"),
        (lambda: kernel(x, out_shape=-1), gpu.errors.ShapeError, "negative"),
        (lambda: kernel(x, out_shape=(1,), threads=(1,) * 4), gpu.errors.UsageError, "3 axes"),
    ):
        with pytest.raises(error, match=match):
            wrong()
    for source, match in (
        (declarations, "no @compute"),
        (declarations.replace("array<f32>", "array<f64>") + body, "f64"),
        (declarations.replace("binding(1)", "binding(2)") + body, "without gaps"),
        (declarations.replace("group(0)", "group(1)") + body, "group"),
        (declarations.replace("storage, read>", "uniform>") + body, "storage"),
        (declarations + body.replace("(1)", "(n)"), "workgroup_size"),
        (declarations.replace("read_write", "read") + body, "no result"),
        ("// " + body, "no @compute"),
    ):
        with pytest.raises(gpu.errors.KernelError, match=match):
            gpu.wgsl(source)
    assert gpu.counters() == before


@run_in_pyodide
async def test_array_length_is_that_of_the_array(selenium_worker):
    import aiogpu as gpu

    count = gpu.wgsl("""
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn count() { y[0] = arrayLength(&x); y[1] = arrayLength(&y); }
    """)
    whole = gpu.arange(1000, dtype="float32").copy()
    for n in (1, 2, 7, 63, 64, 65, 1000):
        found = await count(whole[:n], out_shape=3, workgroups=1).tolist()
        assert found[:2] == [n, 3]
        assert await count(whole[1000 - n :], out_shape=2, workgroups=1).tolist() == [n, 2]
