import json

import pytest

from aiogpu.errors import DeviceLostError, ShapeError
from aiogpu.server import source
from aiogpu.server.failure import describe


def test_class_code_and_message_cross():
    described = describe(ShapeError("matmul: (2, 3) and (2, 3): inner sizes differ"))
    assert described["code"] == "shape"
    assert described["name"] == "ShapeError"
    assert described["message"] == "matmul: (2, 3) and (2, 3): inner sizes differ"
    assert described["cause"] is None


def test_users_own_exception_is_remote():
    assert describe(KeyError("k"))["code"] == "remote"


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
