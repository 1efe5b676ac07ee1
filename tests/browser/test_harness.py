"""The harness itself: a GPU is there, and a failure inside Pyodide is a failure here."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def double_on_the_gpu(selenium):
    """Double four numbers by WebGPU alone, without this package."""
    import js
    from pyodide.ffi import to_js

    def options(**entries):
        return to_js(entries, dict_converter=js.Object.fromEntries)

    adapter = await js.navigator.gpu.requestAdapter()
    assert adapter, "no WebGPU adapter"
    device = await adapter.requestDevice()
    code = """
        @group(0) @binding(0) var<storage, read_write> x: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
            x[id.x] = 2.0 * x[id.x];
        }
    """
    pipeline = await device.createComputePipelineAsync(
        options(layout="auto", compute={"module": device.createShaderModule(options(code=code))})
    )
    usage = js.GPUBufferUsage
    data = device.createBuffer(
        options(size=16, usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)
    )
    staging = device.createBuffer(options(size=16, usage=usage.COPY_DST | usage.MAP_READ))
    device.queue.writeBuffer(data, 0, js.Float32Array.of(1, 2, 3, 4.5))
    encoder = device.createCommandEncoder()
    launch = encoder.beginComputePass()
    launch.setPipeline(pipeline)
    entry = {"binding": 0, "resource": {"buffer": data}}
    layout = pipeline.getBindGroupLayout(0)
    launch.setBindGroup(0, device.createBindGroup(options(layout=layout, entries=[entry])))
    launch.dispatchWorkgroups(1)
    launch.end()
    encoder.copyBufferToBuffer(data, 0, staging, 0, 16)
    device.queue.submit(to_js([encoder.finish()]))
    await staging.mapAsync(js.GPUMapMode.READ)
    result = js.Float32Array.new(staging.getMappedRange()).to_py().tolist()
    device.destroy()
    return result


@run_in_pyodide
def place(selenium):
    import js

    return js.globalThis.constructor.name


@run_in_pyodide
def fail(selenium, message):
    answer = 41
    assert answer == 42, message


@run_in_pyodide
def installed(selenium):
    import importlib.metadata

    return importlib.metadata.version("aiogpu"), importlib.metadata.version("numpy")


def test_worker_computes_on_the_gpu(selenium_worker):
    assert place(selenium_worker) == "DedicatedWorkerGlobalScope"
    assert double_on_the_gpu(selenium_worker) == [2, 4, 6, 9]


def test_main_thread_computes_on_the_gpu(selenium):
    assert place(selenium) == "Window"
    assert double_on_the_gpu(selenium) == [2, 4, 6, 9]


def test_failing_assertion_comes_back_with_its_message(selenium_worker):
    with pytest.raises(AssertionError, match=r"the answer is wrong\s+assert 41 == 42"):
        fail(selenium_worker, "the answer is wrong")


def test_wheel_and_numpy_are_installed(selenium_worker, wheel):
    version, numpy = installed(selenium_worker)
    assert wheel.name == f"aiogpu-{version}-py3-none-any.whl"
    assert numpy == "2.4.3"


@run_in_pyodide
async def test_waiting_on_the_stack_works_in_the_worker(selenium_worker):
    import js
    from pyodide.ffi import can_run_sync, run_sync

    assert can_run_sync()
    assert run_sync(js.navigator.gpu.requestAdapter()), "no WebGPU adapter"
