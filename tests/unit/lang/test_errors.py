"""What kernels may not do is refused at the Python line, with what to write instead."""

import math
import re
from types import ModuleType

import numpy as np
import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.errors import KernelError

HEAD = "def k(x: gl.In[gl.f32], n: gl.In[gl.i32], u: gl.In[gl.u32], y: gl.Out[gl.f32]):\n"
BEFORE = "    i = gl.global_id(1)\n"


def compile_lines(*lines, **names):
    """Compile a kernel of these lines; the first of them is line 3."""
    text = HEAD + BEFORE + "".join(f"    {line}\n" for line in lines)
    space = {"gl": gl, "gpu": gpu, "math": math, "np": np, **names}
    kernel = gpu.kernel(source=text, namespace=space)
    kernel.wgsl(gpu.ones(9), gpu.arange(9), gpu.arange(9, dtype="uint32"))


def helper_that_fails(a):
    return a + missing  # noqa: F821 - that is the point


def calls_itself(a):
    if a > 0:
        return calls_itself(a - 1)
    return a


# Lines of a kernel, the line at fault, what is under the caret, and what is said.
REFUSED = [
    (["y[i] = valeu"], 3, "valeu", "undefined name"),
    (["value = x[i]", "y[i] = valeu"], 4, "valeu", "did you mean value"),
    (["y[i] = x[i] + n"], 3, "x[i] + n", "n: an array where a number is needed: index it"),
    (["y[i] = n[i] + u[i]"], 3, "n[i] + u[i]", r"i32 \+ u32: write gl.i32"),
    (["y[i] = x[i] + (x[i] > 1)"], 3, "x[i] + (x[i] > 1)", r"f32 \+ bool: write int"),
    (["y[i] = x[i] & 1"], 3, "x[i] & 1", "& of f32: takes"),
    (["n[i] = 1"], 3, "n[i] = 1", "n: an In array is only read: make it Out or InOut"),
    (["y[0, i] = 1.0"], 3, "0, i", r"y: 2 indices: the array has 1 axis: write y\[i\]"),
    (["y[x[i]] = 1.0"], 3, "x[i]", "an index of f32: write int"),
    (["y[1:] = 1.0"], 3, "1:", "slices: not in kernels: index one element at a time"),
    (["t = 0", "for k in range(3):", "    t += x[k]", "y[i] = t"], 5, "t += x[k]",
     r"t: is i32 since line 3, f32 here: begin with a float \(0.0\) in line 3"),
    (["if i > 3:", "    v = 1", "else:", "    v = x[i]", "y[i] = v"], 6, "v = x[i]",
     "v: is i32 since line 4, f32 here"),
    (["if i > 3:", "    v = 1.0", "y[i] = v"], 5, "v", "v: may have no value here: assign it"),
    (["for k in range(i):", "    v = 1.0", "y[i] = v"], 5, "v", "may have no value"),
    (["y[i] = [z for z in (1, 2)][0]"], 3, "[z for z in (1, 2)]", "a comprehension: not in"),
    (["with x:", "    pass"], 3, "with x:", "with: not in kernels"),
    (["try:", "    pass", "finally:", "    pass"], 3, "try:", "try: not in kernels"),
    (["import math", "y[i] = 1.0"], 3, "import math", "write it at the top of the file"),
    (["def f(): pass"], 3, "def f(): pass", r"a function in a function \(define it outside\)"),
    (["y[i] = np.exp(x[i])"], 3, "np.exp(x[i])", "np.exp: not in kernels: write math.exp"),
    (["print(i)"], 3, "print(i)", "print: not in kernels"),
    (["y[i] = gl.nothing(1)"], 3, "gl.nothing", "there is no such thing"),
    (["y[i] = math.exp(x[i], 2)"], 3, "math.exp(x[i], 2)", "2 arguments: takes 1"),
    (["gl.barrier", "y[i] = 1.0"], 3, "gl.barrier", "the value is not used"),
    (["x[i]"], 3, "x[i]", "the value is not used"),
    (["s = gl.shared(i, gl.f32)"], 3, "gl.shared(i, gl.f32)", "known when the kernel is compiled"),
    (["s = gl.shared(4, gl.f32)", "y[i] = s[4]"], 4, "4", "index 4 of an axis of 4"),
    (["for k in x:", "    pass"], 3, "x", r"over range\(...\), gl.unroll\(...\) or a tuple"),
    (["for k in range(0.5):", "    pass"], 3, "0.5", "range of f32: takes integers"),
    (["for k in range(1, 9, 0):", "    pass"], 3, "range(1, 9, 0)", "a step of 0"),
    (["for k in gl.unroll(i):", "    pass"], 3, "gl.unroll(i)", "known when it is compiled"),
    (["while i:", "    i -= 1", "else:", "    pass"], 6, "pass", "else of a loop: not in kernels"),
    (["y[i] = x[i] and 1"], 3, "x[i]", r"and of f32: write ... != 0"),
    (["y[i] = gl.atomic_add(x, i, 1.0)"], 3, "gl.atomic_add(x, i, 1.0)", "an Out or InOut array"),
    (["y[i] = 1.0 if i else gl.atomic_add(y, i, 1.0)"], 3,
     "1.0 if i else gl.atomic_add(y, i, 1.0)", "write an if statement"),
    (["y[i] = 1 << 40"], 3, "y[i] = 1 << 40", None),
    (["j = 3000000000", "j += i"], 3, "j = 3000000000", "3000000000 is outside of int32"),
    (["y[i] = 1 // 0"], 3, "1 // 0", "by zero"),
    (["a, b = 1, 2, 3"], 3, "a, b = 1, 2, 3", "2 names for 3 values"),
    (["y[i] = OUTSIDE[0]"], 3, "OUTSIDE", "an array from outside: make it a parameter"),
    (["y[i] = helper(x[i])"], 2, "missing", "helper_that_fails: missing: undefined name"),
    (["y[i] = recursive(x[i])"], None, None, "calls itself: not in kernels"),
    (["y[i] = 'text'"], 3, "y[i] = 'text'", "not a number"),
    (["return 3"], None, None, "a kernel returns nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "line", "under", "said"), REFUSED)
def test_refused_with_the_line_and_a_caret(lines, line, under, said):
    names = {
        "OUTSIDE": np.ones(3), "helper": helper_that_fails, "recursive": calls_itself,
    }  # fmt: skip
    if said is None:
        compile_lines(*lines, **names)
        return
    with pytest.raises(KernelError, match=said) as caught:
        compile_lines(*lines, **names)
    message = str(caught.value)
    if line is None:
        return
    shown = message.splitlines()
    at = next(number for number, text in enumerate(shown) if re.search(r":\d+$", text))
    if under == "missing":
        assert "called from" in message
        assert re.search(r"<kernel \d+>:3\n    y\[i\] = helper", message)
    else:
        assert re.search(rf"<kernel \d+>:{line}$", shown[at])
    carets = shown[at + 2]
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert shown[at + 1][start:end] == under


BARRIERS = [
    (["if i >= len(x):", "    return", "gl.barrier()"], 5, "in line 4 some invocations return"),
    (["if i > 3:", "    gl.barrier()"], 4, "in line 3 the condition may differ"),
    (["for k in range(i):", "    gl.barrier()"], 4, "in line 3 the range may differ"),
    (["for k in range(9):", "    if k > i:", "        break", "    gl.barrier()"], 6,
     "in line 5 some invocations break"),
    (["v = 0", "if i > 3:", "    v = 1", "if v > 0:", "    gl.barrier()"], 7, "in line 6"),
    (["v = int(y[0])", "while v > 0:", "    v -= 1", "    gl.barrier()"], 6, "in line 4 it may"),
    (["waiting(i)"], None, "guard_and_wait has a barrier|some invocations return"),
    (["if i > 3:", "    v = gl.subgroup_add(i)"], 4, "subgroup_add: not all invocations"),
]  # fmt: skip


def guard_and_wait(i):
    if i > 3:
        return
    gl.barrier()


@pytest.mark.parametrize(("lines", "line", "said"), BARRIERS)
def test_a_barrier_that_some_do_not_meet_is_refused(lines, line, said):
    with pytest.raises(KernelError, match=said) as caught:
        compile_lines(*lines, "y[i] = 1.0", waiting=guard_and_wait)
    if line is not None:
        assert re.search(rf"<kernel \d+>:{line}\n", str(caught.value))


def test_barriers_that_all_meet_are_taken():
    compile_lines(
        "s = gl.shared(64, gl.f32)",
        "g = gl.group_id(1)",
        "for k in range(len(x)):",
        "    if g > 3 and n[k] > 2:",  # the same for the whole workgroup
        "        break",
        "    s[gl.local_index()] = x[i]",
        "    gl.barrier()",
        "    if i > 3:",
        "        y[i] = s[0]",
        "    gl.barrier()",
        "y[i] = 1.0",
    )


def test_parameters_must_say_what_they_are():
    for text, said in (
        ("def k(x, y: gl.Out[gl.f32]): pass", "x: annotate it: gl.In"),
        ("def k(x: gl.In[gl.f32]): pass", "no Out or InOut parameter"),
        ("def k(x: gl.In['f33'], y: gl.Out[gl.f32]): pass", "x: 'f33': an array of"),
        ("def k(x: 'gl.Inn[gl.f32]', y: gl.Out[gl.f32]): pass", "annotation 'gl.Inn"),
        ("def k(threads: gl.i32, y: gl.Out[gl.f32]): pass", "the call has that name itself"),
        ("def k(*x, y: gl.Out[gl.f32]): pass", r"x: \* and \*\* cannot be parameters"),
        ("x = 3", "defines no function"),
    ):
        with pytest.raises(KernelError, match=said):
            gpu.kernel(source=text, namespace={"gl": gl})
    with pytest.raises(gpu.errors.UsageError, match="workgroup"):
        gpu.kernel(source="def k(y: gl.Out[gl.f32]): pass", namespace={"gl": gl}, workgroup=2000)
    with pytest.raises(KernelError, match="takes a function written with def"):
        gpu.kernel(3)


def test_source_that_cannot_be_read_says_what_to_do():
    module = ModuleType("made")
    text = "def k(y: gl.Out[gl.f32]):\n    y[gl.global_id(1)] = 1.0\n"
    exec(text, module.__dict__ | {"gl": gl}, module.__dict__)
    with pytest.raises(KernelError, match=r"k: its source cannot be read.*gpu\.kernel\(source="):
        gpu.kernel(module.k)
    kernel = gpu.kernel(source=text, namespace={"gl": gl})
    assert kernel.simulate(out_shape=3).tolist() == [1, 1, 1]


def test_a_second_run_under_one_name_does_not_change_the_first():
    import linecache

    def run(text, name):
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        names = {"gl": gl, "gpu": gpu}
        exec(compile(text, name, "exec"), names)
        return names

    first = run("@gpu.elementwise\ndef f(x):\n    return x + 1\n", "<cell>")["f"]
    second = run("@gpu.elementwise\ndef f(x):\n    return x + 2\n", "<cell>")["f"]
    assert first.simulate(np.ones(1, "f4")) == 2
    assert second.simulate(np.ones(1, "f4")) == 3
    late = run("def g(x):\n    return x + 1\n", "<late>")["g"]
    run("\n\ndef h(y):\n    return y\n", "<late>")
    with pytest.raises(KernelError, match=r"g: .*the text there is another one"):
        gpu.elementwise(late)


def test_lambdas_and_functions_in_functions():
    scale = 3

    @gpu.elementwise
    def inner(x: gl.f32) -> "gl.f32":
        return x * scale

    x = np.arange(4, dtype="f4")
    assert inner.simulate(x).tolist() == [0, 3, 6, 9]
    two = gpu.elementwise(lambda x, y: x * y + scale), gpu.elementwise(lambda x, y: x - y)
    assert two[0].simulate(x, 2.0).tolist() == [3, 5, 7, 9]
    assert two[1].simulate(x, x).tolist() == [0, 0, 0, 0]
