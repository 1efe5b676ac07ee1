import sys
from types import ModuleType

import pytest

from aiogpu.errors import UsageError
from aiogpu.server.dispatch import find, perform
from aiogpu.server.incoming import Incoming
from aiogpu.server.protocol import Call, Run


@pytest.fixture
def module(monkeypatch):
    made = ModuleType("brought")
    monkeypatch.setitem(sys.modules, "brought", made)
    return made


async def test_call_passes_positions_and_names(module):
    module.f = lambda *args, **kwargs: [args, kwargs]
    value = await perform(
        Call(1, "brought:f", [1, None], {"k": [2]}, "value"), Incoming([], to_numpy=False), {}
    )
    assert value == [(1, None), {"k": [2]}]


async def test_call_awaits_a_coroutine_function(module):
    async def f():
        return 5

    module.f = f
    assert (
        await perform(Call(1, "brought:f", [], {}, "value"), Incoming([], to_numpy=False), {}) == 5
    )


async def test_call_finds_methods_and_the_clients_own_functions(module):
    module.text = "abc"
    assert find("brought:text.upper", {})() == "ABC"
    assert find("__main__:f", {"f": len}) is len


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("brought:g", "call: brought:g: brought has no 'g'"),
        ("brought:text.no", "str has no 'no'"),
        ("brought:text", "str: not callable"),
        ("__main__:f", "__main__ has no 'f'"),
    ],
)
def test_unknown_function_is_named(module, target, says):
    module.text = "abc"
    with pytest.raises(UsageError) as caught:
        find(target, {})
    assert says in str(caught.value)


def test_unknown_module_is_an_import_error():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        find("no_such_module:f", {})


async def test_local_that_is_no_name_is_refused():
    with pytest.raises(UsageError, match=r"locals: 'a b': not a Python name"):
        await perform(Run(1, "1", "run", {"a b": 1}, "value"), Incoming([], to_numpy=False), {})


async def test_arrays_reach_the_source():
    array = {"$": "array", "dtype": "int32", "shape": [2], "buffer": 0, "offset": 0}
    request = Run(1, "[a.tolist(), rest]", "run", {"a": array, "rest": [array]}, "value")
    data = bytearray((1).to_bytes(4, "little") + (2).to_bytes(4, "little"))
    value = await perform(request, Incoming([data], to_numpy=False), {})
    assert value[0] == [1, 2]
    assert value[1][0].tolist() == [1, 2]
