"""What the backend does not do: read or upload by itself, and more than the device allows."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_no_method_reads_or_uploads_by_itself(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu.backend import BINARY, PRECISIONS, REDUCTIONS, UNARY

    backend = await gpu.Backend.create()
    a, b, c, indices = (backend.alloc(4 * 1024) for _ in range(4))
    backend.copy_htod(a, np.linspace(0.1, 1, 1024, dtype="f4"))
    backend.copy_htod(b, np.linspace(1, 2, 1024, dtype="f4"))
    backend.copy_htod(indices, np.arange(1024, dtype="i4") % 8)
    await backend.synchronize()
    before = gpu.counters()
    issued = []

    def issue(method, *arguments):
        """Enqueue, and keep the result alive: what nobody can see would never run."""
        getattr(backend, method)(*arguments)
        issued.append(backend.array(c, (64,)))

    issue("gemm", "N", "T", 8, 8, 8, 1.0, a, 8, b, 8, 0.5, c, 8)
    issue("batched_gemm", *"NN", 4, 4, 4, 1.0, a, 4, 16, b, 4, 16, 0.0, c, 4, 16, 4)
    for precision in PRECISIONS:
        issue("gemm_mixed_precision", precision, *"NN", 8, 8, 8, 1.0, a, 8, b, 8, 0.0, c, 8)
    issue("conv2d_forward", a, b, c, (1, 2, 8, 8), (2, 2, 3, 3))
    issue("conv2d_backward_data", a, b, c, (1, 2, 8, 8), (2, 2, 3, 3))
    issue("conv2d_backward_filter", a, b, c, (1, 2, 8, 8), (4, 2, 3, 3))
    issue("attention", a, b, b, c, 1, 2, 4, 4, 8, 0.5, True)
    for op in REDUCTIONS:
        issue("reduce", op, a, c, (8, 128), 1)
    issue("softmax", a, c, (8, 8), 1)
    issue("layer_norm", a, c, (8, 8), b, b)
    issue("transpose", a, c, (8, 8), (1, 0))
    issue("scan", "sum", a, c, (1024,), 0)
    for mode in ("clamp", "raise"):
        issue("gather", a, indices, c, (8, 8), 0, 8, mode)
        issue("scatter", a, indices, c, (8, 8), 0, 8, mode)
    for op in UNARY:
        issue("unary", op, a, c, 1024)
    for op in BINARY:
        issue("binary", op, a, b, c, 1024)
    issue("copy_dtod", c, a, 256, 256, 512)
    await backend.synchronize()
    after = gpu.counters()
    assert after["dispatches"] - before["dispatches"] >= len(issued)
    assert (after["reads"], after["uploads"]) == (before["reads"], before["uploads"])
    assert len(await gpu.read(*issued)) == len(issued)


@run_in_pyodide
async def test_more_than_the_device_allows_is_refused_with_both_numbers(selenium_worker):
    import js
    import pytest
    from pyodide.ffi import to_js

    import aiogpu as gpu

    await gpu.close()
    adapter = await js.navigator.gpu.requestAdapter()
    plain = await adapter.requestDevice(to_js({}, dict_converter=js.Object.fromEntries))
    assert plain.limits.maxStorageBufferBindingSize == 134217728
    try:
        await gpu.open_device(gpu_device=plain)
        backend = await gpu.Backend.create()
        for call in (
            lambda: backend.alloc(4 * 33554433),
            lambda: backend.alloc(1 << 40),
        ):
            with pytest.raises(gpu.errors.LimitError, match=r"bytes: .* at most 134217728"):
                call()
        with pytest.raises(gpu.errors.LimitError, match=r"134217732 bytes.*134217728"):
            await (gpu.arange(33554433) * 2).evaluate()
        whole = gpu.arange(33554432) * 2
        await whole.evaluate()
        assert await whole[-1].item() == 2 * 33554431
        # One element of it is computed alone, and needs no room.
        assert await (gpu.arange(33554433) * 2)[-1].item() == 2 * 33554432
    finally:
        await gpu.close()
