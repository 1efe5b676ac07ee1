"""Kernels written in Python on this adapter: the gallery against NumPy, others as simulated."""

import functools
import importlib
import inspect
import math

import features
import gallery_cases
import numpy as np
import programs
from numpy.testing import assert_array_equal
from registry import case

import aiogpu as gpu
import aiogpu.lang as gl

SEEDS = range(16)


async def on_the_gpu(kernel, *args, **more):
    """Run a kernel on NumPy arrays, as the gallery's cases ask for."""
    given = [gpu.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    made = kernel(*given, **more)
    return await gpu.read(*made) if isinstance(made, tuple) else await made.numpy()


async def run_example(name):
    await getattr(gallery_cases, name)(importlib.import_module(name), on_the_gpu)


for example, _ in inspect.getmembers(gallery_cases, inspect.iscoroutinefunction):
    case(f"K_{example}", f"examples/kernels/{example}.py gives what NumPy gives")(
        functools.partial(run_example, example)
    )


@case("K_random", "random kernels do what the simulator does, to the bit")
async def random_kernels():
    for seed in SEEDS:
        kernel = gpu.kernel(
            source=programs.program(seed),
            workgroup=programs.WORKGROUP,
            namespace={"gl": gl, "gpu": gpu, "math": math},
        )
        given = programs.inputs(np, seed)
        made = await on_the_gpu(kernel, *given, threads=programs.ITEMS)
        wanted = kernel.simulate(*given, threads=programs.ITEMS)
        for one, two in zip(made, wanted, strict=True):
            assert_array_equal(one, two, err_msg=f"of program {seed}")


@case("K_subgroups", "operations of subgroups do what the simulator does, to the bit")
async def subgroups():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(300) * 10.0 ** rng.integers(-3, 4, 300)).astype("f4")
    n = rng.integers(-99, 99, 300).astype("i4")
    for workgroup in (1, 3, 8, 32, 48, (4, 2, 16)):
        kernel = gpu.kernel(source=features.SUBGROUPS, namespace={"gl": gl}, workgroup=workgroup)
        more = {"workgroups": 2, "out_shape": 2 * math.prod(np.atleast_1d(workgroup).tolist())}
        made = await on_the_gpu(kernel, x, n, **more)
        for one, two in zip(made, kernel.simulate(x, n, **more), strict=True):
            assert_array_equal(one, two, err_msg=f"in workgroups of {workgroup}")
