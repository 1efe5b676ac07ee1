import assert from "node:assert/strict";
import { test } from "node:test";

import { openClient, pageIsSupported } from "../../web/connect.js";
import { BootError, NoAdapterError, NoWebGPUError, UsageError } from "../../web/errors.js";
import { VERSION, PYODIDE_VERSION } from "../../web/protocol.js";
import { FakePage, rejection, turn, wireError } from "./fake_page.mjs";

function failing(change) {
  const page = new FakePage();
  change(page);
  return page;
}

test("the client answers once Python does", async () => {
  const page = new FakePage();
  page.answer = (worker, message) => worker.done(message, message.source);
  const gpu = await page.connect();
  assert.equal(await gpu.run("1"), "1");
  await gpu.close();
});

test("every URL has a default and is resolved against the page", async () => {
  const page = new FakePage();
  const gpu = await page.connect();
  assert.equal(page.worker.url, "http://cdn.test/worker.js");
  const { indexURL, wheelURL, packages } = page.worker.boot;
  assert.equal(indexURL, `https://cdn.jsdelivr.net/pyodide/v${PYODIDE_VERSION}/full/`);
  assert.equal(wheelURL, "http://cdn.test/aiogpu.whl");
  assert.deepEqual(packages, []);
  await gpu.close();

  const other = await page.connect({
    workerURL: "w.js",
    indexURL: "/pyodide",
    wheelURL: new URL("http://x.test/a.whl"),
    packages: ["numpy", "./own.whl"],
    modules: { edges: "edges.py" },
  });
  assert.equal(page.worker.url, "http://page.test/folder/w.js");
  assert.deepEqual(page.worker.boot.indexURL, "http://page.test/pyodide/");
  assert.deepEqual(page.worker.boot.wheelURL, "http://x.test/a.whl");
  assert.deepEqual(page.worker.boot.packages, ["numpy", "http://page.test/folder/own.whl"]);
  const [hello] = page.worker.received[0];
  assert.deepEqual(hello.modules, { edges: "http://page.test/folder/edges.py" });
  assert.equal(hello.version, VERSION);
  await other.close();
});

for (const [what, change, type, says] of [
  ["without WebGPU", (page) => delete page.gpu, NoWebGPUError, /no navigator\.gpu in the page/],
  [
    "over plain http",
    (page) => Object.assign(page, { gpu: undefined, isSecureContext: false }),
    NoWebGPUError,
    /not a secure context/,
  ],
  [
    "without an adapter",
    (page) => (page.gpu.requestAdapter = () => Promise.resolve(null)),
    NoAdapterError,
    /gave null in the page/,
  ],
]) {
  test(`${what} it rejects before a worker starts`, async () => {
    const page = failing(change);
    const error = await rejection(page.connect());
    assert.ok(error instanceof type, String(error));
    assert.match(error.message, says);
    assert.equal(page.workers.length, 0);
    assert.equal(await pageIsSupported(page), false);
  });
}

test("a page with an adapter is supported, and one whose adapter fails is not", async () => {
  assert.equal(await pageIsSupported(new FakePage()), true);
  const page = failing((it) => (it.gpu.requestAdapter = () => Promise.reject(new Error("no"))));
  assert.equal(await pageIsSupported(page), false);
});

test("a URL that is none is refused by its name", async () => {
  for (const [options, name] of [
    [{ workerURL: "http://" }, "workerURL"],
    [{ modules: { edges: "http://[" } }, "modules.edges"],
  ]) {
    const error = await rejection(new FakePage().connect(options));
    assert.ok(error instanceof UsageError);
    assert.match(error.message, new RegExp(`^connect: ${name}: `));
  }
});

test("a worker script that is not there is named with its status", async () => {
  const page = new FakePage();
  page.statuses["http://cdn.test/worker.js"] = 404;
  page.boot = (worker) => worker.fail({});
  const error = await rejection(page.connect());
  assert.ok(error instanceof BootError);
  assert.equal(error.message, "connect: worker: http://cdn.test/worker.js: HTTP 404");
  assert.ok(page.worker.terminated);
});

test("a page in the worker's place is told from a script that fails", async () => {
  const page = new FakePage();
  page.types["http://cdn.test/worker.js"] = "text/html; charset=utf-8";
  page.boot = (worker) => worker.fail({});
  assert.match((await rejection(page.connect())).message, /a page there, and no script/);
  page.types["http://cdn.test/worker.js"] = "text/javascript";
  assert.match((await rejection(page.connect())).message, /could not be loaded/);
});

test("where there is no import.meta.url the URLs must be given", async () => {
  const page = new FakePage();
  const places = {
    get worker() {
      return new URL("./worker.js", undefined).href;
    },
    wheel: "http://cdn.test/aiogpu.whl",
  };
  const error = await rejection(openClient(page, places, {}));
  assert.ok(error instanceof UsageError);
  assert.match(error.message, /^connect: workerURL: must be given/);
  await openClient(page, places, { workerURL: "/my/worker.js" });
  assert.equal(page.worker.url, "http://page.test/my/worker.js");
});

