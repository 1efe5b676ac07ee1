/**
 * The worker: starts Pyodide, installs aiogpu's wheel, and hands the port to `aiogpu.server`. No logic beyond that.
 *
 * What the page posts to the port meanwhile waits in it until Python listens.
 */

import * as recorder from "./py/aiogpu/gpu/index.js";
import { requireAdapter } from "./web/adapter.js";
import { Downloads } from "./web/downloads.js";
import { AioGpuError } from "./web/errors.js";
import { hold } from "./web/liveness.js";
import { installWheel } from "./web/wheel.js";

/** @typedef {import("./web/protocol.js").BootMessage} BootMessage */
/** @typedef {import("./web/protocol.js").WorkerMessage} WorkerMessage */
/** @typedef {import("pyodide").PyodideAPI} Pyodide */

/** @typedef {{ install: (wanted: string | string[]) => Promise<void> }} Micropip */
/** @typedef {{ serve: (port: MessagePort, interrupt: Uint8Array | null) => void }} Server */

/** @param {MessageEvent<BootMessage>} event */
const start = (event) => void boot(event.data);

addEventListener("message", start, { once: true });

/** @param {BootMessage} message */
async function boot({ port, lock, indexURL, wheelURL, packages, interrupt }) {
  let stage = "worker";
  /** @param {WorkerMessage} message */
  const post = (message) => port.postMessage([JSON.stringify(message)]);
  const report = () =>
    post({ type: "stage", stage, loaded: downloads.nbytes, total: downloads.total });
  const downloads = new Downloads(seldom(report, 1000 / 60));
  /** @param {string} next */
  const enter = (next) => {
    stage = next;
    report();
  };
  try {
    await hold(navigator.locks, lock);
    post({ type: "alive" });
    await requireAdapter({ gpu: navigator.gpu, isSecureContext }, "worker");
    enter("pyodide");
    const pyodide = await downloads.needing(load(indexURL, post));
    const shared = interrupt && new Uint8Array(interrupt);
    if (shared !== null) {
      pyodide.setInterruptBuffer(atomic(shared));
    }
    onFatal(pyodide, (reason) => post({ type: "lost", reason }));
    pyodide.registerJsModule("_aiogpu_recorder", recorder);
    enter("packages");
    const micropip = await loadMicropip(pyodide);
    await micropip.install(packages);
    enter("wheel");
    await installWheel(pyodide, wheelURL);
    enter("server");
    /** @type {unknown} */
    const server = pyodide.pyimport("aiogpu.server");
    /** @type {Server} */ (server).serve(port, shared);
  } catch (error) {
    post({ type: "failed", stage, error: described(error, downloads.problems) });
  } finally {
    downloads.stop();
  }
}

/** @param {string} indexURL @param {(message: WorkerMessage) => void} post @returns {Promise<Pyodide>} */
async function load(indexURL, post) {
  /** @type {unknown} */
  const module = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ `${indexURL}pyodide.mjs`
  );
  return /** @type {typeof import("pyodide")} */ (module).loadPyodide({
    indexURL,
    stdout: (text) => post({ type: "stdout", text }),
    stderr: (text) => post({ type: "stderr", text }),
  });
}

/**
 * An interrupt buffer for Pyodide that loses nothing: CPython reads the byte and then zeroes it, and what the page set
 * in between would be gone.
 *
 * @param {Uint8Array} shared
 */
function atomic(shared) {
  const buffer = {
    get 0() {
      return Atomics.exchange(shared, 0, 0);
    },
    set 0(_) {},
  };
  /** @type {unknown} */
  const opened = buffer;
  return /** @type {Uint8Array} */ (opened);
}

/** @param {() => void} action @param {number} interval_ms at least between two; the last of a burst comes late */
function seldom(action, interval_ms) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      action();
    }, interval_ms);
  };
}

/**
 * Python that has crashed answers nothing any more, while its worker lives on and holds its lock. This hook is the
 * only word of it; it is undocumented, and what Pyodide's own console page uses (314.0.3).
 *
 * @param {Pyodide} pyodide
 * @param {(reason: string) => void} callback
 */
function onFatal(pyodide, callback) {
  /** @type {unknown} */
  const opened = pyodide;
  const { _api } = /** @type {{ _api: { on_fatal?: (error: unknown) => void } }} */ (opened);
  _api.on_fatal = (error) => callback(String(error));
}

/** @param {Pyodide} pyodide */
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

/** @param {unknown} error @param {string[]} problems @returns {import("./web/protocol.js").WireError} */
function described(error, problems) {
  const code = error instanceof AioGpuError ? error.code : "boot";
  const name = error instanceof Error ? error.name : "Error";
  const text = error instanceof Error ? error.message : String(error);
  // What could not be downloaded first: it is the reason of the rest.
  const message = [...new Set([...problems, text])].join("\n");
  const operation = error instanceof AioGpuError ? error.operation : null;
  return { code, name, message, operation, line: null, traceback: null, cause: null };
}
