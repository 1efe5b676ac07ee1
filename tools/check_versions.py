"""Fail when the versions differ: package.json's, the protocol's, the wheel's, the example's.

The source is package.json; the wheel reads it when it is built. JavaScript that runs unbundled from
static files cannot, so ``web/protocol.js`` repeats it, and the Pyodide that the tests run; and the
wheel's name is written out where the client looks for it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def constant(name: str, path: Path) -> str:
    """The string that a JavaScript module exports under a name; "absent" where it does not."""
    text = path.read_text("utf-8") if path.is_file() else ""
    found = re.search(rf'^export const {name} = "([^"]*)";$', text, re.MULTILINE)
    return found[1] if found else "absent"


def wheel_name(path: Path) -> str:
    """The version in the name of the wheel that a JavaScript module looks for."""
    found = re.search(r"/aiogpu-([^-]*)-py3-none-any\.whl", path.read_text("utf-8"))
    return found[1] if found else "absent"


def main() -> None:
    """Compare; exit status 1 when something differs."""
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    wheel = subprocess.run(
        [sys.executable, "-m", "hatchling", "version"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    protocol = ROOT / "web" / "protocol.js"
    example = json.loads((ROOT / "examples" / "vite" / "package.json").read_text("utf-8"))
    dependencies = {**example["dependencies"], **example["devDependencies"]}
    pairs = [
        ("the wheel's version", wheel.stdout.strip(), package["version"]),
        ("VERSION of web/protocol.js", constant("VERSION", protocol), package["version"]),
        (
            "PYODIDE_VERSION of web/protocol.js",
            constant("PYODIDE_VERSION", protocol),
            package["devDependencies"]["pyodide"],
        ),
        *(
            (f"the wheel of web/{name}", wheel_name(ROOT / "web" / name), package["version"])
            for name in ("places.js", "places_packed.js")
        ),
        ("aiogpu of examples/vite", dependencies["aiogpu"], package["version"]),
        ("vite of examples/vite", dependencies["vite"], package["devDependencies"]["vite"]),
    ]
    differing = [pair for pair in pairs if pair[1] != pair[2]]
    for what, found, wanted in differing:
        print(f"{what} is {found}; package.json says {wanted}")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
