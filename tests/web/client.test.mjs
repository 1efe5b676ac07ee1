import assert from "node:assert/strict";
import { test } from "node:test";

import { ClosedError, RemoteError, UsageError, WorkerLostError } from "../../web/errors.js";
import { FakePage, rejection, turn, wireError } from "./fake_page.mjs";

async function connected(answer = () => {}) {
  const page = new FakePage();
  page.answer = answer;
  return { page, gpu: await page.connect() };
}

function raised(message, fields) {
  return { type: "error", id: message.id, error: wireError(fields), handle: null };
}

test("run sends source, file name and locals, and gives the value", async () => {
  const { page, gpu } = await connected((worker, message) => {
    const shape = { $: "array", dtype: "float32", shape: [1, 2], buffer: 0, offset: 0 };
    worker.done(message, { a: shape, n: null }, [new Float32Array([1, 2]).buffer]);
  });
  const value = await gpu.run("x", { locals: { k: [1, null] }, filename: "edges.py" });
  assert.deepEqual(value, { a: new Float32Array([1, 2]), n: null });
  assert.deepEqual(value.a.shape, [1, 2]);
  assert.equal(value.a.dtype, "float32");
  const [message] = page.worker.received.at(-1);
  assert.deepEqual(message, {
    type: "run",
    id: 1,
    source: "x",
    filename: "edges.py",
    locals: { k: [1, null] },
    result: "value",
  });
  await gpu.close();
});

test("call sends target, args and kwargs", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, 7));
  assert.equal(await gpu.call("m.n:f.g", [1, new Uint8Array([3])], { kwargs: { k: 2 } }), 7);
  const [message, buffer] = page.worker.received.at(-1);
  assert.equal(message.target, "m.n:f.g");
  const array = { $: "array", dtype: "uint8", shape: [1], buffer: 0, offset: 0 };
  assert.deepEqual(message.args, [1, array]);
  assert.deepEqual(message.kwargs, { k: 2 });
  assert.deepEqual(new Uint8Array(buffer), new Uint8Array([3]));
  await gpu.close();
});

test("answers find their requests in any order", async () => {
  const waiting = [];
  const { gpu } = await connected((worker, message) => {
    waiting.push(message);
    if (waiting.length === 3) {
      for (const item of waiting.reverse()) {
        worker.done(item, item.source);
      }
    }
  });
  const values = await Promise.all(["a", "b", "c"].map((source) => gpu.run(source)));
  assert.deepEqual(values, ["a", "b", "c"]);
  await gpu.close();
});

test("misuse rejects before anything is sent", async () => {
  const { page, gpu } = await connected();
  for (const [call, says] of [
    [() => gpu.run(5), /^run: number: the source must be a string/],
    [() => gpu.run("1", { result: "both" }), /^run: result is "both": must be "value" or/],
    [() => gpu.run("1", { locals: { f: () => {} } }), /^locals\.f: function: cannot cross/],
    [() => gpu.run("1", { transfer: [new ArrayBuffer(8)] }), /^transfer: 8 bytes: .* in none/],
    [
      () => gpu.run("1", { transfer: [{}] }),
      /^transfer\[0\]: Object: only ArrayBuffers and ImageBitmaps/,
    ],
    [() => gpu.call("no colon"), /^call: "no colon": must be "module:function"/],
    [() => gpu.call("m:f", "args"), /^call: args is string: must be an array/],
    [() => gpu.call("m:f", [{ a: [new Map()] }]), /^args\[0\]\.a\[0\]: Map: cannot cross/],
    [() => gpu.call("m:f", [], { kwargs: { "a b": Symbol() } }), /^kwargs\["a b"\]: symbol/],
  ]) {
    const error = await rejection(call());
    assert.ok(error instanceof UsageError, String(error));
    assert.match(error.message, says);
    assert.match(error.stack, /client\.test\.mjs/);
  }
  await turn();
  assert.equal(page.worker.received.length, 1);
  await gpu.close();
});

