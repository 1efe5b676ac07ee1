"""A user's program that uses the API passes mypy strict, and one that misuses it does not."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WRONG = """\
import aiogpu as gpu

x = gpu.ones((2, 3))
gpu.exp([1.0])
gpu.sum(x, 0)
gpu.random.default_rng("seed")
x.shape.append(4)
y: int = x.sum()
"""


def mypy(path, cache):
    """What mypy says of a file that sees the package as installed: lines without the path."""
    configuration = cache / "mypy.ini"
    configuration.write_text(f"[mypy]\nmypy_path = {ROOT / 'py'}:{ROOT / 'py/stubs'}\n", "utf-8")
    made = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--config-file", str(configuration),
            "--cache-dir", str(ROOT / ".mypy_cache/user"), "--no-error-summary",
            "--follow-imports=silent", str(path),
        ],
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert not made.stderr
    return made.stdout.splitlines()


def test_a_program_is_typed_and_misuse_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, "utf-8")
    assert mypy(ROOT / "tests/typing/user.py", tmp_path) == []
    found = [line.partition(":")[2].partition(":")[0] for line in mypy(wrong, tmp_path)]
    assert sorted(set(found)) == ["4", "5", "6", "7", "8"]


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "py/aiogpu/py.typed").exists()
