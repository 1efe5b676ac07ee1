"""What the packaging tests stand on: the packed files, a fresh project, and the servers."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "node_modules/.bin"
EXAMPLE = ROOT / "examples/vite"
VERSION = json.loads((ROOT / "package.json").read_text("utf-8"))["version"]
CDN = re.compile(r"https://cdn\.jsdelivr\.net/pyodide/v[\d.]+/full/(.*)")


def must(*command, cwd):
    """Runs a command that must succeed, and gives what it printed."""
    command = [str(part) for part in command]
    ran = subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def unpack(archive, folder):
    """Unpacks one of the published archives; gives the one folder that is in it."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (inner,) = folder.iterdir()
    return inner


def new_project(folder, tarball):
    """The example, as somebody else's project: aiogpu comes by its name, out of the tarball.

    Nothing is downloaded: Vite is the repository's own, so the project itself does not list it.
    """
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    manifest = json.loads((folder / "package.json").read_text("utf-8"))
    assert set(manifest["dependencies"]) == {"aiogpu"}
    del manifest["devDependencies"]
    (folder / "package.json").write_text(json.dumps(manifest), "utf-8")
    must("npm", "install", "--offline", "--ignore-scripts", tarball, cwd=folder)
    return folder


@contextlib.contextmanager
def process(*command, cwd, ready):
    """Runs a server until the block ends; gives what ``ready`` finds in what it prints."""
    running = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
        start_new_session=True,
    )
    printed = ""
    try:
        for line in running.stdout:
            printed += line
            found = re.search(ready, line)
            if found:
                yield found[1]
                break
        else:
            raise AssertionError(f"{command} ended:\n{printed}")
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.stdout.close()
        running.wait()


def vite(project):
    """Vite's development server, with its defaults; gives the page's URL."""
    command = ("node", ROOT / "node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0")
    return process(*command, cwd=project, ready=r"Local: +(http://\S+)")


def python_server(folder):
    """What ``python -m http.server`` serves of a folder; gives its URL."""
    command = (sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1")
    return process(*command, cwd=folder, ready=r"\((http://[^)]+)/\)")


def offline(context):
    """Answers Pyodide's CDN from build/pyodide, and nothing else that is not on this machine."""

    def answer(route):
        asked = CDN.match(route.request.url)
        if asked is None:
            return route.abort()
        path = ROOT / "build/pyodide" / asked[1]
        return route.fulfill(path=path, headers={"access-control-allow-origin": "*"})

    context.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), answer)
