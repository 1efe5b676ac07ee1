/**
 * aiogpu for a web page, as a classic script: `tools/bundle.mjs` makes `dist/aiogpu.iife.js` of it, which sets
 * `window.aiogpu`. The worker and the wheel stand beside that file.
 */

import { openClient, pageIsSupported, thisPage } from "./connect.js";
import { VERSION } from "./protocol.js";
import { runBlocks } from "./scripts.js";

export * from "./errors.js";
export { Client } from "./client.js";
export { RemoteArray } from "./remote.js";
export { RemoteStream } from "./stream.js";
export { VERSION } from "./protocol.js";

/** @typedef {import("./connect.js").ConnectOptions} ConnectOptions */

// Only while the script itself runs does the document know which one it is.
const script = typeof document === "undefined" ? null : document.currentScript;
const base = script instanceof HTMLScriptElement ? script.src : globalThis.location?.href;

/** @type {import("./connect.js").Places} */
const PLACES = {
  get worker() {
    return new URL("worker.js", base).href;
  },
  get wheel() {
    return new URL(`aiogpu-${VERSION}-py3-none-any.whl`, base).href;
  },
};

/**
 * Starts a worker with Python and aiogpu in it; see `connect` of index.js.
 *
 * @param {ConnectOptions} [options]
 */
export async function connect(options = {}) {
  return openClient(thisPage(), PLACES, options);
}

/**
 * Runs the page's `<script type="text/aiogpu">` blocks, in order, in one worker; see index.js.
 *
 * @param {ConnectOptions} [options]
 */
export async function runScripts(options = {}) {
  return runBlocks(connect, options);
}

/** @returns {Promise<boolean>} whether this browser has WebGPU and an adapter for it; never rejects */
export async function isSupported() {
  return pageIsSupported(thisPage());
}

// Blocks run by themselves once the page is parsed; `data-index-url` and the like are connect's options. The error
// of a block is shown on the page, and again on the console as that of a script.
if (typeof document !== "undefined") {
  const { indexUrl: indexURL, workerUrl: workerURL, wheelUrl: wheelURL } = { ...script?.dataset };
  const urls = { indexURL, workerURL, wheelURL };
  document.addEventListener("DOMContentLoaded", () => void runScripts(urls));
}
