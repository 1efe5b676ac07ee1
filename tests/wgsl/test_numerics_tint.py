"""Every function of the numerics library compiles in Tint, alone and with all others."""

import re

from aiogpu.graph import table
from aiogpu.kernels.numerics import FUNCTIONS, sources

MAIN = "@compute @workgroup_size(1) fn main() {}\n"


def test_each_function_compiles_with_what_it_needs(validate):
    shaders = {name: sources([name]) + MAIN for name in FUNCTIONS}
    assert validate(shaders) == {}


def test_all_functions_compile_together(validate):
    assert validate({"all": sources(FUNCTIONS) + MAIN}) == {}


def test_every_complex_template_of_the_op_table_compiles(validate):
    results = {"bool": "bool", "component": "f32"}
    shaders = {}
    for op in table.TABLE.values():
        text = op.wgsl.get("vec2f") or op.wgsl.get("*")
        if op.family != "elementwise" or "c" not in op.kinds or op.arity > 2:
            continue
        assert text, op.name
        call = text.format("a", "b")
        result = results.get(op.rule, "vec2f")
        shaders[op.name] = (
            sources(re.findall(r"ag_\w+", call))
            + f"fn apply(a: vec2f, b: vec2f) -> {result} {{ return {call}; }}\n{MAIN}"
        )
    assert len(shaders) > 35
    assert validate(shaders) == {}


def test_the_validator_refuses_what_is_wrong(validate):
    wrong = {
        "missing": "fn f() -> f32 { return ag_exp(1.0); }",
        "type": "fn f() -> f32 { return 1u; }",
        "layout": "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
        "@compute @workgroup_size(100000) fn main() { a[0] = 1u; }",
    }
    messages = validate({**wrong, "right": MAIN})
    assert messages.keys() == wrong.keys()
    assert "1:24: unresolved call target 'ag_exp'" in messages["missing"][0]


def test_the_validator_checks_two_thousand_shaders(validate):
    shaders = {
        str(number): sources(["ag_tanh"]) + MAIN + f"// {number}\n" for number in range(2000)
    }
    assert validate(shaders) == {}