test("an error in the worker's script is passed on", async () => {
  const page = new FakePage();
  page.boot = (worker) => worker.fail({ message: "SyntaxError: Unexpected token" });
  assert.match((await rejection(page.connect())).message, /SyntaxError: Unexpected token/);
});

test("a worker that may not be made is a failed start", async () => {
  const page = new FakePage();
  page.spawn = () => {
    throw new DOMException("other origin", "SecurityError");
  };
  const error = await rejection(page.connect());
  assert.ok(error instanceof BootError);
  assert.match(error.message, /other origin/);
});

test("a start that fails in the worker says where and why", async () => {
  const page = new FakePage();
  page.behave = (worker) => {
    const cause = wireError({ name: "OSError", message: "404" });
    const traceback = "Traceback (most recent call last):\nImportError: no";
    const error = wireError({
      code: "import",
      name: "ImportError",
      message: "no",
      traceback,
      cause,
    });
    worker.post({ type: "failed", stage: "modules", error });
  };
  const error = await rejection(page.connect());
  assert.ok(error instanceof BootError);
  assert.match(
    error.message,
    /^connect: modules: Traceback \(most recent call last\):\nImportError/,
  );
  assert.equal(error.cause.pythonName, "ImportError");
  assert.equal(error.cause.cause.message, "OSError: 404");
  assert.match(error.stack, /connect\.test\.mjs/);
  assert.ok(page.worker.terminated);
});

test("no adapter in the worker keeps its own class", async () => {
  const page = new FakePage();
  page.behave = (worker) => {
    const error = wireError({ code: "no-adapter", name: "E", message: "in the worker" });
    worker.post({ type: "failed", stage: "worker", error });
  };
  assert.ok((await rejection(page.connect())) instanceof NoAdapterError);
});

test("a wheel of another version is refused with both", async () => {
  const page = new FakePage();
  page.behave = (worker) => worker.post({ type: "ready", version: "9.9.9" });
  const error = await rejection(page.connect());
  assert.equal(error.code, "version");
  assert.match(error.message, new RegExp(`client ${VERSION}, wheel 9\\.9\\.9`));
});

test("a worker that dies while it starts is lost", async () => {
  const page = new FakePage();
  page.behave = () => {};
  page.boot = async (worker) => {
    await worker.hold();
    worker.die();
  };
  assert.equal((await rejection(page.connect())).code, "worker-lost");
});

test("a worker that never says a word is given up", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const page = new FakePage();
  page.boot = () => {};
  page.behave = () => {};
  const connecting = page.connect();
  connecting.catch(() => {});
  while (page.worker?.boot === undefined) {
    await Promise.resolve();
  }
  context.mock.timers.tick(30_000);
  await assert.rejects(connecting, /no answer in 30 s/);
});

test("an abort gives the start up with the signal's reason", async () => {
  const page = new FakePage();
  page.behave = () => {};
  const controller = new AbortController();
  const connecting = page.connect({ signal: controller.signal });
  setTimeout(() => controller.abort("changed my mind"), 5);
  assert.equal(await rejection(connecting), "changed my mind");
  assert.ok(page.worker.terminated);

  const early = new FakePage();
  assert.equal(await rejection(early.connect({ signal: AbortSignal.abort("early") })), "early");
  assert.equal(early.workers.length, 0);
});

test("stages are told", async () => {
  const page = new FakePage();
  const stages = [];
  page.boot = async (worker) => {
    await worker.hold();
    worker.post({ type: "stage", stage: "pyodide", loaded: 5, total: null });
  };
  page.behave = (worker, message) => {
    setTimeout(() => FakePage.prototype.behave.call(page, worker, message), 5);
  };
  const gpu = await page.connect({ onProgress: (stage) => stages.push(stage) });
  assert.deepEqual(stages, [{ stage: "pyodide", loaded: 5, total: null }]);
  await gpu.close();
});

test("a canvas is handed over once an adapter is found, and not before", async () => {
  let handed = 0;
  // A message port stands in for the OffscreenCanvas: Node has no other transferable object.
  const canvas = { transferControlToOffscreen: () => (handed++, new MessageChannel().port1) };
  const blind = failing((page) => delete page.gpu);
  await rejection(blind.connect({ canvas }));
  assert.equal(handed, 0);
  const page = new FakePage();
  const gpu = await page.connect({ canvas });
  const [hello, ...transferred] = page.worker.received[0];
  assert.deepEqual(hello.canvases, { canvas: 0 });
  assert.equal(transferred.length, 1);
  await gpu.close();
});

test("a canvas that cannot be handed over is refused", async () => {
  const canvas = {
    transferControlToOffscreen() {
      throw new DOMException("already transferred", "InvalidStateError");
    },
  };
  const error = await rejection(new FakePage().connect({ canvas }));
  assert.ok(error instanceof UsageError);
  assert.match(error.message, /already transferred/);
});

test("no stage is told when the start is over", async () => {
  const page = new FakePage();
  const stages = [];
  const gpu = await page.connect({ onProgress: (stage) => stages.push(stage) });
  page.worker.post({ type: "stage", stage: "server", loaded: 5, total: 5 });
  await turn();
  assert.deepEqual(stages, []);
  await gpu.close();
});
