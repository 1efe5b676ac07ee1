"""Which checks of bounds are left out: those that conditions make needless, and no others."""

import pytest

import aiogpu as gpu
import aiogpu.lang as gl


def body_of(*lines):
    """The WGSL of a kernel's own function, without comments."""
    text = "def k(x: gl.In[gl.f32], n: gl.In[gl.i32], y: gl.Out[gl.f32], by: gl.i32):\n"
    text += "    i = gl.global_id(1)\n" + "".join(f"    {line}\n" for line in lines)
    kernel = gpu.kernel(source=text, namespace={"gl": gl})
    wgsl = kernel.wgsl(gpu.ones(9), gpu.arange(9), 1)
    return wgsl[wgsl.index("@compute") :]


NEEDLESS = [
    ["if i < len(x):", "    y[i] = x[i]"],
    ["if i >= len(x):", "    return", "y[i] = x[i]"],
    ["size = x.shape[0]", "if i < size - 1:", "    y[i] = x[i + 1]"],
    ["if 0 < i < len(x) and by > 2:", "    y[i] = x[i - 1]"],
    ["if i < 1 or i > len(x) - 2:", "    return", "y[i] = x[i - 1] + x[i + 1]"],
    ["for k in range(len(x)):", "    y[i] = x[k]"],
    ["for k in range(1, len(x)):", "    y[i] = x[k - 1]"],
    ["for k in range(len(x) - 1, -1, -1):", "    y[i] = x[k]"],
    ["j = n[0]", "if not (j < 0 or j >= len(x)):", "    y[i] = x[j]"],
    ["for k in range(i, len(x), gl.num_groups(1) * gl.group_size(1)):", "    y[k] = x[k]"],
    ["step = gl.num_groups(1) * 8", "for k in range(i, len(x), step):", "    y[k] = x[k]"],
    ["for k in range(9):", "    y[k] = 1.0", "for k in range(len(x)):", "    y[k] = x[k]"],
]
NEEDED = [
    ["if i <= len(x):", "    y[i] = x[i]"],
    ["if i < len(n):", "    y[i] = x[i]"],  # another array's size
    ["if i < len(x) or by > 2:", "    y[i] = x[i]"],
    ["if i < len(x):", "    pass", "y[i] = x[i]"],
    ["if i < len(x):", "    y[i] = x[i + 1]"],
    ["if i < len(x):", "    y[i] = x[i - 1]"],
    ["if by < len(x):", "    y[i] = x[by]"],  # may be negative
    ["if i + 1 < len(x):", "    y[i] = x[i]"],  # the sum may wrap
    ["j = 0", "if j < len(x):", "    j += by", "    y[i] = x[j]"],  # changed since
    ["for k in range(by, len(x)):", "    y[i] = x[k]"],
    ["for k in range(len(x) + 1):", "    y[i] = x[k]"],
    ["for k in range(i, len(x), by):", "    y[i] = x[k]"],  # may go down
    ["for k in range(i, len(x), gl.num_groups(1) * 65):", "    y[i] = x[k]"],  # may wrap to it
    ["for k in range(len(x)):", "    k += 1", "    y[i] = x[k]"],
    ["k = 0", "for k in range(len(x)):", "    pass", "y[i] = x[k + by]"],
    ["for k in range(len(x)):", "    for k in range(by):", "        pass", "    y[i] = x[k]"],
]


@pytest.mark.parametrize("lines", NEEDLESS)
def test_a_check_that_is_needless_is_left_out(lines):
    text = body_of(*lines)
    assert "b0[" in text
    assert "get_b0(" not in text


@pytest.mark.parametrize("lines", NEEDED)
def test_a_check_that_is_needed_stays(lines):
    assert "get_b0(" in body_of(*lines)


def test_elements_of_narrow_arrays_are_within_their_range():
    kernel = gpu.kernel(
        source="""
        def k(x: gl.In[gl.u8], z: gl.In[gl.i8], y: gl.Out[gl.i32]):
            s = gl.shared(256, gl.i32)
            i = gl.global_id(1)
            gl.atomic_add(s, int(x[i]), 1)
            gl.atomic_max(s, int(z[i]), 1)
            gl.atomic_min(s, int(x.get(i, 300)), 1)
            y[i] = 1
        """,
        namespace={"gl": gl},
    )
    text = kernel.wgsl(gpu.zeros(9, dtype="uint8"), gpu.zeros(9, dtype="int8"))
    for name, is_needed in (("add", False), ("max", True), ("min", True)):
        assert (f"atomic_{name}_m0(" in text) is is_needed


def test_loops_that_share_a_name_have_variables_of_their_own():
    text = body_of(
        "for k in range(3):", "    y[k] = 1.0", "for k in range(len(x)):", "    y[k] = x[k]"
    )
    assert "var u_k:" not in text
    text = body_of("for k in range(1, 3):", "    y[k] = 1.0", "y[i] = float(k)")
    assert "var u_k:" in text
