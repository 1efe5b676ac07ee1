/** Is there a GPU to work with? Asked on the page before anything is downloaded, and again in the worker. */

import { NoAdapterError, NoWebGPUError } from "./errors.js";

/**
 * @typedef {object} GPUHost
 * @property {Pick<GPU, "requestAdapter"> | undefined} gpu
 * @property {boolean} isSecureContext
 */

/**
 * @param {GPUHost} host
 * @param {"page" | "worker"} place named in the errors: a browser may have WebGPU in one and not in the other
 * @returns {Promise<void>}
 * @throws {NoWebGPUError} no `navigator.gpu`, with its own message when that is for want of https
 * @throws {NoAdapterError} `requestAdapter` gave null
 */
export async function requireAdapter({ gpu, isSecureContext }, place) {
  if (!isSecureContext) {
    throw new NoWebGPUError(
      `connect: the ${place} is not a secure context: browsers offer WebGPU over https and on localhost only`,
    );
  }
  if (gpu === undefined) {
    throw new NoWebGPUError(
      `connect: no navigator.gpu in the ${place}: this browser has no WebGPU, or has it switched off`,
    );
  }
  if ((await gpu.requestAdapter()) === null) {
    throw new NoAdapterError(
      `connect: navigator.gpu.requestAdapter() gave null in the ${place}: there is WebGPU but no adapter for it`,
    );
  }
}
