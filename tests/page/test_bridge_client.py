"""What a page says to a client besides values: packages, signals, disposal, and concurrent runs."""

import zipfile

import pytest
from bridge import OPTIONS, OUTCOME, connect, prepare, run

WHEEL = "small-1.2-py3-none-any.whl"
FILES = {
    "small/__init__.py": "def twice(x):\n    return 2 * x\n",
    "small-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: small\nVersion: 1.2\n",
    "small-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "small-1.2.dist-info/RECORD": "".join(
        f"{name},,\n" for name in ("small/__init__.py", "small-1.2.dist-info/METADATA")
    ),
}


@pytest.fixture(scope="module")
def shared(browser, base_url):
    """One page with a client, without NumPy and without a way out of this machine."""
    with browser.new_context() as context:
        context.route(
            lambda url: url.startswith("http") and "127.0.0.1" not in url, lambda r: r.abort()
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        prepare(page, base_url)
        assert connect(page).get("value") == "connected"
        yield page


def test_wheel_of_the_pages_server_is_installed(shared, tmp_path):
    path = tmp_path / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    shared.context.route(f"**/wheels/{WHEEL}", lambda route: route.fulfill(path=path))
    assert run(shared, "import small")["code"] == "import"
    # Relative to the page, as any other of its URLs.
    assert shared.evaluate(f"gpu.install('../wheels/{WHEEL}')") is None
    assert shared.evaluate("gpu.call('small:twice', [21])") == 42
    assert shared.evaluate("gpu.pyimport('small').then((small) => small.twice(4))") == 8
    assert (
        run(shared, "import small, importlib.metadata as m\nm.version('small')")["value"] == "1.2"
    )


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("'no-such-package-of-pyodide'", "no-such-package-of-pyodide"),
        ("['no-such-package-of-pyodide']", "no-such-package-of-pyodide"),
        ("'/no/gone-1.0-py3-none-any.whl'", "/no/gone-1.0-py3-none-any.whl"),
    ],
)
def test_package_that_is_not_there_has_an_error_of_its_own(shared, wanted, says):
    error = shared.evaluate(f"outcome(gpu.install({wanted}))")
    assert (error["name"], error["code"]) == ("ImportFailedError", "import")
    assert error["operation"] == "install"
    assert error["message"].startswith("install: ")
    assert says in error["message"]
    assert "Traceback" in error["traceback"]
    assert run(shared, "1 + 1")["value"] == 2


def test_concurrent_runs_have_locals_of_their_own(shared):
    values = shared.evaluate(
        """() => Promise.all([1, 2, 3].map((k) => gpu.run(`
import asyncio
mine = k
await asyncio.sleep(0.02)
[k, (lambda: k)(), [k + i for i in range(2)]]`, { locals: { k } })))"""
    )
    assert values == [[k, k, [k, k + 1]] for k in (1, 2, 3)]
    assert run(shared, "k")["pythonName"] == "NameError"
    assert run(shared, "mine")["value"] in (1, 2, 3)


def test_signal_cancels_the_task_which_lets_go_of_what_it_held(shared):
    error, ended, before, after = shared.evaluate(
        """async () => {
            const { in_use: before } = await gpu.memory();
            const controller = new AbortController();
            const source = `
import aiogpu, asyncio
global ended
ended = "no"
async def work():
    global ended
    big = await aiogpu.ones((512, 512)).copy().evaluate()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        ended = "cancelled"
        raise
await work()`;
            setTimeout(() => controller.abort(new Error("enough")), 500);
            const error = await outcome(gpu.run(source, { signal: controller.signal }));
            const ended = await gpu.run("import gc; gc.collect(); ended");
            return [error, ended, before, (await gpu.memory()).in_use];
        }"""
    )
    assert error["message"] == "enough"
    assert error["seconds"] < 3
    assert ended == "cancelled"
    assert after <= before


def test_progress_is_an_event_of_the_client_too(shared):
    told = shared.evaluate(
        """async () => {
            const told = [];
            gpu.addEventListener("progress", ({ detail }) => told.push(detail));
            await gpu.run("import aiogpu\\naiogpu.progress(1, 2, 'half')");
            return told;
        }"""
    )
    assert told == [{"done": 1, "total": 2, "message": "half"}]


def test_array_buffer_is_given_away_when_asked_else_copied(shared):
    value = shared.evaluate(
        """async () => {
            const [given, kept] = [new Float32Array([1, 2, 3]), new Float32Array([4])];
            const locals = { given: given.subarray(1), kept };
            const source = "[type(given).__name__, given.tolist(), kept.tolist()]";
            const seen = await gpu.run(source, { locals, transfer: [given.buffer] });
            return [seen, given.length, kept.length];
        }"""
    )
    assert value == [["memoryview", [2, 3], [4]], 0, 1]


COUNT = """
from aiogpu.server import port
len(port._sessions[0]._handles)
"""


def test_using_disposes_an_array_and_await_using_closes_the_client(page, base_url):
    prepare(page, base_url)
    counts, gone, outcomes = page.evaluate(
        f"""async (count) => {{
            const extra = {{}};
            const counts = [];
            let left, disposed;
            {{
                await using gpu = await client.connect({OPTIONS});
                left = gpu;
                {{
                    using array = await gpu.run("import aiogpu\\naiogpu.ones(3)", {{
                        result: "handle",
                    }});
                    disposed = array;
                    counts.push(await array.sum().item(), await gpu.run(count));
                }}
                // What has been let go is told by a message of its own, after this turn.
                await gpu.run("1");
                counts.push(await gpu.run(count));
            }}
            const gone = await outcome((async () => disposed.data())());
            return [counts, gone, [await outcome(left.run("1")), await outcome(left.closed)]];
        }}""",
        COUNT,
    )
    # The sum, which nobody has disposed, may be collected at any time.
    assert counts[0] == 3
    assert counts[1] > counts[2]
    assert gone["code"] == "handle"
    assert outcomes[0]["name"] == "ClosedError"
    assert outcomes[1]["value"] is None


def test_float16_comes_as_its_bits_where_there_is_no_array_for_it(page, base_url):
    prepare(page, base_url, "delete globalThis.Float16Array;")
    assert connect(page).get("value") == "connected"
    value = run(page, "import aiogpu\naiogpu.asarray([1, -2], dtype='float16')")["value"]
    data = {"shape": [2], "dtype": "float16", "data": [0x3C00, 0xC000]}
    assert value == {"type": "Uint16Array", **data}


def test_page_opened_as_a_file_is_told_to_serve_it(page, built, tmp_path):
    root = built.parents[1]
    path = tmp_path / "page.html"
    bundle = (root / "dist/aiogpu.iife.js").as_uri()
    path.write_text(f"<!doctype html><script src={bundle!r}></script>", encoding="utf-8")
    page.add_init_script(OUTCOME)
    page.goto(path.as_uri())
    error = page.evaluate("outcome(aiogpu.connect())")
    assert (error["name"], error["code"]) == ("BootError", "boot")
    assert "serve its folder" in error["message"]
