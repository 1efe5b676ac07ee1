"""What the open device does not allow is refused at the call, with the line that asks for it."""

import linecache

import numpy as np
import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.errors import KernelError, LimitError
from aiogpu.limits import Limits

SMALL = Limits(
    max_storage_buffers=4, max_invocations=128, max_size_x=128, max_size_z=4, max_groups=100,
    max_shared_nbytes=1024,
)  # fmt: skip

ARRAYS = "x: gl.In[gl.f32], z: gl.In[gl.f32], a: gl.In[gl.f32], y: gl.Out[gl.f32]"


def run(text, name="mine.py"):
    """The names that a file defines."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"gl": gl, "gpu": gpu}
    exec(compile(text, name, "exec"), names)
    return names


@pytest.fixture
async def small(host):
    host.limits = SMALL
    await gpu.open_device()
    crossings = host.recorder.crossings
    yield host
    assert host.recorder.crossings == crossings


# A file, how many arrays k takes, the line, what is under the caret, and what is said.
REFUSED = [
    (f"@gpu.kernel\ndef k({ARRAYS}, more: gl.Out[gl.f32]):\n    y[0] = more[0]\n", 3,
     2, "more: gl.Out[gl.f32]", r"5 arrays: this device allows 4 in a kernel: put several"),
    (f"@gpu.kernel(bounds='debug')\ndef k({ARRAYS}):\n    y[0] = x[0] + z[0] + a[0]\n", 3,
     2, "y: gl.Out[gl.f32]", r"4 arrays: .* 4 in a kernel, of which bounds='debug' takes one"),
    ("@gpu.kernel(\n    bounds='safe',\n    workgroup=(16, 16),\n)\n"
     "def k(y: gl.Out[gl.f32]):\n    y[0] = 1.0\n", 0,
     3, "workgroup=(16, 16)", "a workgroup of 256 invocations: this device allows 128"),
    ("@gpu.kernel\ndef k(x: gl.In[gl.f32], y: gl.Out[gl.f32]):\n    s = gl.shared(128, gl.f32)\n"
     "    t = gl.shared((8, 17), gl.f32)\n    s[0] = x[0]\n    y[0] = s[0] + t[0, 0]\n", 1,
     4, "gl.shared((8, 17), gl.f32)", "1056 bytes of shared memory up to here: .* allows 1024"),
    # Each variable takes whole units of 16 bytes; operations of subgroups take memory too.
    ("@gpu.kernel\ndef k(y: gl.Out[gl.f32]):\n    t = gl.shared(1, gl.f32)\n"
     "    s = gl.shared(253, gl.f32)\n    y[0] = s[0] + t[0]\n", 0,
     4, "gl.shared(253, gl.f32)", "1040 bytes"),
    ("def more():\n    return gl.shared(200, gl.i32)\n\n@gpu.kernel\ndef k(y: gl.Out[gl.f32]):\n"
     "    s = more()\n    s[0] = gl.subgroup_add(1)\n    y[0] = float(s[0])\n", 0,
     2, "gl.shared(200, gl.i32)", "1072 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "count", "line", "under", "said"), REFUSED)
async def test_refused_at_the_call(small, text, count, line, under, said):
    kernel = run(text)["k"]
    with pytest.raises(LimitError, match=said) as caught:
        kernel(*[gpu.ones(3)] * count, out_shape=3)
    place, shown, carets = str(caught.value).splitlines()[1:4]
    assert place == f"  mine.py:{line}"
    assert shown[carets.index("^") : carets.rindex("^") + 1] == under
    assert kernel.simulate(*[np.ones(3, "f4")] * count, out_shape=3) is not None


async def test_the_largest_allowed_is_taken(small):
    text = (
        f"@gpu.kernel(workgroup=(8, 16))\ndef k({ARRAYS}):\n    s = gl.shared(252, gl.f32)\n"
        "    t = gl.shared(1, gl.f32)\n    y[0, 0] = x[0, 0] + z[0, 0] + a[0, 0] + s[0] + t[0]\n"
    )
    x = gpu.ones((3, 3))
    kernel = run(text)["k"]
    kernel(x, x, x)
    kernel(x, x, x, threads=(1 << 20, 1 << 10))  # however many workgroups: by several dispatches


async def test_without_a_device_it_is_said_where_a_result_is_awaited(host):
    host.limits = SMALL
    kernel = run("@gpu.kernel(workgroup=256)\ndef k(y: gl.Out[gl.f32]):\n    y[0] = 1.0\n")["k"]
    made = kernel(out_shape=3)
    with pytest.raises(LimitError, match=r"mine\.py:1\n    @gpu"):
        await made.numpy()
    assert host.recorder.submits == []


WGSL = """
made = gpu.wgsl('''
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute
@workgroup_size(SIZE)
fn main() { y[0] = 1.0; }
''')
"""


async def test_raw_wgsl_is_refused_at_the_call_too(small):
    for size, said in (
        ("16, 16", "a workgroup of 16 by 16 by 1: this device allows 128 invocations"),
        ("1, 1, 8", "8: .* 128 by 256 by 4 along the axes"),
    ):
        kernel = run(WGSL.replace("SIZE", size))["made"]
        with pytest.raises(LimitError, match=said) as caught:
            kernel(out_shape=3)
        place, shown, carets = str(caught.value).splitlines()[1:]
        assert place == "  mine.py:5"
        assert shown[carets.index("^") : carets.rindex("^") + 1] == f"@workgroup_size({size})"
    kernel = run(WGSL.replace("SIZE", "8"))["made"]
    with pytest.raises(LimitError, match=r"main: \(101, 1, 1\) workgroups: this device allows 100"):
        kernel(out_shape=808, threads=808)
    kernel(out_shape=800, threads=800)
    more = "".join(
        f"@group(0) @binding({at}) var<storage, read_write> b{at}: array<f32>;\n"
        for at in range(1, 5)
    )
    kernel = gpu.wgsl(more + WGSL.split("'''")[1].replace("SIZE", "8"))
    with pytest.raises(LimitError, match=r"5 bindings: this device allows 4\n  WGSL:1\n"):
        kernel(out_shape=3)


async def test_what_compilers_say_is_shown_at_the_users_line(host):
    text = WGSL.replace("SIZE", "8").replace("gpu.wgsl('''\n", "gpu.wgsl('''// @refuse\n")
    for source in (text, text.replace("@refuse", "@refuse again")):
        made = run(source)["made"](out_shape=3)
        with pytest.raises(KernelError, match=r"1:1 refused\n  mine\.py:2\n    // @refuse"):
            await made.numpy()
    put_together = gpu.wgsl("".join(["// @refuse\n", WGSL.split("'''")[1].replace("SIZE", "8")]))
    with pytest.raises(KernelError, match=r"1:1 refused\n  WGSL:1\n    // @refuse"):
        await put_together(out_shape=3).numpy()
