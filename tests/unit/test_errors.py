import re
from pathlib import Path

from aiogpu import errors

ROOT = Path(__file__).resolve().parents[2]


def tree(root=errors.AioGpuError):
    return [root, *(each for child in root.__subclasses__() for each in tree(child))]


def test_codes_are_unique_and_their_own():
    classes = [each for each in tree() if each.__module__ == "aiogpu.errors"]
    codes = [each.code for each in classes]
    assert len(set(codes)) == len(codes)
    assert all("code" in vars(each) for each in classes)


def test_every_class_has_its_twin_in_javascript():
    text = (ROOT / "web/errors.js").read_text("utf-8")
    for each in tree():
        if each.__module__ == "aiogpu.errors":
            assert re.search(rf"class {each.__name__}\b", text), each.__name__
            assert f'"{each.code}"' in text, each.code


def test_builtin_parents():
    assert issubclass(errors.ShapeError, ValueError)
    assert issubclass(errors.AxisError, IndexError)
    assert issubclass(errors.DTypeError, TypeError)
    assert issubclass(errors.IntegerOverflowError, OverflowError)
    assert issubclass(errors.SyncAccessError, TypeError)
    assert issubclass(errors.OutOfMemoryError, MemoryError)
    assert not issubclass(errors.DeviceError, ValueError)
