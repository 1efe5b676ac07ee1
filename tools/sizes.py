"""Print how large the published files are, as they lie and by gzip: ``make dist``."""

import gzip
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ("*.tgz", "*.whl", "*.tar.gz", "aiogpu.js", "aiogpu.iife.js", "worker.js")


def sizes(folder: Path) -> list[tuple[str, int, int]]:
    """Name, bytes, and bytes when compressed by gzip, of what is published."""
    files = [path for pattern in PATTERNS for path in sorted(folder.glob(pattern))]
    return [
        (path.name, path.stat().st_size, len(gzip.compress(path.read_bytes()))) for path in files
    ]


def main() -> None:
    """Print a table."""
    print(f"{'bytes':>40} {'gzip':>9}")
    for name, nbytes, packed in sizes(ROOT / "dist"):
        print(f"{name:<30} {nbytes:>9,} {packed:>9,}")


if __name__ == "__main__":
    main()
