"""Misuse is refused at the call and names the right form; failures belong to their values."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_host_conversions_name_the_await_form(selenium_worker):
    import operator

    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.array(3.5)
    before = gpu.counters()
    for convert in (float, int, bool, complex, np.asarray, np.array, lambda v: 1 if v else 0):
        with pytest.raises(gpu.errors.SyncAccessError, match=r"await x\.") as caught:
            convert(x)
        assert isinstance(caught.value, TypeError)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(gpu.errors.SyncAccessError):
        operator.index(gpu.array(1))
    with pytest.raises(gpu.errors.SyncAccessError):
        bool(x == x)
    for several in (float, int, bool):
        with pytest.raises(gpu.errors.UsageError):
            several(gpu.ones(3))
    assert gpu.counters() == before
    assert gpu.environment()["sync_reads"] is False


@run_in_pyodide
async def test_repr_never_reads(selenium_worker):
    import aiogpu as gpu

    x = gpu.ones((2, 3)) + 1
    before = gpu.counters()
    assert repr(x) == str(x)
    assert "shape=(2, 3) dtype=float32 (pending; await x.numpy() to read)" in repr(x)
    assert gpu.counters() == before
    await x.evaluate()
    before = gpu.counters()
    assert "(ready;" in f"{x}"
    assert gpu.counters() == before


@run_in_pyodide
async def test_reads_that_were_not_awaited_say_so(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.array([1.0, 2.0])
    before = gpu.counters()
    for misuse in (
        lambda r: r + 1, lambda r: 1 + r, lambda r: r * 2, lambda r: r[0], lambda r: len(r),
        lambda r: float(r), lambda r: list(r), lambda r: bool(r), lambda r: r < 1, lambda r: -r,
        lambda r: r @ r, lambda r: r(),
    ):  # fmt: skip
        for read in (x.numpy(), x.tolist(), x.data(), x[0].item(), gpu.read(x)):
            with pytest.raises(gpu.errors.SyncAccessError, match="await"):
                misuse(read)
    assert "await" in repr(x.numpy())
    assert gpu.counters() == before, "a read started without being awaited"
    again = x.tolist()
    assert (await again, await again) == ([1, 2], [1, 2])
    with pytest.raises(gpu.errors.UsageError, match="one element"):
        x.item()


@run_in_pyodide
async def test_sync_reads_wait_by_switching_stacks(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu

    x = gpu.array([[1.5, 2.0]])
    with gpu.sync_reads():
        assert gpu.environment()["sync_reads"] is True
        assert (float(x.sum()), int(x[0, 1]), bool(x[0, 0] > 1)) == (3.5, 2, True)
        assert np.asarray(x).tolist() == [[1.5, 2.0]]
        assert [10, 20, 30][gpu.array(1)] == 20
    with pytest.raises(gpu.errors.SyncAccessError):
        float(x.sum())
    gpu.sync_reads(True)
    try:
        assert float(x[0, 0]) == 1.5
    finally:
        gpu.sync_reads(False)
    with pytest.raises(gpu.errors.SyncAccessError):
        float(x[0, 0])


@run_in_pyodide
async def test_shader_that_does_not_compile_raises_where_its_result_is_awaited(selenium_worker):
    import pytest

    import aiogpu as gpu

    broken = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            y[id.x] = undefined_name * x[id.x];
        }
        """,
        name="smooth",
    )
    x = gpu.ones(64).copy()
    independent = x * 2
    failed = broken(x, out_shape=64)
    dependent = (failed + 1).sum()
    with pytest.raises(gpu.errors.KernelError, match=r"smooth.*undefined_name") as caught:
        await failed.numpy()
    assert "5:" in str(caught.value), "the line in the shader"
    with pytest.raises(gpu.errors.KernelError, match="smooth"):
        await dependent.item()
    with pytest.raises(gpu.errors.KernelError, match="smooth"):
        await gpu.read(independent, dependent)
    with pytest.raises(gpu.errors.KernelError, match="smooth"):
        await failed.numpy()
    assert "failed" in repr(failed)
    assert await independent.tolist() == [2] * 64
    await gpu.synchronize()


