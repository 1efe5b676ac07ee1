"""Habits from elsewhere, and slips of a first day: each is answered by what to write instead."""

import math
from typing import TypeVar

import numpy as np
import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.errors import AioGpuError, DTypeError, KernelError, UsageError

T = TypeVar("T", gl.f32, gl.i32)
U = TypeVar("U")
NAMES = {"gl": gl, "gpu": gpu, "math": math, "np": np, "T": T, "U": U}
X = np.arange(8, dtype="f4")


def kernel(*lines, head="def k(x: gl.In[gl.f32], y: gl.Out[gl.f32]):", **more):
    text = f"{head}\n" + "".join(f"    {line}\n" for line in lines)
    return gpu.kernel(source=text, namespace=NAMES, **more)


# Lines of a kernel, the line at fault, what is under the caret, and what is said.
LINES = [
    (["for k in gl.unroll(x.shape[0]):", "    y[k] = 1.0"], 2, "gl.unroll(x.shape[0])",
     "use range"),
    (["for k in gl.unroll(2.0):", "    y[k] = 1.0"], 2, "gl.unroll(2.0)", "whole numbers"),
    (["for k in gl.unroll(0, 4, 0):", "    y[k] = 1.0"], 2, "gl.unroll(0, 4, 0)", "step of 0"),
    (["for k in gl.unroll(0, 1, 2, 3):", "    y[k] = 1.0"], 2, "gl.unroll(0, 1, 2, 3)", "1 to 3"),
    (["for a, b in range(3):", "    y[a] = 1.0"], 2, "a, b", "write one name"),
    (["while True:", "    y[0] = 1.0"], 2, "while True:", "never ends.*: add a break"),
    (["y = x"], 2, "y", r"y: an array cannot be assigned: write y\[\.\.\.\] = "),
    (["y[0] = np.float32(1)"], 2, "np.float32(1)", r"write gl\.f32\(\.\.\.\)"),
    (["y[0] = np.maximum(x[0], 1)"], 2, "np.maximum(x[0], 1)", r"write max\(a, b\)"),
    (["y[0] = np.cumsum(x)"], 2, "np.cumsum(x)", "write the loop, or call it outside"),
    (["y[0] = gpu.tanh(x[0])"], 2, "gpu.tanh(x[0])", r"write math\.tanh"),
    (["y[0] = gpu.sum(x)"], 2, "gpu.sum(x)", "an operation on whole arrays: write the loop"),
    (["y[0] = 1.0", "return x[0]"], 3, "x[0]", "returns nothing: write to its Out arrays"),
    (["y[0] = float(x[0] in (1.0, 2))"], 2, "x[0] in (1.0, 2)",
     r"write x\[0\] == 1\.0 or x\[0\] == 2"),
    (["y[0] = gl.f64(1)"], 2, "gl.f64", r"did you mean f32\?"),
    (["i = gl.program_id(0)"], 2, "gl.program_id", r"did you mean group_id\?"),
    (["gl.syncthreads()"], 2, "gl.syncthreads", r"did you mean barrier\?"),
    (["i = gl.globel_id(1)"], 2, "gl.globel_id", r"did you mean global_id\?"),
    (["i = gl.global_id()"], 2, "gl.global_id()", r"write gl\.global_id\(1\)"),
    (["i, j = gl.global_id(1)"], 2, "i, j = gl.global_id(1)", "i32: one value for 2 names"),
    (["a, *b = 1, 2, 3"], 2, "a, *b", r"\*: not in kernels"),
    (["gl.atomic_add(y[0], 1.0)"], 2, "gl.atomic_add(y[0], 1.0)",
     "write gl.atomic_add.array, index"),
    (["y[0] = x.get(0)"], 2, "x.get(0)", r"1 argument: takes 2: write x\.get\(i, default\)"),
    (["s = gl.shared(4)"], 2, "gl.shared(4)", r"write gl\.shared\(shape, gl\.f32\)"),
    (["pass"], 1, "y: gl.Out[gl.f32]", r"y: an Out array that is never written"),
    (["y[0, 0] = 1.0"], 2, "0, 0", r"2 indices: the array has 1 axis: write y\[i\]"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "line", "under", "said"), LINES)
def test_the_line_is_shown_with_what_to_write(lines, line, under, said):
    with pytest.raises(KernelError, match=said) as caught:
        kernel(*lines).simulate(X)
    place, shown, *carets = str(caught.value).splitlines()[1:]
    assert place.endswith(f">:{line}")
    start, end = carets[0].index("^"), carets[0].rindex("^") + 1
    assert shown[start:end] == under