test("an exception has class, message, traceback, causes and the page's call site", async () => {
  const { gpu } = await connected((worker, message) => {
    const cause = raised(message, { name: "KeyError", message: "'k'" }).error;
    const traceback = "Traceback:\n  here\nValueError: bad\n";
    const line = { file: "edges.py", line: 3, text: "x[i] = 1" };
    worker.post(raised(message, { traceback, cause, line, operation: "blur" }));
  });
  async function pressTheButton() {
    await gpu.run("f()");
  }
  const error = await rejection(pressTheButton());
  assert.ok(error instanceof RemoteError);
  assert.equal(error.name, "RemoteError");
  assert.equal(error.code, "remote");
  assert.equal(error.pythonName, "ValueError");
  assert.equal(error.message, "ValueError: bad");
  assert.equal(error.operation, "blur");
  assert.deepEqual(error.kernelLine, { file: "edges.py", line: 3, text: "x[i] = 1" });
  assert.equal(error.cause.message, "KeyError: 'k'");
  assert.equal(error.cause.kernelLine, null);
  assert.match(
    error.stack,
    /^RemoteError: ValueError: bad\nTraceback:\n {2}here\nValueError: bad\n/,
  );
  assert.match(error.stack, /^ +at .*pressTheButton/m);
  await gpu.close();
});

test("aiogpu's own errors have their own class, unknown ones are remote", async () => {
  const { gpu } = await connected((worker, message) => {
    worker.post(raised(message, { code: message.source, name: "E", message: "m" }));
  });
  const shape = await rejection(gpu.run("shape"));
  assert.deepEqual([shape.name, shape.code, shape.message], ["ShapeError", "shape", "m"]);
  assert.ok(shape instanceof UsageError);
  assert.ok((await rejection(gpu.run("of-a-later-version"))) instanceof RemoteError);
  await gpu.close();
});

test("an abort rejects at once with its reason, and cancels in the worker", async () => {
  const { page, gpu } = await connected();
  const controller = new AbortController();
  const pending = gpu.run("forever", { signal: controller.signal });
  await turn();
  controller.abort("enough");
  assert.equal(await rejection(pending), "enough");
  await turn();
  assert.deepEqual(page.worker.received.at(-1), [{ type: "cancel", id: 1 }]);
  // The late answer finds nobody, and the next call works.
  page.worker.post(raised({ id: 1 }, { name: "CancelledError" }));
  page.answer = (worker, message) => worker.done(message, "next");
  assert.equal(await gpu.run("1", { signal: new AbortController().signal }), "next");
  await gpu.close();
});

test("an abort from before sends nothing", async () => {
  const { page, gpu } = await connected();
  assert.equal(await rejection(gpu.run("1", { signal: AbortSignal.abort("before") })), "before");
  await turn();
  assert.equal(page.worker.received.length, 1);
  await gpu.close();
});

test("an abort after the answer sends nothing", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, 1));
  const controller = new AbortController();
  await gpu.run("1", { signal: controller.signal });
  controller.abort();
  await turn();
  assert.equal(page.worker.received.filter(([{ type }]) => type === "cancel").length, 0);
  await gpu.close();
});

test("progress reaches its own call and the client", async () => {
  const { gpu } = await connected((worker, message) => {
    worker.post({ type: "progress", id: message.id, done: 1, total: 4, message: message.source });
    worker.done(message, null);
  });
  const [own, all] = [[], []];
  gpu.addEventListener("progress", ({ detail }) => all.push(detail.message));
  await gpu.run("a", { onProgress: (progress) => own.push(progress) });
  await gpu.run("b");
  assert.deepEqual(own, [{ done: 1, total: 4, message: "a" }]);
  assert.deepEqual(all, ["a", "b"]);
  await gpu.close();
});

test("output and a lost device are events", async () => {
  const { page, gpu } = await connected();
  const seen = [];
  for (const type of ["stdout", "stderr", "devicelost"]) {
    gpu.addEventListener(type, (event) => seen.push([event.type, event.detail]));
  }
  page.worker.post({ type: "stdout", text: "hi" });
  page.worker.post({ type: "stderr", text: "oh" });
  page.worker.post({ type: "devicelost", reason: "destroyed", message: "m" });
  await turn();
  page.worker.fail({ message: "uncaught later" });
  assert.deepEqual(seen, [
    ["stdout", "hi"],
    ["stderr", "oh"],
    ["devicelost", { reason: "destroyed", message: "m" }],
    ["stderr", "worker: uncaught later"],
  ]);
  await gpu.close();
});

