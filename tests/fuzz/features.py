"""Kernels that between them use what the gallery does not: how each is made, and its arguments."""

EVERYTHING = """
def mixed(v: gl.vec3[gl.f32], by: float):
    return gl.normalize(v * by + gl.vec3(1.0, 2.0, 3.0)), gl.length(v)

def everything(
    x: gl.In[gl.f32], h: gl.In[gl.f16], n: gl.InOut[gl.i32], f: gl.InOut[gl.f32],
    u: gl.InOut[gl.u32], small: gl.Out[gl.u8], flags: gl.Out[bool], k: gl.i32,
):
    i, l = gl.global_id(1), gl.local_index()
    s = gl.shared((4, 16), gl.f32)
    counts = gl.shared(16, gl.i32)
    own = gl.local((2, 3), gl.f32)
    own[l % 2, k % 3] = x[i]
    s[l // 16, l % 16] += own[k % 2, k]
    gl.atomic_add(s, (0, l % 16), 1.5)
    gl.atomic_max(counts, l % 16, k)
    gl.barrier()
    total = gl.subgroup_add(x[i]) + gl.subgroup_min(float(k)) + gl.subgroup_broadcast(x[i], 3)
    most = gl.subgroup_max(gl.u32(i))
    other = gl.subgroup_shuffle(i, gl.subgroup_id() ^ 1) + gl.subgroup_size()
    v = gl.vec3(x[i], float(h[i]), total)
    v.y += 2.0
    v[k] = s[0, l % 16]
    w, size = mixed(v, 0.5)
    f[i] = gl.dot(w, gl.cross(v, w)) + size + max(w, v).x + float(counts[l % 16])
    for name in (0, 1):
        gl.atomic_add(f, name, w[name])
    gl.atomic_min(f, 2, -1.5)
    gl.atomic_exchange(f, 3, 2.5)
    if gl.atomic_compare_exchange(f, 4, 0.0, 1.0) == 0.0:
        n[i] = int(gl.atomic_compare_exchange(u, 0, 0, most) == 0)
    gl.atomic_sub(n, k, other)
    gl.atomic_xor(u, i, 3)
    half = h[i] * 2.0 + h[i + 1] // h[i] - h[i] ** 3
    small[i] = int(half) & 255
    flags[i] = half > 1.0 or math.isnan(x[i]) and not math.isinf(x[i] / 0.0)
    while k > 0 and x[k] != 0.0:
        k -= 3
"""
SUBGROUPS = """
def within(v):
    return gl.subgroup_add(v)

def subgroups(
    x: gl.In[gl.f32], n: gl.In[gl.i32], sums: gl.Out[gl.f32], least: gl.Out[gl.f32],
    most: gl.Out[gl.f32], counts: gl.Out[gl.i32], moved: gl.Out[gl.f32], where: gl.Out[gl.i32],
):
    i = gl.group_id(1) * gl.group_size(3)[0] * gl.group_size(3)[1] * gl.group_size(3)[2]
    i += gl.local_index()
    size = gl.subgroup_size()
    sums[i] = within(x[i])
    least[i] = gl.subgroup_min(x[i])
    most[i] = gl.subgroup_max(x[i])
    counts[i] = gl.subgroup_add(n[i]) * 100 + size
    k = gl.i32(gl.subgroup_min(gl.u32(n[i])))
    for turn in range(3):
        k += gl.subgroup_broadcast(n[i], turn - 1)
    moved[i] = gl.subgroup_shuffle(x[i], gl.subgroup_id() * 5 - n[i])
    where[i] = k
"""
MODES = [
    {"bounds": "safe"}, {"bounds": "unchecked"}, {"bounds": "debug"}, {"fast_math": True},
]  # fmt: skip


def arguments(np):
    """What `EVERYTHING` takes."""
    return [
        np.ones(64, "f4"), np.ones(64, "f2"), np.ones(64, "i4"), np.ones(64, "f4"),
        np.ones(64, "u4"), 2,
    ]  # fmt: skip
