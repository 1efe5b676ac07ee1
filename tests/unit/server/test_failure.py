import json

import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu.errors import DeviceLostError, KernelError, ShapeError
from aiogpu.server import source
from aiogpu.server.failure import describe


def test_class_code_and_message_cross():
    described = describe(ShapeError("matmul: (2, 3) and (2, 3): inner sizes differ"))
    assert described["code"] == "shape"
    assert described["name"] == "ShapeError"
    assert described["message"] == "matmul: (2, 3) and (2, 3): inner sizes differ"
    assert described["operation"] == "matmul"
    assert described["cause"] is None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyError("k"), "remote"),
        (MemoryError("a: b"), "out-of-memory"),
        (ModuleNotFoundError("a: b"), "import"),
    ],
)
def test_pythons_own_exceptions_have_a_code_and_no_operation(error, code):
    described = describe(error)
    assert (described["code"], described["operation"]) == (code, None)


def test_line_of_a_kernel_crosses():
    text = "def wrong(x: gl.In[gl.f32], out: gl.Out[gl.f32]):\n    i = 0\n    out[i] = open(x)\n"
    with pytest.raises(KernelError) as caught:
        gpu.kernel(source=text, namespace={"gl": gl})(gpu.ones(4), out_shape=4)
    described = describe(caught.value.again())
    assert described["line"]["line"] == 3
    assert described["line"]["text"] == "out[i] = open(x)"
    assert described["line"]["file"] in described["message"]
    assert describe(ShapeError("x"))["line"] is None


async def test_traceback_starts_at_the_users_frame():
    text = "def f():\n    raise ValueError('bad')\nf()"
    with pytest.raises(ValueError, match="bad") as caught:
        await source.evaluate(text, source.register(text, "run"), {}, {})
    # As if the server itself had caught it: the test's own frame above is not there then.
    error = caught.value.with_traceback(caught.value.__traceback__.tb_next)
    lines = describe(error)["traceback"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "<run " in lines[1]
    assert lines[-1] == "ValueError: bad"
    assert not any("/server/source.py" in line for line in lines)


@pytest.mark.parametrize(
    ("handler", "cause"),
    [
        ("raise RuntimeError from error", "device-lost"),
        ("raise RuntimeError", "device-lost"),
        ("raise RuntimeError from None", None),
    ],
)
def test_causes_cross_and_suppressed_context_does_not(handler, cause):
    source = f"try: raise DeviceLostError\nexcept DeviceLostError as error: {handler}"
    with pytest.raises(RuntimeError) as caught:
        exec(source, {"DeviceLostError": DeviceLostError})
    described = describe(caught.value)["cause"]
    assert (described and described["code"]) == cause


def test_chain_of_causes_ends():
    first, second = ValueError("1"), ValueError("2")
    first.__cause__, second.__cause__ = second, first
    assert len(json.dumps(describe(first))) < 100_000


def test_exception_that_cannot_be_printed_crosses():
    class BadError(Exception):
        def __str__(self):
            raise RuntimeError

    described = describe(BadError())
    assert described["message"] == "<BadError whose __str__ raises>"
    assert "BadError" in described["traceback"]
