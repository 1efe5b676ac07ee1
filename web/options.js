/** What may be said beside a request. */

import { UsageError } from "./errors.js";

/** @typedef {import("./outgoing.js").Given} Given */
/** @typedef {import("./pending.js").Progress} Progress */

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] cancels the Python task at its next await
 * @property {(progress: Progress) => void} [onProgress] what Python says with `aiogpu.progress`
 * @property {readonly Given[]} [transfer] buffers and bitmaps among the values that are given away, not copied
 * @property {"value" | "handle"} [result] how arrays come back: as typed arrays, or as handles on the GPU
 */

/**
 * @typedef {object} RunOptions
 * @property {{ [name: string]: unknown }} [locals] names that only this run sees
 * @property {string} [filename] for tracebacks; a number is added to make it unique
 */

/**
 * @param {string} what
 * @param {CallOptions} options
 * @throws {UsageError} there is no such form of a result
 */
export function resultOf(what, { result = "value" }) {
  if (result !== "value" && result !== "handle") {
    const given = JSON.stringify(result);
    throw new UsageError(`${what}: result is ${given}: must be "value" or "handle"`);
  }
  return result;
}
