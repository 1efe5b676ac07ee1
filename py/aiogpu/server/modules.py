"""Python files that a page brings along, made importable."""

import importlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from aiogpu.errors import UsageError


def install(sources: Mapping[str, str]) -> None:
    """Writes the files where `import` finds them, and imports each.

    They are real files, so that tracebacks and `inspect.getsource` show their lines. All are
    written before the first is imported: they may import one another.

    Args:
        sources: Text of a file, by module name; ``a.b`` is the module ``b`` of the package ``a``.

    Raises:
        UsageError: A name is no module name.
        Exception: Whatever a module raises when it is imported.
    """
    if not sources:
        return
    folder = Path(tempfile.mkdtemp(prefix="aiogpu-modules-"))
    for name, text in sources.items():
        if not all(part.isidentifier() for part in name.split(".")):
            raise UsageError(f"modules: {name!r}: not a module name")
        is_package = any(other.startswith(f"{name}.") for other in sources)
        path = (
            folder.joinpath(*name.split("."), "__init__.py")
            if is_package
            else folder / f"{name.replace('.', '/')}.py"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # First on the path: a page that brings a module means that one, whatever else has its name.
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    for name in sources:
        importlib.import_module(name)
