/**
 * aiogpu for a web page, as an ES module.
 *
 *     import { connect } from "aiogpu";
 *     const gpu = await connect({ packages: ["numpy"] });
 *     await gpu.run("import aiogpu as gpu; await gpu.arange(4).sum().item()"); // 6
 *
 * The worker and the wheel stand where `places.js` says.
 */

import { openClient, pageIsSupported, thisPage } from "./connect.js";
import { PLACES } from "./places.js";
import { runBlocks } from "./scripts.js";

export * from "./errors.js";
export { Client } from "./client.js";
export { RemoteArray } from "./remote.js";
export { RemoteStream } from "./stream.js";
export { VERSION } from "./protocol.js";

/** @typedef {import("./connect.js").ConnectOptions} ConnectOptions */
/** @typedef {import("./using.js").Using} Using */

/**
 * Starts a worker with Python and aiogpu in it.
 *
 * @param {ConnectOptions} [options] every one has a default; URLs are resolved against the page
 * @returns {Promise<import("./client.js").Client>} resolves when Python answers
 * @throws {NoWebGPUError} before anything is downloaded: no WebGPU, or a page that is not secure
 * @throws {NoAdapterError} before anything is downloaded: WebGPU without an adapter
 * @throws {BootError} worker, Pyodide, wheel, a package or a module did not load: the message says which, and why
 * @throws {VersionError} client and wheel are not of one version
 * @throws {WorkerLostError} the worker died while it started
 */
export async function connect(options = {}) {
  return openClient(thisPage(), PLACES, options);
}

/**
 * Runs the page's `<script type="text/aiogpu">` blocks, in order, in one worker.
 *
 * @param {ConnectOptions} [options]
 * @returns {Promise<import("./client.js").Client | null>} the client; null when there is no block
 * @throws {AioGpuError} what a block, or the start, has failed with: it is shown where the block stands, too
 */
export async function runScripts(options = {}) {
  return runBlocks(connect, options);
}

/** @returns {Promise<boolean>} whether this browser has WebGPU and an adapter for it; never rejects */
export async function isSupported() {
  return pageIsSupported(thisPage());
}
