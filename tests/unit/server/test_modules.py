import inspect
import sys

import pytest

from aiogpu.errors import UsageError
from aiogpu.server import modules


@pytest.fixture(autouse=True)
def clean_imports():
    path, names = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - names:
        del sys.modules[name]


def test_modules_import_one_another_in_any_order():
    modules.install({"brought_a": "import brought_b\nx = brought_b.y", "brought_b": "y = 3"})
    assert sys.modules["brought_a"].x == 3


def test_packages_hold_modules():
    modules.install({"pack.sub.deep": "x = 1", "pack": "from pack.sub.deep import x"})
    assert sys.modules["pack"].x == 1


def test_source_is_found():
    modules.install({"brought_c": "def f():\n    return 1\n"})
    assert inspect.getsource(sys.modules["brought_c"].f) == "def f():\n    return 1\n"


def test_error_of_a_module_passes():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        modules.install({"brought_d": "import no_such_module"})


@pytest.mark.parametrize("name", ["", "a-b", "../x", "a..b", "/etc/x", "a.b.py "])
def test_what_is_no_module_name_is_refused(name):
    with pytest.raises(UsageError, match="not a module name"):
        modules.install({name: ""})
