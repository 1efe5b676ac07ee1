"""Running sums: in blocks through shared memory, the blocks' totals again, and both together."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl

BLOCK = 256


@gpu.kernel(workgroup=BLOCK)
def scan_blocks(x: gl.In[gl.i32], sums: gl.Out[gl.i32], totals: gl.Out[gl.i32]) -> None:
    part = gl.shared(BLOCK, gl.i32)
    at = gl.local_index()
    i = gl.global_id(1)
    part[at] = x[i]
    gl.barrier()
    step = 1
    while step < BLOCK:  # Hillis and Steele
        before = part[at - step] if at >= step else 0
        gl.barrier()
        part[at] += before
        gl.barrier()
        step *= 2
    sums[i] = part[at]
    if at == BLOCK - 1:
        totals[gl.group_id(1)] = part[at]


@gpu.kernel(workgroup=BLOCK)
def add_totals(sums: gl.InOut[gl.i32], totals: gl.In[gl.i32]) -> None:
    block = gl.group_id(1)
    if block > 0:
        sums[gl.global_id(1)] += totals[block - 1]


def prefix_sum(x: gpu.Array) -> gpu.Array:
    """The running sums of an int32 vector."""
    blocks = -(-x.size // BLOCK)
    sums, totals = scan_blocks(x, out_shape=[x.shape, (blocks,)])
    if blocks == 1:
        return sums
    return add_totals(sums, prefix_sum(totals))


def reference(x: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    return np.cumsum(x, dtype=np.int32)


async def main() -> None:
    """Add up random numbers and compare the sums with NumPy's."""
    x = np.random.default_rng(0).integers(-9, 9, 100_000).astype(np.int32)
    print((await prefix_sum(gpu.asarray(x)).numpy() == reference(x)).all())
