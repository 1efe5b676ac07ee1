"""What a device or its compiler refuses in a kernel is said at the user's line."""

from pytest_pyodide import run_in_pyodide

# NUMBER makes texts that no pipeline was made of before.
IN_PYTHON = """
@gpu.kernel
def wrong(x: gl.In[gl.f32], y: gl.Out[gl.f32]):
    i = gl.global_id(1)
    y[i] = gl.rsqrt(
        x[i]) + NUMBER

@gpu.elementwise
def squared(x):
    below = gl.rsqrt(x) - NUMBER
    return below * below
"""
IN_WGSL = """
first = gpu.wgsl('''@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(4) fn good() { y[0] = 1.0; }''')
by_hand = gpu.wgsl('''
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(4)
fn by_hand(@builtin(global_invocation_id) id: vec3u) {
    y[id.x] = x[id.x] * missing + NUMBER;
}
''')
"""


def test_compilers_are_translated_with_and_without_a_wait(selenium_worker):
    for number in (1, 2):
        is_drained = number == 2
        run_broken(
            selenium_worker,
            IN_PYTHON.replace("NUMBER", f"{number}.0"),
            IN_WGSL.replace("NUMBER", f"{number}.0"),
            is_drained,
        )


@run_in_pyodide
async def run_broken(selenium_worker, in_python, in_wgsl, is_drained):
    import linecache

    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    import aiogpu.lang as gl
    from aiogpu.evaluate import MAX_DEPTH
    from aiogpu.lang import operations

    def run(text, name):
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        names = {"gl": gl, "gpu": gpu}
        exec(compile(text, name, "exec"), names)
        return names

    names = run(in_python, "of_python.py")
    by_hand = run(in_wgsl, "of_wgsl.py")["by_hand"]
    x = gpu.asarray([1.0, 2.0, 3.0])
    innocent = x * 2 + 5
    await innocent.evaluate()
    kept = operations.ROWS["rsqrt"]
    operations.ROWS["rsqrt"] = kept._replace(wgsl={"f32": "nonsense({0})"})
    try:
        for broken, label, texts in (
            (
                lambda: names["wrong"](x),
                "wrong",
                ("of_python.py:5\n    y[i] = gl.rsqrt(", "nonsense"),
            ),
            (
                lambda: names["squared"](x) + 1,
                "",
                ("of_python.py:10\n    below = gl.rsqrt(x) - ", "nonsense("),
            ),
            (
                lambda: by_hand(x, out_shape=3),
                "by_hand",
                ("of_wgsl.py:9\n    y[id.x] = x[id.x] * missing + ", f"{' ' * 24}^", "missing"),
            ),
        ):
            for turn in range(2):  # the second time it is known
                made = broken()
                bystander = gpu.tanh(x + turn)
                if is_drained:  # so deep that all is enqueued here
                    for _ in range(2 * MAX_DEPTH):
                        made = gpu.tanh(made)
                        bystander = -bystander
                with pytest.raises(gpu.errors.KernelError) as caught:
                    await gpu.read(innocent, made)
                said = str(caught.value)
                assert f"{label}: the shader does not compile" in said
                for text in texts:
                    assert text in said, said
                # What went out with it is there, and right.
                assert_array_equal(await innocent.numpy(), [7, 9, 11])
                wanted = np.tanh(np.array([1, 2, 3], "f4") + turn)
                np.testing.assert_allclose(await bystander.numpy(), wanted, rtol=1e-6)
    finally:
        operations.ROWS["rsqrt"] = kept
    await gpu.synchronize()  # nothing is left that nobody has seen
