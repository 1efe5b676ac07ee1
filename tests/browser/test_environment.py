"""What the surroundings lack is said plainly, and what they need not have is not needed."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_missing_webgpu_and_insecure_context_say_different_things(selenium_worker):
    import pytest
    from pyodide.code import run_js

    import aiogpu as gpu

    await gpu.close()
    patch = run_js("""
        (gpu, secure) => {
            const set = (owner, name, value) =>
                Object.defineProperty(owner, name, { get: () => value, configurable: true });
            set(Object.getPrototypeOf(navigator), "gpu", gpu === null ? undefined : gpu);
            set(self, "isSecureContext", secure);
        }
    """)
    kept = run_js("navigator.gpu")
    messages = {}
    try:
        for secure in (True, False):
            patch(None, secure)
            assert gpu.environment()["webgpu"] is False
            assert await gpu.is_available() is False
            x = gpu.ones(3) + 1
            for awaited in (x.tolist, gpu.open_device, gpu.request_adapter, gpu.synchronize):
                with pytest.raises(gpu.errors.NoWebGPUError) as caught:
                    await awaited()
            messages[secure] = str(caught.value)
            report = await gpu.report()
            assert report["error"]["code"] == "no-webgpu"
    finally:
        patch(kept, True)
    assert "no WebGPU" in messages[True]
    assert "secure context" not in messages[True]
    assert "secure context" in messages[False]
    assert "https" in messages[False]
    assert await x.tolist() == [2, 2, 2]


@run_in_pyodide
async def test_null_adapter(selenium_worker):
    import asyncio

    import pytest
    from pyodide.code import run_js

    import aiogpu as gpu

    await gpu.close()
    restore = run_js("""
        const kept = GPU.prototype.requestAdapter;
        GPU.prototype.requestAdapter = async () => null;
        () => { GPU.prototype.requestAdapter = kept; }
    """)
    x = gpu.arange(3) * 2
    try:
        assert await gpu.is_available() is False
        with pytest.raises(gpu.errors.NoAdapterError, match="null"):
            await gpu.request_adapter()
        results = await asyncio.gather(
            x.tolist(), gpu.open_device(), x.evaluate(), return_exceptions=True
        )
        assert all(isinstance(each, gpu.errors.NoAdapterError) for each in results), results
        assert (await gpu.report())["error"]["code"] == "no-adapter"
    finally:
        restore()
    assert await gpu.is_available() is True
    assert await x.tolist() == [0, 2, 4]


@run_in_pyodide
async def test_bare_worker_without_isolation_is_enough(selenium_worker):
    import js

    import aiogpu as gpu

    assert not js.crossOriginIsolated
    assert not hasattr(js, "document")
    assert not hasattr(js, "window")
    found = gpu.environment()
    assert {key: found[key] for key in ("host", "worker", "secure", "webgpu")} == {
        "host": "browser", "worker": True, "secure": True, "webgpu": True,
    }  # fmt: skip
    assert found["cross_origin_isolated"] is False
    assert "Chrom" in found["user_agent"]
    assert await gpu.ones(3).sum().item() == 3


@run_in_pyodide
async def test_importing_touches_neither_the_page_nor_the_gpu(selenium_worker_fresh):
    import sys

    from pyodide.code import run_js

    run_js("""
        globalThis.touched = [];
        for (const name of ["document", "window"])
            Object.defineProperty(globalThis, name, {
                configurable: true,
                get() { globalThis.touched.push(name); return undefined; },
            });
        const kept = Object.getOwnPropertyDescriptor(WorkerNavigator.prototype, "gpu");
        Object.defineProperty(WorkerNavigator.prototype, "gpu", {
            configurable: true,
            get() { globalThis.touched.push("gpu"); return kept.get.call(this); },
        });
    """)
    assert "aiogpu" not in sys.modules
    import aiogpu as gpu

    x = gpu.tanh(gpu.arange(12).reshape(3, 4) @ gpu.ones((4, 2)))
    assert run_js("globalThis.touched.join()") == ""
    assert await x.sum().item() > 5
    assert "document" not in run_js("globalThis.touched.join()")
    assert "window" not in run_js("globalThis.touched.join()")
    assert "gpu" in run_js("globalThis.touched.join()")


@run_in_pyodide
async def test_report_is_json_and_says_software(selenium_worker):
    import json

    import pytest

    import aiogpu as gpu

    report = json.loads(json.dumps(await gpu.report()))
    assert report["aiogpu"] == gpu.__version__
    assert set(report) >= {"environment", "adapter", "counters", "memory"}
    adapter = await gpu.request_adapter()
    assert report["adapter"]["kind"].startswith("software" if adapter.is_fallback else "hardware")
    assert adapter.limits["maxStorageBuffersPerShaderStage"] >= 8
    with pytest.raises(gpu.errors.UsageError):
        await gpu.request_adapter("fastest")
    with pytest.raises(gpu.errors.UsageError, match="other wishes"):
        await gpu.open_device(memory_limit=2**20)


@run_in_pyodide
async def test_wishes_of_a_device_are_met_or_refused(selenium_worker):
    import js
    import pytest

    import aiogpu as gpu

    await gpu.close()
    try:
        with pytest.raises(gpu.errors.FeatureError, match="no-such-feature"):
            await gpu.open_device(features=["no-such-feature"])
        with pytest.raises(gpu.errors.LimitError, match="maxBufferSize"):
            await gpu.open_device(limits={"maxBufferSize": 2**50})
        with pytest.raises(gpu.errors.LimitError, match="no such limit"):
            await gpu.open_device(limits={"maxWishes": 3})
        device = await gpu.open_device(memory_limit=1 << 20)
        x = await gpu.ones(200_000, dtype="uint8").copy().evaluate()
        with pytest.raises(gpu.errors.OutOfMemoryError, match="memory_limit"):
            await gpu.ones(300_000).copy().evaluate()
        assert await x.sum().item() == 200_000
        del x
        assert await gpu.ones(200_000).copy().sum().item() == 200_000
        assert (await gpu.open_device()) is device
        await gpu.close()
        adapter = await js.navigator.gpu.requestAdapter()
        mine = await adapter.requestDevice()
        adopted = await gpu.open_device(gpu_device=mine)
        assert adopted.gpu_device is mine
        assert await (gpu.arange(6).reshape(2, 3) @ gpu.ones((3, 1), dtype="int32")).tolist() == [
            [3], [12],
        ]  # fmt: skip
        assert (await gpu.open_device()).gpu_device is mine
    finally:
        await gpu.close()
