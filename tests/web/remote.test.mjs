import assert from "node:assert/strict";
import { test } from "node:test";

import { ClosedError, HandleError, ShapeError, UsageError } from "../../web/errors.js";
import { VERSION } from "../../web/protocol.js";
import { FakePage, rejection, turn, wireError } from "./fake_page.mjs";

async function connected(answer = () => {}, options = {}) {
  const page = new FakePage();
  page.answer = answer;
  return { page, gpu: await page.connect(options) };
}

/** What the page has sent since the hello. */
const sent = (page) => page.worker.received.slice(1).map(([message]) => message);

test("operations are numbered, sent at once, and wait for nothing", async () => {
  const { page, gpu } = await connected((worker, message) => {
    if (message.type === "read") {
      worker.done(message, [21]);
    }
  });
  const a = gpu.array([1, 2], { shape: [2, 1], dtype: "float16" });
  const b = a.add(1).slice(0, [null, 2]).sum({ axis: 0 });
  assert.equal(await b.item(), 21);
  const [made, reshaped, added, sliced, summed, read] = sent(page);
  const held = (handle) => ({ $: "handle", handle });
  const op = (handle, name, args, kwargs = {}) => ({ type: "op", handle, name, args, kwargs });
  assert.deepEqual(made, op(1, "asarray", [[1, 2]], { dtype: "float16" }));
  assert.deepEqual(reshaped, op(2, "reshape", [held(1), [2, 1]]));
  assert.deepEqual(added, op(3, "add", [held(2), 1]));
  assert.deepEqual(sliced, op(4, "slice", [held(3), [0, [null, 2]]]));
  assert.deepEqual(summed, op(5, "sum", [held(4)], { axis: 0 }));
  assert.deepEqual(read, { type: "read", id: 1, handles: [5], form: "item" });
  await gpu.close();
});

test("a disposed array is let go once, and refused", async () => {
  const { page, gpu } = await connected();
  const [a, b] = [gpu.array([1]), gpu.array([2])];
  a.dispose();
  a.dispose();
  b.dispose();
  await turn();
  assert.deepEqual(sent(page).at(-1), { type: "free", handles: [1, 2] });
  assert.throws(() => a.add(1), HandleError);
  assert.ok((await rejection(gpu.run("1", { locals: { a } }))) instanceof HandleError);
  await gpu.close();
});

test("an array of another client is refused", async () => {
  const [one, two] = [await connected(), await connected()];
  const a = one.gpu.array([1]);
  assert.throws(() => two.gpu.array([1]).add(a), HandleError);
  await one.gpu.close();
  await two.gpu.close();
  assert.throws(() => a.add(1), HandleError);
  assert.throws(() => one.gpu.array([1]), ClosedError);
});

test("a failed operation rejects the read, with the stack of the operation", async () => {
  const { gpu } = await connected((worker, message) => {
    if (message.type === "read") {
      const fields = { name: "ShapeError", message: "reshape: m", operation: "reshape" };
      const error = wireError({ code: "shape", traceback: "T", ...fields });
      worker.post({ type: "error", id: message.id, error, handle: 2 });
    }
  });
  function mistaken() {
    return gpu.array([1]).reshape([3]);
  }
  const made = mistaken();
  const error = await rejection(made.add(1).data());
  assert.ok(error instanceof ShapeError);
  assert.match(error.stack, /^ShapeError: reshape: m\nT\n/);
  assert.match(error.stack, /mistaken/);
  assert.equal(error.operation, "reshape");
  await gpu.close();
});

test("results as handles are arrays with shape and dtype", async () => {
  const { page, gpu } = await connected((worker, message) => {
    if (message.type === "run")
      worker.done(message, [{ $: "handle", handle: -1, dtype: "float32", shape: [2, 3] }]);
  });
  const [array] = await gpu.run("x", { result: "handle" });
  assert.deepEqual([array.shape, array.dtype], [[2, 3], "float32"]);
  assert.equal(sent(page)[0].result, "handle");
  array.add(1);
  await turn();
  assert.deepEqual(sent(page)[1].args, [{ $: "handle", handle: -1 }, 1]);
  await gpu.close();
});

