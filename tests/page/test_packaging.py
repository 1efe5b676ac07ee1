"""What is published, used as its users use it: in bundlers, by import map, script tag and index."""

import io
import json
import re
import shutil

import numpy as np
import packed
import pytest
from packed import ROOT, VERSION, must
from PIL import Image

import serve

PYODIDE = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]["pyodide"]
INDEX_URL = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
WHEEL = f"aiogpu-{VERSION}-py3-none-any.whl"
DRAWN = "document.body.dataset.state !== 'starting'"

# A page that says on itself what Python has computed.
COMPUTES = """
const gpu = await aiogpu.connect();
const total = await gpu.run("import aiogpu as gpu\\nawait gpu.arange(1000).sum().item()");
document.title = String(total);
await gpu.close();
"""
ESM = """<!doctype html><title>starting</title>
<script type="importmap">{ "imports": { "aiogpu": "./package/dist/aiogpu.js" } }</script>
<script type="module">import * as aiogpu from "aiogpu"; %s</script>"""
CLASSIC = """<!doctype html><title>starting</title>
<script src="package/dist/aiogpu.iife.js"></script>
<script type="module">%s</script>"""

# A browser of 2019, as far as a script can tell: what came later is taken away.
OLD = """<!doctype html><script>
  const later = ["BigInt", "BigInt64Array", "BigUint64Array", "FinalizationRegistry", "WeakRef",
    "SharedArrayBuffer", "Atomics", "AbortSignal", "OffscreenCanvas", "structuredClone"];
  for (const name of later) delete window[name];
  for (const name of ["gpu", "locks"]) delete Navigator.prototype[name];
  for (const name of ["dispose", "asyncDispose"]) delete Symbol[name];
</script>
<script src="package/dist/aiogpu.iife.js"></script>
<script>
  aiogpu.connect().catch(({ name, message }) => document.write(`<p>${name}: ${message}</p>`));
</script>"""

# Python on the page's own thread: what a notebook does, with no worker of ours.
INSTALL = """async ([indexURL, origin, wheel]) => {
    const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
    const pyodide = await loadPyodide({ indexURL });
    await pyodide.loadPackage("micropip");
    const source = `
import micropip
await micropip.install("${origin}/simple/aiogpu/${wheel}")
found = [micropip.list()["aiogpu"].version]
micropip.uninstall("aiogpu")
await micropip.install("aiogpu", index_urls="${origin}/simple")
found.append(micropip.list()["aiogpu"].version)
import aiogpu as gpu
[*found, await gpu.arange(1000).sum().item()]`;
    return (await pyodide.runPythonAsync(source)).toJs();
}"""

# What bundlers make of files when they are told to inline everything.
INLINED = """async () => {
    const { connect } = await import("./package/dist/aiogpu.js");
    const inlined = async (path, type) => {
        const bytes = await (await fetch(path)).bytes();
        return `data:${type};base64,${bytes.toBase64()}`;
    };
    const gpu = await connect({
        workerURL: await inlined("package/dist/worker.js", "text/javascript"),
        wheelURL: await inlined("package/dist/%s", "application/octet-stream"),
    });
    return gpu.run("import aiogpu as gpu\\nawait gpu.arange(1000).sum().item()");
}"""


@pytest.fixture(scope="module")
def dist(built):
    """The folder of what is published, made by ``make dist``."""
    printed = must("make", "--silent", "dist", cwd=ROOT)
    for name in ("tgz", "whl", "tar.gz", "aiogpu.js", "aiogpu.iife.js", "worker.js"):
        # Names, bytes and bytes by gzip.
        assert re.search(rf"{re.escape(name)} +[\d,]{{6,}} +[\d,]{{6,}}$", printed, re.MULTILINE)
    return ROOT / "dist"


@pytest.fixture(scope="module")
def tarball(dist):
    return dist / f"aiogpu-{VERSION}.tgz"


@pytest.fixture(scope="module")
def unpacked(tarball, tmp_path_factory):
    """A folder with the unpacked tarball in ``package``."""
    folder = tmp_path_factory.mktemp("unpacked")
    packed.unpack(tarball, folder)
    return folder


@pytest.fixture(scope="module")
def project(tarball, tmp_path_factory):
    """A Vite project that has installed the tarball."""
    return packed.new_project(tmp_path_factory.mktemp("vite") / "project", tarball)


@pytest.fixture
def visitor(browser):
    """A page of somebody who wants no movement: the example draws one picture then, and stays."""
    with browser.new_context(reduced_motion="reduce", viewport={"width": 640, "height": 400}) as it:
        packed.offline(it)
        page = it.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: print(f"console.{message.type}: {message.text}"))
        yield page


