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
