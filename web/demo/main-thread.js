/** The same page with Python on its own thread: without a worker, and without aiogpu's client. */

import { requireAdapter } from "../adapter.js";
import { VERSION } from "../protocol.js";
import { start } from "./app.js";

/** @typedef {import("./app.js").Detected} Detected */
/** @typedef {import("./app.js").Compared} Compared */
/** @typedef {import("./app.js").Warm} Warm */
/** @typedef {import("pyodide/ffi").PyProxy} PyProxy */
/** @typedef {{ getBuffer: (type: "u8") => { data: Uint8Array, release: () => void } }} WithBuffer */
/** @typedef {{ [name: string]: (...args: unknown[]) => Promise<PyProxy & { pop: (name: string) => PyProxy & WithBuffer }> }} Module */
/**
 * What is used of Pyodide.
 *
 * @typedef {object} Pyodide
 * @property {(names: string[]) => Promise<unknown>} loadPackage
 * @property {(name: string) => unknown} pyimport
 * @property {{ writeFile: (path: string, text: string) => void }} FS
 */
/** @typedef {{ install: (wanted: string | string[]) => Promise<void> }} Micropip */

/** @param {PyProxy} proxy of a dict @returns {unknown} */
function plain(proxy) {
  /** @type {unknown} */
  const value = proxy.toJs({ dict_converter: Object.fromEntries });
  proxy.destroy();
  return value;
}

/** An error of the start says which part did not load. */
class BootError extends Error {
  code = "boot";
}

/**
 * @template T
 * @param {string} what
 * @param {Promise<T>} promise
 */
async function loading(what, promise) {
  try {
    return await promise;
  } catch (cause) {
    throw new BootError(`${what}: ${String(cause)}`, { cause });
  }
}

/** @param {string} indexURL */
async function boot(indexURL) {
  /** @type {unknown} */
  const loaded = await import(`${indexURL}pyodide.mjs`);
  const { loadPyodide } =
    /** @type {{ loadPyodide: (options: { indexURL: string }) => Promise<unknown> }} */ (loaded);
  return /** @type {Pyodide} */ (await loadPyodide({ indexURL }));
}

void start(async ({ indexURL, wheelURL, pythonURL, canvas, onProgress }) => {
  await requireAdapter({ gpu: navigator.gpu, isSecureContext }, "page");
  onProgress("Loading Python", 0.15);
  const pyodide = await loading("Pyodide", boot(indexURL));
  onProgress("Loading NumPy", 0.5);
  await loading("packages", pyodide.loadPackage(["numpy", "micropip"]));
  onProgress("Installing aiogpu", 0.75);
  const wheel = wheelURL ?? `../../dist/aiogpu-${VERSION}-py3-none-any.whl`;
  const { href } = new URL(wheel, location.href);
  const micropip = /** @type {Micropip} */ (pyodide.pyimport("micropip"));
  await loading(href, micropip.install(href));
  const response = await fetch(pythonURL);
  pyodide.FS.writeFile("edges.py", await response.text());
  const edges = /** @type {Required<Module>} */ (pyodide.pyimport("edges"));
  /** @param {string} name @param {unknown[]} args */
  const call = (name, ...args) => /** @type {Module[string]} */ (edges[name])(...args);
  void call("attach", canvas);
  return {
    warmUp: async () => /** @type {Warm} */ (plain(await call("warm_up"))),
    idle: async (seconds) => Number(await call("idle", seconds)),
    detect: async ({ data, width, height }) => {
      const found = await call("detect", data, width, height);
      const array = found.pop("edges");
      const buffer = array.getBuffer("u8");
      const copy = buffer.data.slice();
      buffer.release();
      array.destroy();
      return { .../** @type {Detected} */ (plain(found)), edges: copy };
    },
    compare: async () => /** @type {Compared} */ (plain(await call("compare"))),
    lost: new Promise(() => {}),
  };
});
