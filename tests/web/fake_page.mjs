/** A page and a worker for tests: real message ports, and nothing else of a browser. */

import { after } from "node:test";

import { openClient } from "../../web/connect.js";
import { VERSION } from "../../web/protocol.js";
import { check } from "./schema.mjs";

/** Web Locks, as far as liveness uses them. */
export class FakeLocks {
  #held = new Map();

  request(name, options, callback = options) {
    const { signal } = callback === options ? {} : options;
    const turn = (this.#held.get(name) ?? Promise.resolve()).then(() => {
      signal?.throwIfAborted();
      return callback();
    });
    this.#held.set(
      name,
      turn.catch(() => {}),
    );
    const aborted = new Promise((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    return Promise.race([turn, aborted]);
  }
}

/** A worker that does what the test says, at the other end of real ports. */
export class FakeWorker {
  terminated = false;
  /** Messages of the page, as [message, ...buffers]. */
  received = [];
  #listeners = [];
  #release = () => {};

  constructor(page) {
    this.page = page;
  }

  addEventListener(type, listener) {
    this.#listeners.push(listener);
  }

  postMessage(boot) {
    check("boot", boot);
    this.boot = boot;
    boot.port.on("message", ([text, ...buffers]) => {
      const message = JSON.parse(text);
      check(`page.${message.type}`, message);
      this.received.push([message, ...buffers]);
      this.page.behave(this, message, buffers);
    });
    boot.port.unref();
    this.page.boot(this);
  }

  terminate() {
    this.terminated = true;
    this.die();
  }

  /** What worker.js does first. */
  async hold() {
    const held = new Promise((resolve) => {
      this.#release = resolve;
    });
    await new Promise((resolve) => {
      void this.page.locks.request(this.boot.lock, () => {
        resolve();
        return held;
      });
    });
    this.post({ type: "alive" });
  }

  /** The browser lets go of a dead worker's locks. */
  die() {
    this.#release();
    this.boot?.port.close();
  }

  fail(event) {
    for (const listener of this.#listeners) {
      listener(event);
    }
  }

  /** Sends a message that is one; what is none goes to the port itself. */
  post(message, buffers = []) {
    check(`worker.${message.type}`, message);
    this.boot.port.postMessage([JSON.stringify(message), ...buffers], buffers);
  }

  /** Answers a request. */
  done(message, value, buffers) {
    this.post({ type: "done", id: message.id, value }, buffers);
  }
}

/** Every worker of this process: an open port would keep it from ending when a test has failed. */
const all = [];

after(() => {
  for (const worker of all) {
    worker.die();
  }
});

export class FakePage {
  gpu = { requestAdapter: () => Promise.resolve({}) };
  isSecureContext = true;
  locks = new FakeLocks();
  baseURL = "http://page.test/folder/index.html";
  statuses = {};
  types = {};
  workers = [];

  spawn = (url) => {
    const worker = new FakeWorker(this);
    worker.url = url;
    this.workers.push(worker);
    all.push(worker);
    return worker;
  };

  fetch = (url) => {
    const status = this.statuses[url] ?? 200;
    const headers = new Headers({ "content-type": this.types[url] ?? "text/javascript" });
    return Promise.resolve({ ok: status === 200, status, headers });
  };

  get worker() {
    return this.workers.at(-1);
  }

  /** What a new worker does; the default starts well. */
  boot(worker) {
    void worker.hold();
  }

  /** What a worker answers; the default only welcomes, and says good-bye. */
  behave(worker, message) {
    if (message.type === "hello") {
      worker.post({ type: "ready", version: VERSION });
    } else if (message.type === "close") {
      worker.post({ type: "closed" });
    } else {
      this.answer(worker, message);
    }
  }

  /** What it answers to requests: nothing, by default. */
  answer() {}

  connect(options = {}) {
    return openClient(
      this,
      { worker: "http://cdn.test/worker.js", wheel: "http://cdn.test/aiogpu.whl" },
      options,
    );
  }
}

/** An exception as it crosses. */
export function wireError(fields) {
  const empty = { operation: null, line: null, traceback: null, cause: null };
  return { code: "remote", name: "ValueError", message: "bad", ...empty, ...fields };
}

/** The error of a promise that must reject, within a second. */
export async function rejection(promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(new Error("did not settle")), 1000);
  });
  try {
    const error = await Promise.race([
      promise.then(
        (value) => new Error(`resolved with ${String(value)}`),
        (reason) => reason,
      ),
      late,
    ]);
    return error;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when what was posted before has arrived. */
export function turn() {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
