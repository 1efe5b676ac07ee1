"""Check what a release would publish, and say how it would be: ``make release``. Publishes nothing.

Looks at the files in ``dist/``: that each holds what it should and nothing else; at the changelog,
which must date the version; and at the tree, which must be what git has. Before that `make release`
has compared the versions, by ``tools/check_versions.py``.
"""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def git(*arguments: str) -> list[str]:
    """The lines that a git command prints."""
    command = ["git", *arguments]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stdout.splitlines()


def sources() -> set[str]:
    """The package's files, from ``aiogpu/`` on: those that git has, not those that lie there."""
    return {name.removeprefix("py/") for name in git("ls-files", "py/aiogpu")}


def compared(what: str, found: Iterable[str], wanted: set[str]) -> list[str]:
    """A line for each file that is missing, and each that should not be there."""
    names = set(found)
    missing = [f"{what}: {name} is missing" for name in sorted(wanted - names)]
    return missing + [f"{what}: {name} does not belong there" for name in sorted(names - wanted)]


def check_wheel(path: Path, version: str) -> list[str]:
    """The sources, the licence and the metadata."""
    about = f"aiogpu-{version}.dist-info"
    extra = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")}
    with zipfile.ZipFile(path) as archive:
        return compared(path.name, archive.namelist(), sources() | extra)


def check_sdist(path: Path, version: str) -> list[str]:
    """The sources and what building a wheel of them needs."""
    extra = {"LICENSE", "README.md", "CHANGELOG.md", "package.json", "pyproject.toml", "PKG-INFO"}
    # hatchling adds the second: it builds what git does not ignore.
    wanted = {f"py/{name}" for name in sources()} | extra | {".gitignore"}
    with tarfile.open(path) as archive:
        names = [name.removeprefix(f"aiogpu-{version}/") for name in archive.getnames()]
    return compared(path.name, names, wanted)


def check_package(path: Path, version: str) -> list[str]:
    """The client in both forms, the worker, the wheel, the types; no dependency."""
    files = {"LICENSE", "README.md", "package.json"}
    built = {"aiogpu.js", "aiogpu.iife.js", "worker.js", f"aiogpu-{version}-py3-none-any.whl"}
    types = {source.stem for source in (ROOT / "web").glob("*.js")} - {"iife", "places_packed"}
    # Those that only the worker imports have no declarations of their own.
    types = types - {"downloads", "wheel"} | {"using"}
    files |= {f"dist/{name}" for name in built} | {f"dist/types/{name}.d.ts" for name in types}
    with tarfile.open(path) as archive:
        names = [name.removeprefix("package/") for name in archive.getnames()]
        found = compared(path.name, names, files)
        member = archive.extractfile("package/package.json")
        manifest = json.loads(member.read()) if member else {}
    if manifest.get("dependencies"):
        found.append(f"{path.name}: has dependencies")
    return found


def check_changelog(text: str, version: str) -> list[str]:
    """The newest entry is that of the version, dated, and not empty."""
    first = re.search(r"^## (.*)\n+(.*)", text, re.MULTILINE)
    if first is None or not first[1].startswith(f"{version} ("):
        return [f"CHANGELOG.md: its first entry is not that of {version}"]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first[1]):
        return [f"CHANGELOG.md: {first[1]}: has no date"]
    return [] if first[2].startswith("- ") else [f"CHANGELOG.md: {first[1]}: says nothing"]


def check_tree(changed: list[str]) -> list[str]:
    """What is published is what is committed."""
    return [f"git: {line.strip()}: not committed" for line in changed]


def problems(version: str) -> list[str]:
    """Everything that speaks against publishing, one line each."""
    checks = {
        DIST / f"aiogpu-{version}-py3-none-any.whl": check_wheel,
        DIST / f"aiogpu-{version}.tar.gz": check_sdist,
        DIST / f"aiogpu-{version}.tgz": check_package,
    }
    found = check_changelog((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    for path, check in checks.items():
        found += check(path, version) if path.is_file() else [f"{path.name}: was not built"]
    return found + check_tree(git("status", "--porcelain"))


def main() -> None:
    """Print what is wrong, exit status 1; else what would publish."""
    version = json.loads((ROOT / "package.json").read_text("utf-8"))["version"]
    found = problems(version)
    if found:
        sys.exit("\n".join([*found, f"{version} must not be published like this."]))
    print(f"{version} can be published. Nothing was; these would do it:")
    print(f"  git tag v{version} && git push origin v{version}")
    print(f"  twine upload dist/aiogpu-{version}-py3-none-any.whl dist/aiogpu-{version}.tar.gz")
    print(f"  npm publish dist/aiogpu-{version}.tgz")


if __name__ == "__main__":
    main()