test("close rejects what is pending at once, and whatever comes later", async () => {
  const { page, gpu } = await connected();
  const pending = gpu.run("forever");
  const closing = gpu.close();
  const error = await rejection(pending);
  assert.ok(error instanceof ClosedError);
  assert.match(error.stack, /client\.test\.mjs/);
  await closing;
  assert.ok(page.worker.terminated);
  assert.equal(await gpu.closed, null);
  assert.ok((await rejection(gpu.run("1"))) instanceof ClosedError);
  await gpu.close();
});

test("close does not wait for a server that does not answer", async () => {
  const { page, gpu } = await connected();
  page.behave = () => {};
  const started = performance.now();
  const pending = gpu.run("forever");
  const closing = gpu.close();
  assert.ok((await rejection(pending)) instanceof ClosedError);
  assert.ok(performance.now() - started < 400);
  await closing;
  assert.ok(performance.now() - started < 900);
  assert.ok(page.worker.terminated);
});

test("a worker that dies rejects what is pending, and whatever comes later", async () => {
  const { page, gpu } = await connected();
  const pending = [gpu.run("a"), gpu.call("m:f")];
  await turn();
  page.worker.die();
  for (const promise of [...pending, Promise.reject(await gpu.closed), gpu.run("later")]) {
    assert.ok((await rejection(promise)) instanceof WorkerLostError);
  }
  assert.ok(page.worker.terminated);
});

test("Python that crashes is lost too", async () => {
  const { page, gpu } = await connected();
  const pending = gpu.run("a");
  await turn();
  page.worker.post({ type: "lost", reason: "RangeError: stack" });
  const error = await rejection(pending);
  assert.ok(error instanceof WorkerLostError);
  assert.match(error.message, /Python has crashed: RangeError: stack/);
  assert.ok(page.worker.terminated);
});

test("a busy worker is not taken for dead", async () => {
  const { gpu } = await connected((worker, message) => {
    setTimeout(() => worker.done(message, "late"), 100);
  });
  assert.equal(await gpu.run("busy"), "late");
  await gpu.close();
});

for (const [what, send] of [
  ["is no JSON", (worker) => worker.boot.port.postMessage(["{"])],
  ["is no array", (worker) => worker.boot.port.postMessage(null)],
  ["is null", (worker) => worker.boot.port.postMessage(["null"])],
  ["has an unknown type", (worker) => worker.boot.port.postMessage(['{"type":"sing"}'])],
  [
    "is a refusal without an id",
    (worker) => worker.post(raised({ id: null }, { code: "protocol" })),
  ],
]) {
  test(`a message that ${what} ends the client with ProtocolError`, async () => {
    const { page, gpu } = await connected();
    const pending = gpu.run("1");
    await turn();
    send(page.worker);
    assert.equal((await rejection(pending)).code, "protocol");
    assert.equal((await gpu.closed).code, "protocol");
  });
}

test("a value that does not hold together rejects only its call", async () => {
  const { gpu } = await connected((worker, message) => {
    const broken = { $: "array", dtype: "float32", shape: [9], buffer: 0, offset: 0 };
    worker.done(message, message.source === "broken" ? broken : 1);
  });
  assert.equal((await rejection(gpu.run("broken"))).code, "protocol");
  assert.equal(await gpu.run("good"), 1);
  await gpu.close();
});

test("a given buffer is gone from the page, any other is copied", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, null));
  const [given, kept] = [new Float32Array([1, 2, 3]), new Float32Array([4])];
  const view = given.subarray(1);
  await gpu.run("1", { locals: { view, kept }, transfer: [given.buffer] });
  assert.equal(given.length, 0);
  assert.equal(kept.length, 1);
  const [{ locals }, buffer] = page.worker.received.at(-1);
  assert.deepEqual([locals.view.offset, locals.view.shape, locals.view.buffer], [4, [2], 0]);
  assert.equal(buffer.byteLength, 12);
  const error = await rejection(gpu.run("1", { locals: { again: given } }));
  assert.match(error.message, /^locals\.again: Float32Array: its buffer was given away/);
  await gpu.close();
});
