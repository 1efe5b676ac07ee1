"""What was recorded first sees what was there then: uploads, reuse of memory, assignment."""

from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_upload_does_not_change_what_earlier_work_sees(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    await gpu.synchronize()
    # Buffers of one size go round: an upload is about to land in memory that recorded work reads.
    kept = []
    for n in range(60):
        x = gpu.asarray(np.full(1000, n, "i4"))
        y = x * 1000
        await y.evaluate()
        del x
        kept.append(y + n)
        if n % 7 == 0:
            kept[-1] = await kept[-1].evaluate()
    for n, read in enumerate(await gpu.read(*kept)):
        assert (read == n * 1001).all(), n


@run_in_pyodide
async def test_drained_work_is_not_overtaken_by_uploads(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    await gpu.ones(8).copy().evaluate()
    results = []
    for n in range(6):
        x = gpu.asarray(np.full(5000, n, "f4"))
        y = x
        for _ in range(600):  # deep enough for the stream to drain by itself
            y = y + 1
        del x
        z = gpu.asarray(np.full(5000, -1000, "f4")) + 0
        for _ in range(600):
            z = z - 1
        results += [y, z]
    for at, read in enumerate(await gpu.read(*results)):
        assert (read == (at // 2 + 600 if at % 2 == 0 else -1600)).all(), at


@run_in_pyodide
async def test_values_pinned_before_an_assignment_stay(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    x = gpu.zeros(1000, dtype="int32").copy()
    seen = []
    for n in range(50):
        x[n] = n
        seen.append(x * 1)
        if n % 10 == 0:
            await seen[-1].evaluate()
    host = np.zeros(1000, "i4")
    for n, read in enumerate(await gpu.read(*seen)):
        host[n] = n
        assert np.array_equal(read, host), n


@run_in_pyodide
async def test_memory_reused_between_operations_is_not_mixed_up(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    rng = np.random.default_rng(13)
    x = gpu.asarray(rng.integers(0, 9, (64, 64)).astype("f4"))
    host = await x.numpy()
    with gpu.eager():
        for _ in range(20):
            y = ((x + 1) * (x + 2) - (x + 3)) @ (x * 0 + gpu.eye(64))
            wanted = (host + 1) * (host + 2) - (host + 3)
            assert np.array_equal(await y.numpy(), wanted)
