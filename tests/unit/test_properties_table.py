"""Every public function has a row in tests/properties, or is tested by name elsewhere.

On CPython the calls that are drawn only make nodes: their shapes and dtypes are compared here,
their values in the browser (tests/browser/test_namespace.py).
"""

from pathlib import Path

import drive
import numpy as np
import pytest
from rows import TABLE, names

import aiogpu as gpu

TESTS = Path(__file__).resolve().parents[1]

# What NumPy has nothing to compare with: the file that tests it, and what stands there.
ELSEWHERE = {
    **{name: ("browser/test_kernels.py", f"gpu.{name}") for name in (
        "elementwise", "func", "kernel", "reduce_kernel",
    )},
    **{name: ("browser/test_environment.py", f"gpu.{name}") for name in (
        "environment", "is_available", "report", "request_adapter",
    )},
    **{name: ("browser/test_ordering.py", f"gpu.{name}") for name in ("read", "synchronize")},
    **{name: ("browser/test_functions_fast.py", f"gpu.{name}") for name in (
        "explain", "fast_math",
    )},
    **{name: ("page/test_bridge_arrays.py", name) for name in ("expose", "progress", "track")},
    **{f"Array.{name}": ("browser/test_creation.py", f".{name}()") for name in (
        "data", "numpy", "tolist",
    )},
    **{f"Array.__{name}__": ("browser/test_errors.py", f"{name}(") for name in (
        "bool", "float", "int",
    )},
    **{f"Array.__array_{name}__": ("browser/test_numpy_protocol.py", text) for name, text in (
        ("ufunc", "np.sin(x)"), ("function", "np.concatenate("),
    )},
    **{f"Array.__dlpack{name}__": ("unit/test_array.py", f"__dlpack{name}__") for name in (
        "", "_device",
    )},
    "Array.__complex__": ("unit/test_array.py", "complex"),
    "Array.__array__": ("browser/test_errors.py", "np.asarray("),
    "Array.__array_namespace__": ("unit/test_array.py", "__array_namespace__"),
    "Array.__format__": ("unit/test_first_minutes.py", "{total:.2f}"),
    "Array.__index__": ("browser/test_errors.py", "index"),
    "Array.evaluate": ("browser/test_async.py", ".evaluate()"),
    "Array.item": ("browser/test_async.py", ".item()"),
    "__array_namespace_info__": (
        "browser/test_functions_rearranging.py", "__array_namespace_info__",
    ),
    "canvas": ("page/test_demo.py", "canvas"),
    "close": ("browser/test_device_loss.py", "gpu.close"),
    "memory": ("browser/test_device_loss.py", "gpu.memory"),
    "compile": ("browser/test_compile.py", "gpu.compile"),
    "counters": ("browser/test_fusion.py", "gpu.counters"),
    "display": ("unit/test_showing.py", "gpu.display("),
    "eager": ("browser/test_variants.py", "gpu.eager"),
    "open_device": ("browser/test_async.py", "gpu.open_device"),
    "pace": ("unit/test_device.py", "gpu.pace"),
    "sync_reads": ("browser/test_errors.py", "gpu.sync_reads"),
    "wgsl": ("browser/test_wgsl.py", "gpu.wgsl"),
}  # fmt: skip
OF_EVERY_CLASS = {"__init__", "__del__", "__repr__", "__getattr__"}


def functions(module, prefix=""):
    """The public functions of a module."""
    listed = {name: getattr(module, name) for name in module.__all__}
    return {
        prefix + name
        for name, each in listed.items()
        if callable(each) and not isinstance(each, type)
    }


def methods(owner, prefix):
    """The public methods and properties of a class, and its operators."""
    parts = [part for part in owner.__mro__ if part is not object]
    found = {name: each for part in parts for name, each in vars(part).items()}
    return {
        prefix + name
        for name, each in found.items()
        if name[0] != "_" or (name.startswith("__") and callable(each))
        if name not in OF_EVERY_CLASS
    }


def public():
    return (
        functions(gpu)
        | functions(gpu.linalg, "linalg.")
        | functions(gpu.fft, "fft.")
        | functions(gpu.nn, "nn.")
        | {"random.default_rng"}
        | methods(gpu.Array, "Array.")
        | methods(gpu.random.Generator, "Generator.")
    )


def test_every_public_function_has_a_row_or_is_tested_elsewhere():
    assert public() - names() - ELSEWHERE.keys() == set()
    assert ELSEWHERE.keys() - public() == set()
    assert ELSEWHERE.keys() & names() == set()
    assert len(names()) > 250


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_tested_elsewhere_is_there(name):
    file, text = ELSEWHERE[name]
    assert text in (TESTS / file).read_text("utf-8")


@pytest.mark.parametrize("name", TABLE)
def test_shapes_and_dtypes_are_those_of_the_reference(name):
    row = TABLE[name]
    for call in drive.drawn(row, 3, 0):
        trial = drive.Trial(row, call)
        assert not trial.said, drive.shown(call)
        for array, wanted in zip(trial.arrays, trial.wanted, strict=False):
            value = wanted if isinstance(wanted, np.ndarray) else getattr(wanted, "value", None)
            if value is None or not isinstance(array, gpu.Array) or None in array.shape:
                continue
            dtype = getattr(wanted, "dtype", None) or np.asarray(value).dtype
            assert (array.shape, array.dtype.name) == (np.shape(value), np.dtype(dtype).name)
