"""Arrays that stay in the worker: operations, reading, errors, and letting go."""

import json

import pytest
from bridge import OUTCOME, connect, prepare, run

FIRST = "window.a = gpu.array(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });"


@pytest.fixture(scope="module")
def shared(browser, base_url):
    """One page with a client, for the tests that leave the client as it is."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        prepare(page, base_url)
        assert connect(page).get("value") == "connected"
        page.evaluate(FIRST + "null")
        yield page


@pytest.mark.parametrize(
    ("expression", "shape", "data"),
    [
        ("a.add(1)", [2, 3], [2, 3, 4, 5, 6, 7]),
        ("a.subtract(a.slice(0))", [2, 3], [0, 0, 0, 3, 3, 3]),
        ("a.multiply(new Float32Array([1, 0, 2]))", [2, 3], [1, 0, 6, 4, 0, 12]),
        ("a.divide(2).negative()", [2, 3], [-0.5, -1, -1.5, -2, -2.5, -3]),
        ("a.floorDivide(4)", [2, 3], [0, 0, 0, 1, 1, 1]),
        ("a.remainder(4)", [2, 3], [1, 2, 3, 0, 1, 2]),
        ("a.astype('int32').pow(2)", [2, 3], [1, 4, 9, 16, 25, 36]),
        ("a.greater(3)", [2, 3], [0, 0, 0, 1, 1, 1]),
        ("a.lessEqual(3).where(a, 0)", [2, 3], [1, 2, 3, 0, 0, 0]),
        ("a.matmul(a.transpose())", [2, 2], [14, 32, 32, 77]),
        ("a.sum()", [], [21]),
        ("a.sum({ axis: 0 })", [3], [5, 7, 9]),
        ("a.max({ axis: 1, keepdims: true })", [2, 1], [3, 6]),
        ("a.argmax({ axis: 1 })", [2], [2, 2]),
        ("a.reshape([3, -1])", [3, 2], [1, 2, 3, 4, 5, 6]),
        ("a.slice(null, [null, null, -1])", [2, 3], [3, 2, 1, 6, 5, 4]),
        ("a.slice(1, [0, 2])", [2], [4, 5]),
        ("gpu.array([[1, 2], [3, 4]], { dtype: 'float16' })", [2, 2], [1, 2, 3, 4]),
    ],
)
def test_operation_gives_numpys_result(shared, expression, shape, data):
    value = shared.evaluate(f"outcome(({expression}).data())").get("value")
    assert (value["shape"], value["data"]) == (shape, data)


def test_chain_makes_no_round_trip(shared):
    sent = shared.evaluate(
        """async () => {
            const sent = [];
            const { postMessage } = MessagePort.prototype;
            MessagePort.prototype.postMessage = function ([text, ...rest], transfer) {
                sent.push(JSON.parse(text).type);
                return postMessage.call(this, [text, ...rest], transfer);
            };
            try {
                const total = a.add(1).matmul(a.transpose()).sum();
                const before = sent.length;
                return [await total.item(), before, sent];
            } finally {
                MessagePort.prototype.postMessage = postMessage;
            }
        }"""
    )
    assert sent[0] == 197
    assert sent[1] == 4
    assert sent[2] == ["op", "op", "op", "op", "read"]


def test_several_are_read_at_once(shared):
    value = shared.evaluate(
        "gpu.read(a.add(1), a.sum(), a.less(2)).then((all) => all.map((x) => plain(x).data))"
    )
    assert value == [[2, 3, 4, 5, 6, 7], [21], [1, 0, 0, 0, 0, 0]]


def test_evaluate_tells_shape_and_dtype(shared):
    value = shared.evaluate(
        "a.greater(1).evaluate().then(({ shape, dtype }) => ({ shape, dtype }))"
    )
    assert value == {"shape": [2, 3], "dtype": "bool"}


def test_arrays_cross_to_runs_and_back_as_handles(shared):
    value = shared.evaluate(
        """async () => {
            const source = "import aiogpu\\n{'twice': x * 2, 'n': 5}";
            const { twice, n } = await gpu.run(source, { locals: { x: a }, result: "handle" });
            const sum = await twice.add(a).sum().item();
            return [twice.constructor === a.constructor, twice.shape, twice.dtype, n, sum];
        }"""
    )
    assert value == [True, [2, 3], "float32", 5, 63]


def test_failed_operation_is_told_at_the_read_with_the_operations_place(shared):
    error = shared.evaluate(
        """() => {
            function mistaken() { return a.reshape([4, 2]); }
            return outcome(mistaken().add(1).data());
        }"""
    )
    assert (error["name"], error["code"]) == ("ShapeError", "shape")
    assert "mistaken" in error["stack"]
    assert shared.evaluate("a.sum().item()") == 21


def test_disposed_array_is_refused_and_its_memory_given_back(shared):
    before, held, after, error = shared.evaluate(
        """async () => {
            const { in_use: before } = await gpu.memory();
            const big = await gpu.array(new Float32Array(2 ** 20)).add(1).evaluate();
            const { in_use: held } = await gpu.memory();
            const running = gpu.run("x.shape[0]", { locals: { x: big } });
            big.dispose();
            if ((await running) !== 2 ** 20) throw Error("gone too early");
            await gpu.run("import gc; gc.collect()");
            const { in_use: after } = await gpu.memory();
            return [before, held, after, await outcome(big.data())];
        }"""
    )
    assert held - before >= 4 * 2**20
    assert after < held
    assert error["code"] == "handle"


def test_array_without_await_is_no_number(shared):
    error = shared.evaluate("outcome((async () => a + 1)())")
    assert error["code"] == "usage"
    assert "await array.item()" in error["message"]


def test_report_and_pyimport(shared):
    report = shared.evaluate("gpu.report()")
    assert report["adapter"]
    assert shared.evaluate("gpu.pyimport('math').then((math) => math.hypot(3, 4))") == 5
    error = shared.evaluate("outcome(gpu.pyimport('no_such_module'))")
    assert error["pythonName"] == "ModuleNotFoundError"


def test_images_and_blobs_come_as_arrays_and_bytes(shared):
    value = shared.evaluate(
        """async () => {
            const pixels = new Uint8ClampedArray([255, 0, 0, 255, 0, 128, 0, 255]);
            const image = new ImageData(pixels, 2, 1);
            const [kept, given] = [await createImageBitmap(image), await createImageBitmap(image)];
            const blob = new Blob(["ab", new Uint8Array([0, 255])]);
            const source = "[list(kept.shape), bytes(kept), bytes(given), bytes(image), blob]";
            const locals = { image, kept, given, blob };
            const values = await gpu.run(source, { locals, transfer: [given] });
            return [values.map((x) => [...x]), kept.width, given.width];
        }"""
    )
    pixels = [255, 0, 0, 255, 0, 128, 0, 255]
    assert value == [[[1, 2, 4], pixels, pixels, pixels, [97, 98, 0, 255]], 2, 0]


def test_generator_is_an_iterator_that_waits_for_the_page(shared):
    value = shared.evaluate(
        """async () => {
            const source = `
made = []
async def numbers():
    try:
        for k in range(1000):
            made.append(k)
            yield k
    finally:
        made.append("closed")
numbers()`;
            const got = [];
            for await (const k of await gpu.run(source)) {
                got.push(k);
                if (k === 2) break;
            }
            return [got, await gpu.run("made")];
        }"""
    )
    assert value == [[0, 1, 2], [0, 1, 2, "closed"]]


def test_exception_of_a_generator_ends_its_iterator(shared):
    error = shared.evaluate(
        """outcome((async () => {
            for await (const x of await gpu.run("(1 / k for k in [1, 0])")) window.last = x;
        })())"""
    )
    assert error["pythonName"] == "ZeroDivisionError"
    assert shared.evaluate("last") == 1


def test_tracked_items_are_told_at_most_60_times_a_second(shared):
    told, seconds = shared.evaluate(
        """async () => {
            const told = [];
            const started = performance.now();
            const source = `
import aiogpu
async for item in aiogpu.track(range(20000), message="items"):
    pass`;
            await gpu.run(source, { onProgress: (progress) => told.push(progress) });
            return [told, (performance.now() - started) / 1000];
        }"""
    )
    assert told[0] == {"done": 0, "total": 20000, "message": "items"}
    assert told[-1] == {"done": 20000, "total": 20000, "message": "items"}
    assert len(told) <= 60 * seconds + 2


def test_tracked_loop_can_be_cancelled(shared):
    error = shared.evaluate(
        """() => {
            const controller = new AbortController();
            setTimeout(() => controller.abort(new Error("enough")), 100);
            const source = `
import aiogpu, itertools
global ended
ended = False
try:
    async for item in aiogpu.track(itertools.count()):
        pass
finally:
    ended = True`;
            return outcome(gpu.run(source, { signal: controller.signal }));
        }"""
    )
    assert error["message"] == "enough"
    assert run(shared, "ended")["value"] is True


def test_interrupt_says_where_it_cannot_work(shared):
    error = shared.evaluate("outcome((async () => gpu.interrupt())())")
    assert error["code"] == "usage"
    assert "not cross-origin isolated" in error["message"]


# From here on each test has a client of its own.


def test_interrupt_stops_a_loop_that_never_awaits(page, isolated_url):
    prepare(page, isolated_url)
    assert page.evaluate("crossOriginIsolated")
    assert connect(page).get("value") == "connected"
    error = page.evaluate(
        """() => {
            setTimeout(() => gpu.interrupt(), 300);
            return outcome(gpu.run("while True: pass"));
        }"""
    )
    assert error["pythonName"] == "KeyboardInterrupt"
    # From before the worker has the request to well into its loop.
    names = page.evaluate(
        """async () => {
            const names = new Set();
            for (let delay_ms = 0; delay_ms < 20; delay_ms += 0.5) {
                setTimeout(() => gpu.interrupt(), delay_ms);
                const { pythonName, message } = await outcome(gpu.run("while True: pass"));
                names.add(pythonName ?? message);
            }
            return [...names];
        }"""
    )
    assert names == ["KeyboardInterrupt"]
    # One that finds nobody running reaches nobody later.
    page.evaluate("gpu.interrupt()")
    assert run(page, "sum(range(100000))")["value"] == 4999950000


def test_restart_ends_a_busy_worker_and_the_client_lives_on(page, base_url):
    prepare(page, base_url)
    assert connect(page).get("value") == "connected"
    page.evaluate(FIRST + "null")
    pending, works, old, closed = page.evaluate(
        """async () => {
            const pending = outcome(gpu.run("while True: pass"));
            await new Promise((resolve) => setTimeout(resolve, 200));
            await gpu.restart();
            const states = [gpu.closed.then(() => "closed"), Promise.resolve("open")];
            const works = await gpu.run("6 * 7");
            return [await pending, works, await outcome((async () => a.add(1))()),
                await Promise.race(states)];
        }"""
    )
    assert pending["name"] == "ClosedError"
    assert works == 42
    assert old["code"] == "handle"
    assert closed == "open"


def test_only_marked_functions_may_be_called(page, base_url):
    prepare(page, base_url)
    text = "import aiogpu\n@aiogpu.expose\ndef f(x): return x + 1\ndef g(): pass\n"
    modules = json.dumps({"work": "data:text/x-python," + text.replace("\n", "%0A")})
    assert connect(page, f'{{ expose: "marked", modules: {modules} }}').get("value") == "connected"
    assert page.evaluate("gpu.call('work:f', [1])") == 2
    for call in ["gpu.call('work:g')", "gpu.run('1')", "gpu.call('os:getcwd')", "gpu.install('x')"]:
        error = page.evaluate(f"outcome({call})")
        assert error["code"] == "usage"
        assert "not marked" in error["message"]
    assert page.evaluate("gpu.array([1, 2]).sum().item()") == 3


def test_worker_of_another_origin_starts(page, base_url):
    other = base_url.replace("127.0.0.1", "localhost")
    page.context.route(
        f"{other}/**",
        lambda route: route.fulfill(
            response=route.fetch(),
            headers={**route.fetch().headers, "access-control-allow-origin": "*"},
        ),
    )
    page.add_init_script(OUTCOME)
    prepare(page, base_url)
    urls = f'{{ workerURL: "{other}/worker.js" }}'
    assert connect(page, urls).get("value") == "connected"
    assert run(page, "1 + 1")["value"] == 2
