import inspect
import linecache
import traceback

import pytest

from aiogpu.server import source


@pytest.fixture
def namespace():
    return {"__name__": "__main__"}


async def run(text, namespace, **own):
    return await source.evaluate(text, source.register(text, "run"), namespace, own)


@pytest.mark.parametrize("own", [{}, {"k": 2}])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 1", 2),
        ("x = 1", None),
        ("", None),
        ("# nothing", None),
        ("'text'", "text"),
        ("x = 3\nx", 3),
        ("import asyncio\nawait asyncio.sleep(0, 'slept')", "slept"),
        ("async def f(): return 4\nawait f()", 4),
        ("[await f() for f in [g]]", ["g"]),
        ("def f():\n    return x\nx = 5\nf()", 5),
        ("from __future__ import annotations\ndef f(a: no_such_name): pass\n6", 6),
        ("x: int = 7\ny: int\nif True:\n    z: int = x\nz", 7),
        ("[q for q in range(3)] + [(w := 4)]\nw", 4),
        ("class A:\n    b: int = 1\n[A.b, A.__qualname__]", [1, "A"]),
        ("for i in range(3): pass\ni", 2),
        ("match [1, 2]:\n    case [a, b]: pass\na + b", 3),
    ],
)
async def test_last_expression_is_the_value(namespace, text, value, own):
    async def g():
        return "g"

    namespace["g"] = g
    assert await run(text, namespace, **own) == value


@pytest.mark.parametrize("own", [{}, {"k": 2}])
async def test_names_stay_for_later_runs(namespace, own):
    await run("import math\nx = 1\ndef f():\n    global y\n    y = x\nf()", namespace, **own)
    assert await run("x + y + math.floor(0.5)", namespace) == 2


async def test_own_names_are_seen_everywhere_and_leave_nothing(namespace):
    text = """
scaled = [q * k for q in range(3)]
total = sum(q * k for q in range(3))
def late():
    return k
class Holder:
    value = k
k += 1
[scaled, total, late(), Holder.value, k]
"""
    assert await run(text, namespace, k=2) == [[0, 2, 4], 6, 3, 2, 3]
    assert "k" not in namespace
    with pytest.raises(NameError):
        await run("k", namespace)
    assert await run("late()", namespace) == 3


async def test_own_names_shadow_without_change(namespace):
    namespace["k"] = "global"
    assert await run("k = k + 1\nk", namespace, k=1) == 2
    assert namespace["k"] == "global"


@pytest.mark.parametrize("own", [{}, {"k": 2}])
@pytest.mark.parametrize("text", ["1 +", "return 1", "yield 1", "def f(:", "break"])
async def test_syntax_error_names_file_and_line(namespace, text, own):
    with pytest.raises(SyntaxError) as caught:
        await run(f"\n{text}", namespace, **own)
    assert caught.value.filename.startswith("<run ")
    assert caught.value.lineno == 2


@pytest.mark.parametrize("own", [{}, {"k": 2}])
async def test_traceback_shows_the_line(namespace, own):
    with pytest.raises(ZeroDivisionError) as caught:
        await run("x = 0\n1 / x  # here", namespace, **own)
    assert "1 / x  # here" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("own", [{}, {"k": 2}])
async def test_source_of_a_function_stays_its_own(namespace, own):
    await run("def first():\n    return 1", namespace, **own)
    await run("\n\ndef second():\n    return 2", namespace, **own)
    assert inspect.getsource(namespace["first"]) == "def first():\n    return 1"
    assert inspect.getsource(namespace["second"]) == "def second():\n    return 2"


def test_sources_do_not_pile_up():
    names = [source.register("1", "many") for _ in range(1000)]
    assert len(set(names)) == 1000
    assert names[-1] in linecache.cache
    assert len([name for name in names if name in linecache.cache]) == 500