@run_in_pyodide
async def test_dispatch_that_the_device_refuses_raises_and_spares_its_neighbours(selenium_worker):
    import pytest

    import aiogpu as gpu

    def kernel(size):
        return gpu.wgsl(
            f"""
            @group(0) @binding(0) var<storage, read> x: array<f32>;
            @group(0) @binding(1) var<storage, read_write> y: array<f32, {size}>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
                y[id.x] = x[id.x] + 1.0;
            }}
            """,
            name="demanding",
        )

    x = gpu.ones(64).copy()
    before = x * 3
    # The shader declares a million elements; the bound output has 64: refused at the dispatch.
    refused = kernel(1_000_000)(x, out_shape=64)
    after = x * 4
    dependent = refused * 2
    with pytest.raises(gpu.errors.KernelError, match="demanding") as caught:
        await gpu.read(before, dependent, after)
    assert "demanding" in str(caught.value)
    assert "binding" in str(caught.value).lower() or "size" in str(caught.value).lower()
    assert (await before.tolist(), await after.tolist()) == ([3] * 64, [4] * 64)
    with pytest.raises(gpu.errors.KernelError):
        await refused.numpy()
    fine = kernel(64)(x, out_shape=64)
    assert await fine.tolist() == [2] * 64
    await gpu.synchronize()


@run_in_pyodide
async def test_error_names_the_users_line(selenium_worker):
    import pytest

    import aiogpu as gpu

    demanding = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read_write> y: array<f32, 1000000>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            y[id.x] = 1.0;
        }
        """
    )
    made = demanding(out_shape=8)
    with pytest.raises(gpu.errors.KernelError, match=r"line .*:\d+"):
        await made.numpy()
    await gpu.synchronize()


@run_in_pyodide
async def test_error_that_nobody_awaited_is_raised_once_by_synchronize(selenium_worker):
    import pytest

    import aiogpu as gpu

    demanding = gpu.wgsl(
        """
        @group(0) @binding(0) var<storage, read_write> y: array<f32, 1000000>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            y[id.x] = 1.0;
        }
        """,
        name="unwatched",
    )
    made = await demanding(out_shape=8).evaluate()
    del made
    with pytest.raises(gpu.errors.KernelError, match="unwatched"):
        await gpu.synchronize()
    await gpu.synchronize()
    held = demanding(out_shape=8)
    with pytest.raises(gpu.errors.KernelError, match="unwatched"):
        await gpu.synchronize()
    with pytest.raises(gpu.errors.KernelError, match="unwatched"):
        await held.numpy()
    await gpu.synchronize()
    seen = demanding(out_shape=8)
    with pytest.raises(gpu.errors.KernelError):
        await seen.numpy()
    await gpu.synchronize()
    assert await gpu.ones(3).sum().item() == 3


@run_in_pyodide
async def test_foreign_objects_are_refused(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.ones(3)
    for wrong in (lambda: x + "a", lambda: x + None, lambda: x @ 2, lambda: x + object()):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: gpu.add(x, "a"), lambda: gpu.exp(None), lambda: gpu.wgsl("no entry")):
        with pytest.raises(gpu.errors.AioGpuError):
            wrong()
    with pytest.raises(gpu.errors.DTypeError):
        gpu.asarray([True]) + 1
    with pytest.raises(gpu.errors.IntegerOverflowError):
        gpu.asarray([1], dtype="uint8") + 256
    with pytest.raises(gpu.errors.DTypeError, match="promote"):
        gpu.asarray([1]) + gpu.asarray([1], dtype="uint32")
    with pytest.raises(gpu.errors.UsageError, match="attached"):
        gpu.canvas("missing")
    with pytest.raises(gpu.errors.UsageError):
        gpu.pace("fast")
