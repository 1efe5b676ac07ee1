"""Expressions and how many launches they take, for test_fusion.py; shipped to the worker as text.

An expression gets NumPy or aiogpu as ``xp``, and arrays of the given shapes.
"""

import math

import numpy as np
import pytest

import aiogpu as gpu
from aiogpu import evaluate
from aiogpu.array import Array
from aiogpu.graph import blocks, build
from aiogpu.runtime.stream import BUDGETS

EXPRESSIONS = {}
erf = np.vectorize(math.erf, otypes=["f8"])


def launches(count, *shapes):
    """Register an expression under its function's name."""

    def register(function):
        EXPRESSIONS[function.__name__] = (count, shapes, function)
        return function

    return register


def named(name, x):
    """A row of the op table that has no public function."""
    return Array(build.elementwise(name, x._node))


def gelu(xp, x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2))) if xp is np else named("gelu", x)


def relu(xp, x):
    return np.maximum(x, 0) if xp is np else named("relu", x)


def conv2d(xp, image, filters):
    if xp is np:
        windows = np.lib.stride_tricks.sliding_window_view(image, filters.shape[2:], (2, 3))
        return np.einsum("nchwij,kcij->nkhw", windows, filters)
    shapes = image.shape, filters.shape
    nodes = image._node, filters._node
    return Array(blocks.conv2d("conv2d", *nodes, *shapes, blocks.Conv()))


@launches(1, (1000,), (1000,), (1000,))
def tanh_of_a_sum(xp, a, b, c):
    return xp.tanh(a * b + c)


@launches(1, (40, 50), (50,), (40, 1), ())
def thirty_operations(xp, x, row, column, number):
    """Thirty of them, with broadcasts, casts and where; the casts are of whole numbers."""
    for step in range(5):
        x = xp.where(x > row, x * 0.5 + column, number - x)
        x = x + (xp.round(x * 4).astype("int32") % 3).astype("float32") * step
    return x


@launches(1, (64, 4096), (64, 4096))
def mean_over_the_last_axis(xp, x, y):
    return xp.mean(xp.exp(x - y), axis=1)


@launches(1, (64, 4096), (4096,))
def mean_over_the_first_axis(xp, x, y):
    return xp.mean(xp.exp(x - y), axis=0)


@launches(1, (300, 40), (300, 1))
def mean_of_short_rows(xp, x, y):
    return xp.mean(xp.exp(x - y), axis=-1)


@launches(1, (300, 40), (300, 1))
def mean_of_short_columns(xp, x, y):
    return xp.mean(xp.exp(x - y), axis=0)


@launches(1, (300, 40))
def sum_and_root(xp, x):
    return xp.sqrt(xp.sum(x * x, axis=1) + 1)


@launches(1, (30, 20))
def transposed(xp, x):
    return xp.permute_dims(x, (1, 0)) + 1


@launches(1, (30, 20))
def transpose_of_a_product(xp, x):
    return xp.permute_dims(x * 2, (1, 0)) + 1


@launches(1, (30, 20))
def flipped(xp, x):
    return xp.flip(x, axis=1) * 2


@launches(1, (30, 20))
def sliced(xp, x):
    return x[3:, ::-3] * 2


@launches(1, (30, 1, 20), (4, 1))
def spread(xp, x, y):
    return xp.broadcast_to(x, (30, 4, 20)) - y


@launches(1, (6, 30))
def reshaped_across_strides(xp, x):
    return xp.reshape(xp.permute_dims(x * 2, (1, 0)), (4, 45)) + 1


@launches(1, (33, 20), (20, 40), (40,), (33, 40))
def product_with_bias_gelu_and_residual(xp, x, weights, bias, residual):
    return gelu(xp, x @ weights + bias) + residual


@launches(1, (2, 3, 9, 9), (4, 3, 3, 3), (4, 1, 1))
def convolution_with_bias_and_relu(xp, image, filters, bias):
    return relu(xp, conv2d(xp, image, filters) + bias)


# What is expensive and has two readers is computed once: one launch of its own, one for each.


@launches(3, (33, 20), (20, 40))
def shared_product(xp, x, y):
    shared = x @ y
    return shared + 1, shared * 2


@launches(3, (33, 20))
def shared_sum(xp, x):
    shared = xp.sum(x, axis=1)
    return shared + 1, shared * 2


@launches(3, (500,))
def shared_chain(xp, x):
    shared = x
    for _ in range(10):
        shared = xp.tanh(shared * 1.5 + 0.1)
    return shared + 1, shared * 2


@launches(2, (500,))
def cheap_and_shared(xp, x):
    """Doubling twice costs less than memory would."""
    shared = x * 2
    return shared + 1, shared - x


async def check(name):
    """Compute an expression; the launches that it took, those that it may take, and its values."""
    count, shapes, function = EXPRESSIONS[name]
    rng = np.random.default_rng(len(name))
    # Quarters: what is compared, rounded or cast on the way is the same in any precision.
    hosts = [(rng.integers(-6, 7, shape) / 4).astype("f4") for shape in shapes]
    arrays = [gpu.asarray(host) for host in hosts]
    await gpu.read(*arrays)  # uploaded
    # A software adapter's long launches are cut into several dispatches; not here.
    runtime = evaluate.DEFAULT.runtime
    pace = "throughput", False
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runtime.stream, "_budget", BUDGETS[pace][0])
        taken, reads = await computed(function, arrays)
    wanted = function(np, *(host.astype("f8") for host in hosts))
    for read, value in zip(reads, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        # Ten operations of at most 4 ulp, or sums of some hundred terms.
        np.testing.assert_allclose(read, value, rtol=1e-5, atol=1e-5)
    return taken, count


async def computed(function, arrays):
    """How many dispatches an expression takes, and its values."""
    before = gpu.counters()["dispatches"]
    made = function(gpu, *arrays)
    outputs = made if isinstance(made, tuple) else (made,)
    assert gpu.counters()["dispatches"] == before
    del made
    reads = await gpu.read(*outputs)
    taken = gpu.counters()["dispatches"] - before
    await gpu.read(*outputs)
    assert gpu.counters()["dispatches"] == before + taken, "read again, computed again"
    return taken, reads
