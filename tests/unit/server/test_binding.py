import ast
import dis

import pytest

from aiogpu.server.binding import bound_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = y", "x"),
        ("x, [y, *z] = a.b = c[d] = e", "x y z"),
        ("x += 1", "x"),
        ("x: int = 1", "x"),
        ("del x", "x"),
        ("for i, j in k: l = 1\nelse: m = 1", "i j l m"),
        ("while a: b = 1", "b"),
        ("if False: x = 1", "x"),
        ("with a as b, c as (d, e): f = 1", "b d e f"),
        ("async with a as b: pass", "b"),
        ("async for a in b: await c", "a"),
        ("import a.b.c, d as e\nfrom f import g, h as i", "a e g i"),
        ("from a import *", ""),
        ("try: a = 1\nexcept E as b: c = 1\nfinally: d = 1", "a b c d"),
        ("match a:\n  case [b, *c] | {'k': b, **c}: pass\n  case D(e=f) as g: h = 1", "b c f g h"),
        ("def f(a, b=(c := 1), *, d=(e := 2)) -> g:\n  h = 1", "f c e"),
        ("async def f(): a = 1", "f"),
        ("@(a := b)\nclass C((d := e), metaclass=(f := g)):\n  h = 1", "a C d f"),
        ("lambda a=(b := 1): (c := 2)", "b"),
        ("[a for b in c if (d := e)]", "d"),
        ("{a: b for a, b in c}, {a for a in b}, (a for a in (b := c))", "b"),
        ("print(a := b)", "a"),
    ],
)
def test_what_is_bound_at_top_level(source, names):
    assert bound_names(ast.parse(source)) == set(names.split())


def test_it_agrees_with_the_compiler():
    source = """
import a.b
from c import d as e
f, *g = [h for i in j], lambda k: (l := k)
class M(N):
    o = 1
def p(q): r = 1
for s in t:
    u: int = s
"""
    instructions = dis.get_instructions(compile(source, "", "exec"))
    stored = {item.argval for item in instructions if item.opname == "STORE_NAME"}
    assert bound_names(ast.parse(source)) == stored - {"__annotations__"}
