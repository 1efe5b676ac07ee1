/**
 * The worker: starts Pyodide, installs aiogpu's wheel, and hands the port to `aiogpu.server`. No logic beyond that.
 *
 * What the page posts to the port meanwhile waits in it until Python listens.
 */

import * as recorder from "./py/aiogpu/gpu/index.js";
import { requireAdapter } from "./web/adapter.js";
import { AioGpuError } from "./web/errors.js";
import { hold } from "./web/liveness.js";
import { load } from "./web/pyodide.js";

/** @typedef {import("./web/protocol.js").BootMessage} BootMessage */
/** @typedef {import("./web/protocol.js").WorkerMessage} WorkerMessage */

/** @typedef {{ install: (wanted: string | string[]) => Promise<void> }} Micropip */
/** @typedef {{ serve: (port: MessagePort) => void }} Server */

/** @param {MessageEvent<BootMessage>} event */
const start = (event) => void boot(event.data);

addEventListener("message", start, { once: true });

/** @param {BootMessage} message */
async function boot({ port, lock, indexURL, wheelURL, packages }) {
  /** @param {WorkerMessage} message */
  const post = (message) => port.postMessage([JSON.stringify(message)]);
  const stages = new Stages(post);
  try {
    await hold(navigator.locks, lock);
    post({ type: "alive" });
    await requireAdapter({ gpu: navigator.gpu, isSecureContext }, "worker");
    stages.enter("pyodide");
    const pyodide = await load(indexURL, {
      stdout: (text) => post({ type: "stdout", text }),
      stderr: (text) => post({ type: "stderr", text }),
    });
    pyodide.registerJsModule("_aiogpu_recorder", recorder);
    stages.enter("packages");
    const micropip = await loadMicropip(pyodide);
    await micropip.install(packages);
    stages.enter("wheel");
    await micropip.install(wheelURL);
    stages.enter("server");
    /** @type {unknown} */
    const server = pyodide.pyimport("aiogpu.server");
    /** @type {Server} */ (server).serve(port);
  } catch (error) {
    post({ type: "failed", stage: stages.current, error: described(error) });
  } finally {
    stages.end();
  }
}

/** @param {import("pyodide").PyodideAPI} pyodide */
async function loadMicropip(pyodide) {
  // loadPackage reports what it could not load, and resolves all the same.
  /** @type {string[]} */
  const failures = [];
  await pyodide.loadPackage("micropip", { errorCallback: (text) => failures.push(text) });
  if (failures.length > 0) {
    throw new Error(failures.join("\n"));
  }
  /** @type {unknown} */
  const micropip = pyodide.pyimport("micropip");
  return /** @type {Micropip} */ (micropip);
}

/** Where the start has got to, and how many bytes it has taken. */
class Stages {
  current = "worker";
  #loaded = 0;
  #post;
  #observer;

  /** @param {(message: WorkerMessage) => void} post */
  constructor(post) {
    this.#post = post;
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of /** @type {PerformanceResourceTiming[]} */ (list.getEntries())) {
        this.#loaded += entry.encodedBodySize;
      }
      this.#report();
    });
    this.#observer.observe({ type: "resource" });
  }

  /** @param {string} stage */
  enter(stage) {
    this.current = stage;
    this.#report();
  }

  end() {
    this.#observer.disconnect();
  }

  #report() {
    this.#post({ type: "stage", stage: this.current, loaded: this.#loaded, total: null });
  }
}

/** @param {unknown} error @returns {import("./web/protocol.js").WireError} */
function described(error) {
  const code = error instanceof AioGpuError ? error.code : "boot";
  const name = error instanceof Error ? error.name : "Error";
  const message = error instanceof Error ? error.message : String(error);
  return { code, name, message, traceback: null, cause: null };
}