def share_that_stays(c, width, height, turns=160):
    """The example's figure, by NumPy."""
    scale = 2.6 / min(height, width * 0.75)
    row, col = np.indices((height, width))
    z = ((col + 0.5 - width / 2) + 1j * (height / 2 - row - 0.5)) * scale
    with np.errstate(all="ignore"):
        for _ in range(turns):
            z = np.where(abs(z) < 8, z * z + c, z)
    return (abs(z) < 8).mean()


def check_example(page, url):
    """The example at a URL has computed what NumPy computes, and shows it."""
    asked = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.wait_for_function(DRAWN)
    assert page.get_attribute("body", "data-state") == "running", page.inner_text("#stage")
    shown = float(page.inner_text("#inside").removesuffix(" %")) / 100
    c = -0.4 + 0.6j
    assert page.inner_text("#c") == "\N{MINUS SIGN}0.400 + 0.600 i"
    # Points at the border may go either way: float32 here, float64 there.
    assert abs(shown - share_that_stays(c, 320, 200)) < 0.004
    page.wait_for_timeout(1200)  # the canvas fades in
    pixels = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    assert len(pixels.crop((0, 0, 640, 200)).getcolors(1 << 18)) > 500
    return [url for url in asked if not packed.CDN.match(url)]


def test_vite_serves_it_by_its_name_and_without_settings(project, visitor):
    assert not list(project.glob("vite.config.*"))
    with packed.vite(project) as url:
        asked = check_example(visitor, url)
    # The client was bundled anew by Vite, so it was not beside the worker any more.
    assert any("/.vite/deps/aiogpu.js" in url for url in asked)
    assert any(url.endswith("/node_modules/aiogpu/dist/worker.js") for url in asked)


def test_vite_builds_a_folder_that_any_server_serves(project, visitor):
    printed = must("node", ROOT / "node_modules/vite/bin/vite.js", "build", cwd=project)
    assert "warn" not in printed.lower(), printed
    with serve.serving(project / "dist") as server:
        asked = check_example(visitor, server.url)
    # All of it comes from that folder, under the names that Vite gave.
    assert all(url.startswith((server.url, "data:", "blob:")) for url in asked), asked
    names = [url.rpartition("/assets/")[2] for url in asked]
    assert any(re.fullmatch(r"worker-[\w-]+\.js", name) for name in names), names
    assert any(re.fullmatch(r"aiogpu-[\d.]+-py3-none-any-[\w-]+\.whl", name) for name in names)


@pytest.mark.parametrize("text", [ESM, CLASSIC], ids=["import map", "script tag"])
def test_unpacked_package_works_from_a_plain_server(unpacked, visitor, text):
    (unpacked / "page.html").write_text(text % COMPUTES, "utf-8")
    with packed.python_server(unpacked) as url:
        visitor.goto(f"{url}/page.html")
        visitor.wait_for_function("document.title !== 'starting'")
    assert visitor.title() == "499500"


def test_page_opened_as_a_file_is_told_to_be_served(unpacked, visitor):
    block = '<script type="text/aiogpu">1</script>'
    head = '<script src="package/dist/aiogpu.iife.js"></script>'
    (unpacked / "file.html").write_text(f"<!doctype html>{head}{block}", "utf-8")
    visitor.goto((unpacked / "file.html").as_uri())
    visitor.wait_for_selector("[role=alert]")
    assert "opened from a file" in visitor.inner_text("[role=alert]")


def test_old_browser_is_told_that_it_has_no_webgpu(unpacked, visitor):
    path = unpacked / "package/dist/aiogpu.iife.js"
    # The syntax is of 2018.
    parse = "require('acorn').parse(require('fs').readFileSync(process.argv[1], 'utf8'), %s)"
    must("node", "-e", parse % "{ ecmaVersion: 2018 }", path, cwd=ROOT)
    (unpacked / "old.html").write_text(OLD, "utf-8")
    with serve.serving(unpacked) as server:
        visitor.goto(f"{server.url}/old.html")
        visitor.wait_for_selector("p")
    name, message = visitor.inner_text("p").split(": ", 1)
    assert name == "NoWebGPUError"
    assert "this browser has no WebGPU" in message


def test_worker_and_wheel_may_be_inlined(unpacked, visitor):
    with packed.python_server(unpacked) as url:
        visitor.goto(f"{url}/")
        assert visitor.evaluate(INLINED % WHEEL) == 499500


def test_micropip_installs_the_wheel_from_a_url_and_from_an_index(dist, unpacked, visitor):
    # A folder that a server lists is an index, as good as any.
    (unpacked / "simple/aiogpu").mkdir(parents=True)
    shutil.copy(dist / WHEEL, unpacked / "simple/aiogpu")
    with packed.python_server(unpacked) as url:
        visitor.goto(f"{url}/")
        assert visitor.evaluate(INSTALL, [INDEX_URL, url, WHEEL]) == [VERSION, VERSION, 499500]
