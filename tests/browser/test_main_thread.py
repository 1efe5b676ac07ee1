"""The same wheel on the page's main thread: it computes, and the page's timers go on."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_page_computes_reads_and_counts(selenium):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    found = gpu.environment()
    assert (found["host"], found["worker"], found["webgpu"]) == ("browser", False, True)
    host = np.arange(12, dtype="f4").reshape(3, 4)
    x = gpu.asarray(host)
    before = gpu.counters()
    made = await gpu.read(x + 1, x.T @ x, x.sum(0), (x * 3).astype("uint8")[1:, ::-1])
    for read, wanted in zip(
        made, (host + 1, host.T @ host, host.sum(0), (host * 3).astype("u1")[1:, ::-1]), strict=True
    ):
        assert_array_equal(read, wanted, strict=True)
    after = gpu.counters()
    assert after["reads"] - before["reads"] == 4
    assert after["submits"] - before["submits"] == 1
    doubled = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            y[id.x] = 2.0 * x[id.x];
        }
        """
    )
    assert_array_equal(await doubled(x, out_shape=(3, 4), threads=12).numpy(), 2 * host)
    await gpu.synchronize()


@run_in_pyodide
async def test_timers_of_the_page_go_on_during_a_long_wait(selenium):
    from pyodide.code import run_js

    import aiogpu as gpu

    a = gpu.ones((700, 700)).copy()
    await (a @ a).evaluate()
    await gpu.synchronize()
    lag, ticks, stop = run_js("""
        let ticks = 0, lag = 0, last = performance.now();
        const timer = setInterval(() => {
            const now = performance.now();
            lag = Math.max(lag, now - last - 5);
            last = now;
            ticks += 1;
        }, 5);
        [() => lag, () => ticks, () => clearInterval(timer)]
    """)
    try:
        assert await (a @ a @ a)[1, 1].item() == 490_000
    finally:
        stop()
    assert ticks() > 20
    # The page's own thread waits for nothing; the slack is for a machine of two busy cores.
    assert lag() < 250


@run_in_pyodide
async def test_host_conversions_and_misuse_are_the_same_here(selenium):
    import pytest

    import aiogpu as gpu

    x = gpu.array([1.0, 2.0])
    with pytest.raises(gpu.errors.SyncAccessError, match="await"):
        float(x.sum())
    with pytest.raises(gpu.errors.SyncAccessError, match="await"):
        x.numpy() + 1
    with pytest.raises(gpu.errors.ShapeError):
        x + gpu.ones(3)
    broken = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { y[0] = nothing; }
        """
    )
    with pytest.raises(gpu.errors.KernelError, match="nothing"):
        await broken(out_shape=1).numpy()
    assert await (x + x).tolist() == [2, 4]


@run_in_pyodide
async def test_loss_on_the_page_opens_another_device(selenium):
    import pytest

    import aiogpu as gpu

    device = await gpu.open_device()
    x = await (gpu.ones(100) + 1).evaluate()
    device.destroy()
    with pytest.raises((gpu.errors.DeviceLostError, gpu.errors.HandleError)):
        await x.numpy()
    assert await (gpu.ones(4) + 1).tolist() == [2] * 4


@run_in_pyodide
async def test_backend_works_on_the_page(selenium):
    import numpy as np

    import aiogpu as gpu

    backend = await gpu.Backend.create()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype("f4") for shape in ((20, 35), (35, 10)))
    x, y, out = (backend.alloc(4 * 1000) for _ in range(3))
    backend.copy_htod(x, a)
    backend.copy_htod(y, b)
    backend.gemm("N", "N", 20, 10, 35, 1.0, x, 35, y, 10, 0.0, out, 10)
    got = np.frombuffer(await backend.copy_dtoh(out, 4 * 200), "f4").reshape(20, 10)
    np.testing.assert_array_equal(got, a @ b)
    backend.reduce("max", x, out, (20, 35), 0)
    got = np.frombuffer(await backend.copy_dtoh(out, 4 * 35), "f4")
    np.testing.assert_array_equal(got, a.max(0))
    backend.scan("sum", x, x, (700,), 0)
    got = np.frombuffer(await backend.copy_dtoh(x, 4 * 700), "f4")
    np.testing.assert_array_equal(got, a.ravel().cumsum(dtype="f4"))
