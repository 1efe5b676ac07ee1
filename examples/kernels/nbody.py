"""A step of bodies that attract each other: positions pass through shared memory in tiles."""

import numpy as np

import aiogpu as gpu
import aiogpu.lang as gl

TILE = 64
SOFT = 0.01


def pull(from_: gl.vec3[gl.f32], to: gl.vec3[gl.f32], mass: float) -> gl.vec3[gl.f32]:
    apart = to - from_
    inverse = gl.rsqrt(gl.dot(apart, apart) + SOFT)
    return apart * (mass * inverse**3)


@gpu.kernel(workgroup=TILE)
def step(
    bodies: gl.In[gl.f32],
    speeds: gl.In[gl.f32],
    dt: gl.f32,
    moved: gl.Out[gl.f32] = gl.like("bodies"),
    faster: gl.Out[gl.f32] = gl.like("speeds"),
) -> None:
    shared = gl.shared((TILE, 4), gl.f32)
    i, at = gl.global_id(1), gl.local_index()
    here = gl.vec3(bodies[i, 0], bodies[i, 1], bodies[i, 2])
    force = gl.vec3(0.0, 0.0, 0.0)
    for first in range(0, bodies.shape[0], TILE):
        for part in gl.unroll(4):
            shared[at, part] = bodies[first + at, part]
        gl.barrier()
        for k in range(TILE):
            there = gl.vec3(shared[k, 0], shared[k, 1], shared[k, 2])
            force += pull(here, there, shared[k, 3])
        gl.barrier()
    speed = gl.vec3(speeds[i, 0], speeds[i, 1], speeds[i, 2]) + force * dt
    there = here + speed * dt
    for axis in gl.unroll(3):
        faster[i, axis] = speed[axis]
        moved[i, axis] = there[axis]
    moved[i, 3] = bodies[i, 3]


def reference(bodies: np.ndarray, speeds: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """The same in NumPy: bodies are x, y, z, mass."""
    place, mass = bodies[:, :3], bodies[:, 3]
    apart = place[None] - place[:, None]
    inverse = 1 / np.sqrt((apart**2).sum(-1) + np.float32(SOFT))
    force = (apart * (mass[None] * inverse**3)[..., None]).sum(1)
    speed = speeds + force * np.float32(dt)
    moved = bodies.copy()
    moved[:, :3] += speed * np.float32(dt)
    return moved, speed


async def main() -> None:
    """Move some bodies and compare them with NumPy's."""
    rng = np.random.default_rng(0)
    bodies, speeds = rng.random((200, 4), np.float32), np.zeros((200, 3), np.float32)
    moved, faster = step(gpu.asarray(bodies), gpu.asarray(speeds), 0.01, threads=200)
    for made, wanted in zip(
        await gpu.read(moved, faster), reference(bodies, speeds, 0.01), strict=True
    ):
        print(np.abs(made - wanted).max())