test("a stream asks for one value at a time, and is stopped when it is left", async () => {
  let next = 0;
  const { page, gpu } = await connected((worker, message) => {
    if (message.type === "run") {
      worker.done(message, { $: "stream", stream: 4 });
    } else if (message.type === "next") {
      worker.done(message, [next++]);
    }
  });
  const stream = await gpu.run("x");
  const both = await Promise.all([stream.next(), stream.next()]);
  assert.deepEqual(both, [
    { done: false, value: 0 },
    { done: false, value: 1 },
  ]);
  for await (const value of stream) {
    if (value === 3) {
      break;
    }
  }
  await turn();
  assert.equal(next, 4);
  assert.deepEqual(sent(page).at(-1), { type: "stop", stream: 4 });
  assert.deepEqual(await stream.next(), { done: true, value: undefined });
  await gpu.close();
});

test("a module is a proxy whose names are called, and no promise itself", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, 5));
  const module = await gpu.pyimport("a.b");
  assert.equal(await module.f.g(1, [2]), 5);
  assert.equal(module.then, undefined);
  const [imported, called] = sent(page);
  assert.deepEqual(imported, { type: "import", id: 1, module: "a.b" });
  assert.deepEqual([called.target, called.args], ["a.b:f.g", [1, [2]]]);
  await gpu.close();
});

test("wheels to install are URLs of the page's", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, null));
  await gpu.install(["numpy", "./x.whl"]);
  assert.deepEqual(sent(page)[0].packages, ["numpy", "http://page.test/folder/x.whl"]);
  await gpu.close();
});

test("a Blob goes beside the text, as it is", async () => {
  const { page, gpu } = await connected((worker, message) => worker.done(message, null));
  const blob = new Blob(["abc"]);
  await gpu.run("1", { locals: { blob } });
  const [{ locals }, arrived] = page.worker.received.at(-1);
  assert.deepEqual(locals.blob, { $: "bytes", buffer: 0 });
  assert.equal(await arrived.text(), "abc");
  await gpu.close();
});

test("interrupt says that it needs shared memory", async () => {
  const { page, gpu } = await connected();
  assert.throws(() => gpu.interrupt(), UsageError);
  await gpu.close();
  const error = await rejection(page.connect({ interrupt: true }));
  assert.match(error.message, /not cross-origin isolated/);
});

test("interrupt sets the shared byte, only while something runs", async () => {
  const page = new FakePage();
  page.isIsolated = true;
  const gpu = await page.connect();
  const byte = new Uint8Array(page.worker.boot.interrupt);
  gpu.interrupt();
  assert.equal(byte[0], 0);
  const running = gpu.run("while True: pass");
  gpu.interrupt();
  assert.equal(byte[0], 2);
  await turn();
  assert.deepEqual(sent(page).at(-1), { type: "interrupt", serial: 1 });
  const [error] = await Promise.all([rejection(running), gpu.close()]);
  assert.equal(error.code, "closed");
});

test("restart ends the worker and starts another, and the client lives on", async () => {
  const { page, gpu } = await connected((worker, message) => {
    if (message.source !== "busy") {
      worker.done(message, message.source);
    }
  });
  const seen = [];
  gpu.addEventListener("stdout", ({ detail }) => seen.push(detail));
  const busy = gpu.run("busy");
  const [error] = await Promise.all([rejection(busy), gpu.restart()]);
  assert.ok(error instanceof ClosedError);
  assert.deepEqual([page.workers.length, page.workers[0].terminated], [2, true]);
  assert.equal(await gpu.run("again"), "again");
  page.worker.post({ type: "stdout", text: "hi" });
  await turn();
  assert.deepEqual(seen, ["hi"]);
  await gpu.close();
  assert.equal(await gpu.closed, null);
});

test("a restart that fails closes the client", async () => {
  const { page, gpu } = await connected();
  page.behave = (worker, message) =>
    message.type === "hello" && worker.post({ type: "ready", version: `${VERSION}x` });
  assert.equal((await rejection(gpu.restart())).code, "version");
  assert.equal((await gpu.closed).code, "version");
  assert.ok((await rejection(gpu.run("1"))) instanceof ClosedError);
});

test("what may be called is said at the start", async () => {
  const { page, gpu } = await connected(undefined, { expose: "marked" });
  assert.equal(page.worker.received[0][0].expose, "marked");
  await gpu.close();
  assert.match((await rejection(page.connect({ expose: "some" }))).message, /expose: some/);
});

test("a page opened from a file is told to serve it", async () => {
  const page = new FakePage();
  page.baseURL = "file:///home/page.html";
  const error = await rejection(page.connect());
  assert.equal(error.code, "boot");
  assert.match(error.message, /serve its folder/);
});

test("index.js can be imported where there is no page", async () => {
  const { isSupported, connect } = await import("../../web/index.js");
  assert.equal(await isSupported(), false);
  assert.equal((await rejection(connect())).code, "no-webgpu");
});
