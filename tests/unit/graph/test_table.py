import re

import pytest

import aiogpu as gpu
from aiogpu import dtypes
from aiogpu.graph import table
from aiogpu.kernels.numerics import FUNCTIONS

ELEMENTWISE = [op for op in table.TABLE.values() if op.family == "elementwise" and op.wgsl]


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_a_row_has_text_for_every_dtype_that_it_takes(op):
    computed = {"float": {"float32"}, "logical": {"bool"}}
    for dtype in dtypes.ALL:
        if dtype.kind[0] in op.kinds and dtype.name in computed.get(op.rule, {dtype.name}):
            assert op.wgsl.get(dtype.compute) or op.wgsl.get("*"), dtype


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_a_rows_text_uses_its_operands_and_known_functions(op):
    for text in op.wgsl.values():
        places = set(re.findall(r"\{(\d)\}", text))
        assert places <= set("01234"[: op.arity])
        assert places or text in {"true", "false"}
        assert set(re.findall(r"\bag_\w+", text)) <= set(FUNCTIONS)


def test_names_are_keys():
    assert all(op.name == name for name, op in table.TABLE.items())


def test_public_functions_are_rows():
    rows = {op.name for op in ELEMENTWISE}
    from aiogpu.ops import elementwise

    public = {
        name
        for name, value in vars(elementwise).items()
        if callable(value) and getattr(value, "__module__", "") == elementwise.__name__
        and not name.startswith("_")
    }  # fmt: skip
    assert public - {"clip"} <= rows
    assert all(hasattr(gpu, name) for name in public)
