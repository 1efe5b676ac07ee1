"""The kernels of examples/kernels, and what they must give."""

import importlib.util
from pathlib import Path

from gallery import cases

__all__ = ["EXAMPLES", "FOLDER", "cases", "example"]

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "kernels"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def example(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
