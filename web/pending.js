/** Requests that wait for their answers. */

import { fromWire, withSite } from "./errors.js";

/** @typedef {import("./errors.js").AioGpuError} AioGpuError */
/** @typedef {import("./protocol.js").WireError} WireError */
/** @typedef {import("./sites.js").Sites} Sites */
/** @typedef {{ done: number, total: number | null, message: string }} Progress */

/**
 * @typedef {object} Waiting
 * @property {(value: unknown) => void} resolve
 * @property {(reason: unknown) => void} reject
 * @property {string} site where the page made the call
 * @property {((progress: Progress) => void) | undefined} onProgress
 * @property {() => void} forget stops listening to the signal
 */

export class Pending {
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #lastId = 0;

  get count() {
    return this.#waiting.size;
  }

  newId() {
    return ++this.#lastId;
  }

  /** @param {number} id @param {Waiting} waiting */
  add(id, waiting) {
    this.#waiting.set(id, waiting);
  }

  /** @param {number} id @returns {Waiting | undefined} it waits no more */
  take(id) {
    const waiting = this.#waiting.get(id);
    waiting?.forget();
    this.#waiting.delete(id);
    return waiting;
  }

  /** @param {() => AioGpuError} refusal makes an error for each */
  rejectAll(refusal) {
    for (const id of [...this.#waiting.keys()]) {
      const waiting = this.take(id);
      waiting?.reject(withSite(refusal(), waiting.site));
    }
  }

  /** @param {number} id @param {() => unknown} value may throw: then the request rejects */
  done(id, value) {
    const waiting = this.take(id);
    try {
      waiting?.resolve(value());
    } catch (error) {
      waiting?.reject(withSite(/** @type {AioGpuError} */ (error), waiting.site));
    }
  }

  /** @param {number} id @param {WireError} wire @param {(error: AioGpuError) => AioGpuError} show */
  failed(id, wire, show) {
    const waiting = this.take(id);
    waiting?.reject(show(withSite(fromWire(wire), waiting.site)));
  }

  /** @param {number} id @param {Progress} progress @returns {boolean} whether anybody waits for it */
  progress(id, progress) {
    const waiting = this.#waiting.get(id);
    waiting?.onProgress?.(progress);
    return waiting !== undefined;
  }
}
