"""How a kernel's own statements stand in the shader's main."""

import re

import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.kernels.writer import TextCache
from aiogpu.lang.launch import render
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

HEAD = "def k(y: gl.Out[gl.i32]):\n"
PLACES = HEAD + "    y[gl.global_id(1)] = 100 * gl.local_id(2)[0] + gl.local_id(2)[1]\n"


def wgsl(text, workgroup, limits=None, **names):
    kernel = gpu.kernel(source=text, namespace={"gl": gl, **names}, workgroup=workgroup)
    made = kernel(out_shape=64, workgroups=(1,) * (2 if isinstance(workgroup, tuple) else 1))
    (step,) = schedule([made._node], limits or Limits())
    (launch,) = render(step, limits or Limits(), TextCache()).launches
    return launch.wgsl


def test_the_last_axis_of_python_is_x():
    text = wgsl(PLACES.replace("global_id(1)", "global_id(2)[1]"), (4, 16))
    assert "@compute @workgroup_size(16, 4, 1)" in text
    assert "(100i * i32(l3.y))" in text
    assert "lid" not in text


@pytest.mark.parametrize(
    ("limits", "is_linear"),
    [
        (Limits(), False),
        (Limits(max_size_y=15), True),
        (Limits(max_size_x=256, max_size_y=16), False),
    ],
)
def test_one_row_where_an_axis_is_too_long(limits, is_linear):
    text = wgsl(PLACES.replace("global_id(1)", "global_id(2)[1]"), (16, 16), limits)
    assert ("@workgroup_size(256)" in text) == is_linear
    assert ("local_invocation_id" in text) != is_linear
    assert ("let li = vec3i(i32((lid & 15u)), i32(((lid >> 4u) & 15u)), 0);" in text) == is_linear


def test_more_invocations_than_an_axis_has():
    limits = Limits(max_invocations=1024)
    text = PLACES.replace("global_id(1)", "global_id(2)[1]")
    assert "@workgroup_size(32, 32, 1)" in wgsl(text, (32, 32), limits)
    with pytest.raises(gpu.errors.LimitError, match="1024 invocations: this device allows 256"):
        wgsl(text, (512, 2), limits)


def test_functions_get_the_ids_that_they_use():
    @gpu.func
    def place() -> gl.i32:
        i = gl.global_id(1)
        if i > 3:
            return 0
        return i

    text = wgsl(HEAD + "    y[gl.local_id(1)] = place()\n", 64, place=place)
    main = text[text.index("@compute") :]
    assert re.search(r"let li = vec3i\(l3\);", main)
    assert re.search(r"f_place_0\(wg, li, lx\)", main)
    assert "l3" not in text[: text.index("@compute")]


@pytest.mark.parametrize(
    ("lines", "is_constant"),
    [
        (["v = gl.local_id(1)", "y[v] = v"], True),
        (["v = gl.local_id(1)", "v += 1", "y[v] = v"], False),
        (["for k in range(3):", "    v = gl.local_id(1) + k", "    y[v] = v"], False),
        (["v = 0", "if gl.local_id(1) > 3:", "    v = 1", "y[0] = v"], False),
    ],
)
def test_a_variable_that_is_set_once_is_a_constant(lines, is_constant):
    text = wgsl(HEAD + "".join(f"    {line}\n" for line in lines), 64)
    assert ("let u_v: i32 = " in text) == is_constant
    assert ("var u_v: i32;" in text) != is_constant


def test_lines_of_main_are_lines_of_python():
    kernel = gpu.kernel(
        source=HEAD + "    v = gl.local_id(1)\n    y[v] = v\n", namespace={"gl": gl}
    )
    made = kernel(out_shape=64, workgroups=1)
    (step,) = schedule([made._node], Limits())
    (launch,) = render(step, Limits(), TextCache()).launches
    lines = launch.wgsl.splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "let u_v" in line)
    said = launch.origin.explain(launch.wgsl, f":{at}:3 error: no")
    assert "in WGSL: let u_v" in said
    assert "v = gl.local_id(1)" in said
    group = next(number for number, line in enumerate(lines, 1) if "let group" in line)
    assert "gl." not in launch.origin.explain(launch.wgsl, f":{group}:3 error: no")
