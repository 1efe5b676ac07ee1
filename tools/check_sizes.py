"""Fail when a source file has grown past what one person reads in one sitting.

Python and its tests: 600 lines; JavaScript: 300. Above two thirds of that, split before it is due.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {".py": 600, ".pyi": 600, ".js": 300, ".mjs": 300}


def source_files() -> list[Path]:
    """Files of the tree, without those that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [Path(name) for name in listed.stdout.split("\0") if Path(name).suffix in LIMITS]


def main() -> None:
    """Print each file that is too long; exit status 1 when there is one."""
    too_long = False
    for path in source_files():
        whole = ROOT / path
        if not whole.is_file():  # deleted, and not yet committed
            continue
        nlines = len(whole.read_text("utf-8").splitlines())
        limit = LIMITS[path.suffix]
        if nlines > limit:
            too_long = True
            print(f"{path}: {nlines} lines; at most {limit}")
    sys.exit(too_long)


if __name__ == "__main__":
    main()
