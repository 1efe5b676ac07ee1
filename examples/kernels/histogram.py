"""A histogram of bytes: each workgroup counts in shared memory, then adds to the whole."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl

BINS = 256


@gpu.kernel(workgroup=256)
def histogram(data: gl.In[gl.u8], counts: gl.InOut[gl.u32]) -> None:
    own = gl.shared(BINS, gl.u32)
    i = gl.global_id(1)
    step = gl.num_groups(1) * gl.group_size(1)
    for at in range(i, len(data), step):
        gl.atomic_add(own, int(data[at]), 1)
    gl.barrier()
    for at in range(gl.local_index(), BINS, gl.group_size(1)):
        gl.atomic_add(counts, at, own[at])


def reference(data: np.ndarray) -> np.ndarray:
    """The same in NumPy."""
    return np.bincount(data, minlength=BINS).astype(np.uint32)


async def main() -> None:
    """Count random bytes and compare the counts with NumPy's."""
    data = np.random.default_rng(0).integers(0, 256, 100_000).astype(np.uint8)
    counts = histogram(gpu.asarray(data), gpu.zeros(BINS, dtype=gpu.uint32), workgroups=16)
    print((await counts.numpy() == reference(data)).all())
