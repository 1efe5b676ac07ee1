/**
 * aiogpu for a web page, as a classic script: `tools/bundle.mjs` makes `dist/aiogpu.iife.js` of it, which sets
 * `window.aiogpu`. The worker and the wheel stand beside that file.
 */

import { openClient, pageIsSupported, thisPage } from "./connect.js";
import { VERSION } from "./protocol.js";

export * from "./errors.js";
export { Client } from "./client.js";
export { VERSION } from "./protocol.js";

/** @typedef {import("./connect.js").ConnectOptions} ConnectOptions */

// Only while the script itself runs does the document know which one it is.
const script = typeof document === "undefined" ? null : document.currentScript;
const base = script instanceof HTMLScriptElement ? script.src : globalThis.location?.href;

/** @param {string} file */
const beside = (file) => new URL(file, base).href;

/**
 * Starts a worker with Python and aiogpu in it; see `connect` of index.js.
 *
 * @param {ConnectOptions} [options]
 */
export async function connect(options = {}) {
  const places = {
    worker: beside("worker.js"),
    wheel: beside(`aiogpu-${VERSION}-py3-none-any.whl`),
  };
  return openClient(thisPage(), places, options);
}

/** @returns {Promise<boolean>} whether this browser has WebGPU and an adapter for it; never rejects */
export async function isSupported() {
  return pageIsSupported(thisPage());
}
