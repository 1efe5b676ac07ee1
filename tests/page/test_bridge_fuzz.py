"""Messages of any shape on a real port, to the real worker: each has its answer, none hangs.

A few hundred in the normal run; AIOGPU_FUZZ=3000 sends as many.
"""

import json
import os
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import protocol_schema
from aiogpu.errors import ProtocolError
from aiogpu.server import protocol
from fuzz.messages import messages

COUNT = int(os.environ.get("AIOGPU_FUZZ", "300"))
ROUND = 50

# A worker without a client, whose port the test has: `talk` posts each thing and then asks for a
# sum, and gives the texts that came meanwhile. It waits for an answer to what must have one.
RAW = """
window.start = (wheel) => new Promise((resolve, reject) => {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker("/worker.js", { type: "module" });
  const [indexURL, wheelURL] = ["/build/pyodide/", wheel].map((url) => location.origin + url);
  const rest = { lock: crypto.randomUUID(), packages: [], interrupt: null };
  worker.postMessage({ port: port2, indexURL, wheelURL, ...rest }, [port2]);
  let got = [];
  let look = () => {};
  port1.onmessage = ({ data: [text] }) => {
    got.push(text);
    look();
  };
  const until = (isThere) => new Promise((done, fail) => {
    const timer = setTimeout(() => fail(Error("hangs: " + got.join())), 30000);
    look = () => {
      if (isThere()) {
        clearTimeout(timer);
        done();
      }
    };
    look();
  });
  const hello = { type: "hello", version: "0.1.0", modules: {}, canvases: {}, expose: "all" };
  port1.postMessage([JSON.stringify(hello)]);
  const how = { filename: "sum", locals: {}, result: "value" };
  let id = 1e6;
  const one = async (thing, mustAnswer) => {
    port1.postMessage(thing);
    const sum = { type: "run", id: ++id, source: "6 * 7", ...how };
    port1.postMessage([JSON.stringify(sum)]);
    const answer = `{"type":"done","id":${id},"value":42}`;
    const isAnswer = (text) => text !== answer && /"type":"(done|error)"/.test(text);
    await until(() => got.includes(answer) && (!mustAnswer || got.some(isAnswer)));
    const texts = got.filter((text) => text !== answer);
    got = [];
    return texts;
  };
  const odd = {
    null: () => null, number: () => 5, text: () => "run", object: () => ({}), empty: () => [],
    "no text": () => [null], "a number": () => [7], "an object": () => [{ type: "close" }],
    bytes: () => [new Uint8Array(8)], map: () => new Map([[0, "{}"]]),
  };
  const beside = {
    number: () => [1, null], map: () => [new Map()], blob: () => [new Blob(["ab"])],
    liar: () => [{ constructor: { name: "ArrayBuffer" } }, { constructor: 5 }],
    bitmap: () => [{ constructor: { name: "ImageBitmap" } }],
  };
  window.oddities = { things: Object.keys(odd), beside: Object.keys(beside) };
  window.talk = async (texts, mustAnswer) => {
    const all = [];
    for (const [k, text] of texts.entries()) {
      all.push(await one([text, new ArrayBuffer(16)], mustAnswer[k]));
    }
    return all;
  };
  window.talkOddly = (name) => one(odd[name](), true);
  window.talkBeside = (name, text) => one([text, ...beside[name]()], true);
  until(() => got.some((text) => text.includes('"ready"'))).then(() => {
    got = [];
    resolve(oddities);
  }, reject);
});
"""


@pytest.fixture(scope="module")
def raw(browser, base_url):
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base_url}/web/")
        page.add_script_tag(content=RAW)
        page.evaluate("start('/dist/aiogpu-0.1.0-py3-none-any.whl')")
        yield page


def answers(texts):
    """The answers among messages that are all of the protocol."""
    sent = [json.loads(text) for text in texts]
    for message in sent:
        protocol_schema.check("worker", message)
    return [message for message in sent if message["type"] in ("done", "error")]


def expected(text):
    """Whether an answer must come, whether one may, and of which id."""
    try:
        request = protocol.parse(text)
    except ProtocolError:
        return True, True, protocol.identity(text)
    if isinstance(request, get_args(protocol.Asked)):
        return True, True, request.id
    # A second hello is refused, and so is an operation whose result's number is in use.
    is_hello = isinstance(request, protocol.Hello)
    return is_hello, is_hello or isinstance(request, protocol.Op), None


@settings(
    max_examples=max(COUNT // ROUND, 1),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(texts=st.lists(messages() | st.text(max_size=9), min_size=ROUND, max_size=ROUND))
def test_every_message_has_its_answer_and_a_good_call_works_after(raw, texts):
    wanted = [expected(text) for text in texts]
    got = raw.evaluate(
        "([texts, must]) => talk(texts, must)", [texts, [must for must, *_ in wanted]]
    )
    for text, (must, may, id_), replies in zip(texts, wanted, got, strict=True):
        found = answers(replies)
        assert must <= len(found) <= may, (text, found)
        for answer in found:
            assert answer["id"] == id_, (text, answer)


def test_what_is_no_message_at_all_is_answered_with_a_protocol_error(raw):
    for name in raw.evaluate("oddities.things"):
        (answer,) = answers(raw.evaluate("(name) => talkOddly(name)", name))
        assert (answer["type"], answer["id"]) == ("error", None), name
        assert answer["error"]["code"] == "protocol", name


def test_what_is_not_what_it_is_called_is_refused_where_it_is_used(raw):
    array = {"$": "array", "dtype": "uint8", "shape": [1], "buffer": 0, "offset": 0}
    rest = {"filename": "x", "result": "value", "source": "bytes(x)[0]"}
    text = json.dumps({"type": "run", "id": 5, "locals": {"x": array}} | rest)
    for name in raw.evaluate("oddities.beside"):
        (answer,) = answers(raw.evaluate("([name, text]) => talkBeside(name, text)", [name, text]))
        code = answer.get("error", {}).get("code")
        assert (code or answer["value"]) == (97 if name == "blob" else "protocol"), name