FINE = "def k(y: gl.Out[gl.f32]): y[0] = 1.0"
SOURCES = [
    ({"source": "@gpu.kernel\n" + FINE}, "leave the decorator out"),
    ({"source": "async " + FINE}, "write def, nothing waits"),
    ({"source": "class K:\n    pass"}, "defines no function: write `def"),
    ({"source": 3}, "source: int: takes the text of a function"),
    ({"source": FINE, "namespace": None}, r"namespace=globals\(\)"),
    ({"function": math.sin, "source": "def k(): pass"}, "both a function and source"),
    ({"function": 64}, "takes a function written with def; sizes go by name: workgroup="),
    ({"function": KernelError("").again}, "written with def outside of a class"),
    ({"source": FINE, "workgroup": 2.0}, r"workgroup 2\.0: 1 to 3"),
    ({"source": FINE, "bounds": "off"}, "safe, unchecked or debug"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), SOURCES)
def test_what_is_no_kernel_says_what_is_wrong(given, said):
    with pytest.raises(AioGpuError, match=said):
        gpu.kernel(**{"namespace": NAMES, **given})


def test_a_syntax_error_is_pythons_own():
    with pytest.raises(SyntaxError) as caught:
        kernel("y[0] = = 1.0")
    assert (caught.value.lineno, caught.value.text.strip()) == (2, "y[0] = = 1.0")


def test_helpers_of_a_source_may_stand_below_it():
    made = gpu.kernel(
        source="""
        def k(x: gl.In[gl.f32], y: gl.Out[gl.f32]):
            i = gl.global_id(1)
            y[i] = twice(x[i])
        def twice(a):
            return 2 * a
        """,
        namespace=NAMES,
    )
    assert made.simulate(X).tolist() == (2 * X).tolist()


CALLS = [
    (lambda k: k[8](X), UsageError, r"k\[\.\.\.\]: a launch is a call: k\(\.\.\., threads="),
    (lambda k: k.simulate(X, X), UsageError, "takes 1: x; y: made by the kernel, and returned"),
    (lambda k: k.simulate(X, threads="all"), UsageError, "threads 'all': takes a whole number"),
    (lambda k: k.simulate(X, threads=2.5), UsageError, r"threads 2\.5: takes a whole number"),
    (lambda k: k.simulate(X, workgroups=(1, "a")), UsageError, "workgroups .*whole numbers"),
    (lambda k: k.simulate(X, out_shape="a"), UsageError, "out_shape 'a': takes a shape"),
    (lambda k: k.simulate(X, blocks=2), UsageError, "blocks: no such parameter"),
    (lambda k: k.simulate(X.astype("f8")), DTypeError, "k: x: dtype float64: not available"),
    (lambda k: k.simulate([1.0]), UsageError, "x: list: takes an array"),
    (lambda k: k(X), UsageError, "x: ndarray: takes an array; make one with asarray"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "said"), CALLS)
def test_a_call_that_does_not_fit_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call(kernel("y[0] = x[0]"))


def test_type_variables_name_their_dtype_in_the_body_too():
    made = kernel(
        "s = gl.shared(64, T)", "i = gl.global_id(1)", "s[i] = x[i] * T(2)",
        "last: T = s[i] + by", "y[i] = last",
        head="def k(x: gl.In[T], y: gl.Out[T], by: T):",
    )  # fmt: skip
    for dtype in ("f4", "i4"):
        given = np.arange(9).astype(dtype)
        result = made.simulate(given, 3)
        assert result.dtype == dtype
        assert result.tolist() == (2 * given + 3).tolist()
        assert made.wgsl(given, 3)
    narrow = kernel(
        "s = gl.shared(8, U)", "s[0] = x[0] + U(1)", "y[0] = s[0]",
        head="def k(x: gl.In[U], y: gl.Out[U]):",
    )  # fmt: skip
    assert narrow.simulate(np.full(8, 255, "u1")).tolist() == [0] * 8

    def scaled(a: T, b: T) -> T:
        return a * T(2) + b

    made = gpu.elementwise(scaled)
    assert made.simulate(X, X).dtype == np.float32
    assert made.simulate(X.astype("i4"), 1).tolist() == (2 * X + 1).tolist()
    with pytest.raises(DTypeError, match="b: int32: T is float32"):
        made.simulate(X, X.astype("i4"))


def test_tuples_are_walked_over_as_in_python():
    made = kernel(
        "for k, v in enumerate((3.0, 5.0)):", "    y[k] = v",
        "for a, b in zip((1, 2), reversed((10.0, 20.0))):", "    y[2 + a] = b",
    )  # fmt: skip
    assert made.simulate(X, threads=1).tolist() == [3, 5, 0, 20, 10, 0, 0, 0]
