"""Failures of the GPU and of memory: an error of its own class, soon, and the next call works."""

import pytest
from bridge import connect, prepare, run

MOST_SECONDS = 3.5


@pytest.fixture(scope="module")
def shared(browser, base_url):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        prepare(page, base_url)
        assert connect(page).get("value") == "connected"
        yield page


def test_unknown_function_has_a_class_of_its_own(shared):
    error = shared.evaluate("outcome(gpu.call('math:no_such'))")
    assert (error["name"], error["code"]) == ("UnknownFunctionError", "unknown-function")


@pytest.mark.parametrize(
    "call",
    [
        "gpu.call('no_such_module:f')",
        "gpu.pyimport('no_such_module')",
        "gpu.run('import no_such_module')",
        "gpu.run('from math import no_such_name')",
        "gpu.run('async def f():\\n  import no_such_module\\nawait f()')",
    ],
)
def test_what_is_not_there_to_import_has_a_class_of_its_own(shared, call):
    error = shared.evaluate(f"outcome({call})")
    assert (error["name"], error["code"]) == ("ImportFailedError", "import")
    assert error["pythonName"] in ("ModuleNotFoundError", "ImportError")
    assert "no_such" in error["message"]
    assert error["traceback"].startswith("Traceback (most recent call last):")
    assert error["operation"] is None
    assert run(shared, "1 + 1")["value"] == 2


KERNEL = """
import aiogpu as gpu
import aiogpu.lang as gl

@gpu.kernel(workgroup=4, bounds="debug")
def shifted(x: gl.In[gl.f32], out: gl.Out[gl.f32]):
    i = gl.global_id(1)
    out[i] = WRONG

shifted(gpu.ones(4))
"""


@pytest.mark.parametrize(
    ("line", "name", "says"),
    [
        ("x[i + 1]", "AxisError", "index 4 is out of range"),
        ("open(x)", "KernelError", "open: not in kernels"),
    ],
)
def test_error_of_a_kernel_has_its_line_as_fields(shared, line, name, says):
    error = shared.evaluate(
        "(source) => outcome(gpu.run(source, { filename: 'shift.py' }))",
        KERNEL.strip().replace("WRONG", line),
    )
    assert error["name"] == name, error
    assert says in error["message"]
    place = error["kernelLine"]
    assert place["text"] == f"out[i] = {line}"
    assert place["file"].startswith("<shift.py ")
    assert f"{place['file']}:{place['line']}" in error["message"]
    assert KERNEL.strip().splitlines()[place["line"] - 1].strip() == "out[i] = WRONG"
    assert run(shared, "1 / 0")["kernelLine"] is None


def test_more_than_pythons_memory_is_out_of_memory(shared):
    error = run(shared, "bytearray(2**31 - 1) + bytearray(2**31 - 1)")
    assert (error["name"], error["code"]) == ("OutOfMemoryError", "out-of-memory")
    assert run(shared, "1 + 1")["value"] == 2


def test_length_that_depends_on_data_comes_with_the_shape_it_has(shared):
    source = "import aiogpu\nx = aiogpu.asarray([0, 5, 7])\nx[x > 1]"
    value = run(shared, source)["value"]
    assert (value["shape"], value["data"]) == ([2], [5, 7])
    held = f"gpu.run({source!r}, {{ result: 'handle' }})"
    value = shared.evaluate(
        f"{held}.then((x) => x.evaluate()).then((x) => x.add(1).data()).then(plain)"
    )
    assert (value["shape"], value["data"]) == ([2], [6, 8])


def test_lost_device_rejects_is_told_once_and_the_next_call_works(shared):
    outcomes, events, works = shared.evaluate(
        """async () => {
            const events = [];
            gpu.addEventListener("devicelost", ({ detail }) => events.push(detail.reason));
            const source = `
import aiogpu
x = aiogpu.ones((1024, 1024))
for _ in range(40):
    x = x @ x
await x.evaluate()
x`;
            await gpu.run("import aiogpu\\nawait aiogpu.open_device()\\nNone");
            const pending = [gpu.run(source), gpu.array([1, 2]).add(1).data()].map(outcome);
            const destroy = "(await aiogpu.open_device()).gpu_device.destroy()";
            pending.push(outcome(gpu.run(`import aiogpu\\n${destroy}`)));
            const outcomes = await Promise.all(pending);
            await new Promise((resolve) => setTimeout(resolve, 500));
            const works = await gpu.array([1, 2]).add(1).data();
            return [outcomes, events, [...works]];
        }"""
    )
    codes = [outcome.get("code") for outcome in outcomes]
    assert codes[0] == "device-lost"
    assert codes[1] in ("device-lost", None)
    assert max(outcome["seconds"] for outcome in outcomes) < MOST_SECONDS
    assert events == ["destroyed"]
    assert works == [2, 3]


def test_more_than_the_gpu_may_hold_is_out_of_memory(page, base_url):
    prepare(page, base_url)
    assert connect(page).get("value") == "connected"
    run(page, "import aiogpu\nawait aiogpu.open_device(memory_limit=2**20)\nNone")
    source = "import aiogpu\naiogpu.ones((1024, 1024)) + 1"
    for call in (f"gpu.run({source!r})", "gpu.array(new Float32Array(2 ** 19)).add(1).data()"):
        error = page.evaluate(f"outcome({call})")
        assert (error["name"], error["code"]) == ("OutOfMemoryError", "out-of-memory")
    assert page.evaluate("gpu.array([1, 2]).sum().item()") == 3


BABBLER = """
addEventListener("message", ({ data: { port, lock } }) => {
  navigator.locks.request(lock, () => {
    port.postMessage(['{"type":"alive"}']);
    return new Promise(() => {});
  });
  port.onmessage = ({ data: [text] }) => {
    const { type, id } = JSON.parse(text);
    if (type === "hello") port.postMessage(['{"type":"ready","version":"0.1.0"}']);
    if (type === "call") port.postMessage([MESSAGE]);
  };
}, { once: true });
"""


@pytest.mark.parametrize("message", ["'{'", '\'{"type":"sing"}\'', "7", "new Map()"])
def test_worker_that_talks_nonsense_rejects_everything_pending(page, base_url, message):
    body = BABBLER.replace("MESSAGE", message)
    page.context.route(
        "**/babbler.js", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )
    prepare(page, base_url)
    assert connect(page, '{ workerURL: "/babbler.js" }').get("value") == "connected"
    outcomes = page.evaluate(
        """() => Promise.all([
            outcome(gpu.run("1")),
            outcome(gpu.call("m:f")),
            gpu.closed.then((error) => outcome(Promise.reject(error))),
        ])"""
    )
    assert [(each["name"], each["code"]) for each in outcomes] == [
        ("ProtocolError", "protocol")
    ] * 3
    assert max(each["seconds"] for each in outcomes) < MOST_SECONDS
