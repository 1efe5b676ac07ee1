/** The page's end of the bridge: Python on the GPU, as promises. */

import { ClosedError, UsageError, callSite, withSite } from "./errors.js";
import { Outgoing } from "./outgoing.js";

/** @typedef {import("./errors.js").AioGpuError} AioGpuError */
/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("./link.js").Progress} Progress */
/** @typedef {import("./protocol.js").PageMessage} PageMessage */

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] cancels the Python task at its next await
 * @property {(progress: Progress) => void} [onProgress] what Python says with `aiogpu.progress`
 * @property {readonly ArrayBuffer[]} [transfer] buffers among the values that are given away, not copied
 */

/**
 * @typedef {object} RunOptions
 * @property {{ [name: string]: unknown }} [locals] names that only this run sees
 * @property {"value"} [result]
 * @property {string} [filename] for tracebacks; a number is added to make it unique
 */

/** How long `close` waits for the server to let go of what it holds, before it ends the worker all the same. */
const FAREWELL_MS = 500;

/**
 * A worker with Python in it. Made by `connect`.
 *
 * Events, all with their content in `detail`: `stdout` and `stderr` (one line of text), `progress`
 * (`{ done, total, message }`), `devicelost` (`{ reason, message }`).
 */
export class Client extends EventTarget {
  #link;

  /** @param {Link} link that is ready */
  constructor(link) {
    super();
    this.#link = link;
    link.listener.event = (type, detail) => {
      this.dispatchEvent(new CustomEvent(type, { detail }));
    };
  }

  /**
   * Runs Python source in the worker.
   *
   * Top-level `await` works. Names that the source binds stay for later runs; `locals` are this run's own.
   *
   * @param {string} source
   * @param {RunOptions & CallOptions} [options]
   * @returns {Promise<any>} the value of the last expression, null when the source ends in a statement
   * @throws {RemoteError} the source raised; aiogpu's own errors come as their own classes
   * @throws {UsageError} a value, on either way, is not one that can cross: the message names where it is
   * @throws {ClosedError} the client was closed before or meanwhile
   * @throws {WorkerLostError} the worker died
   */
  async run(source, options = {}) {
    const site = callSite();
    const { locals = {}, result = "value", filename = "run" } = options;
    return this.#request(site, options, (outgoing) => {
      if (typeof source !== "string") {
        throw new UsageError(`run: ${typeof source}: the source must be a string`);
      }
      if (result !== "value") {
        throw new UsageError(
          `run: result is ${JSON.stringify(result)}: this version has "value" only`,
        );
      }
      const tree = outgoing.encode(locals, "locals");
      return (id) => ({ type: "run", id, source, filename, locals: tree });
    });
  }

  /**
   * Calls a Python function; a coroutine function is awaited.
   *
   * @param {string} target "module:function"; the module is imported; "__main__" has what `run` has bound
   * @param {readonly unknown[]} [args]
   * @param {CallOptions & { kwargs?: { [name: string]: unknown } }} [options]
   * @returns {Promise<any>} what the function returned; rejects as `run` does
   */
  async call(target, args = [], options = {}) {
    const site = callSite();
    const { kwargs = {} } = options;
    return this.#request(site, options, (outgoing) => {
      if (typeof target !== "string" || !/^[\w.]+:[\w.]+$/.test(target)) {
        throw new UsageError(`call: ${JSON.stringify(target)}: must be "module:function"`);
      }
      if (!Array.isArray(args)) {
        throw new UsageError(`call: args is ${typeof args}: must be an array`);
      }
      const trees = {
        args: outgoing.encode(args, "args"),
        kwargs: outgoing.encode(kwargs, "kwargs"),
      };
      return (id) => ({ type: "call", id, target, ...trees });
    });
  }

  /**
   * Ends the worker; whatever is pending rejects with ClosedError at once.
   *
   * @returns {Promise<void>} resolves when the worker has ended; a second call changes nothing
   */
  async close() {
    const farewell = this.#link.farewell();
    const refusal = () => new ClosedError("close: the client is closed");
    this.#link.refuse(refusal);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, FAREWELL_MS);
    });
    await Promise.race([farewell, patience]);
    clearTimeout(timer);
    this.#link.end(refusal, null);
  }

  /** Resolves when the client has ended: with null after `close`, else with the error. Never rejects. */
  get closed() {
    return this.#link.ended;
  }

  /**
   * @param {string} site
   * @param {CallOptions} options
   * @param {(outgoing: Outgoing) => (id: number) => PageMessage} prepare
   */
  async #request(site, { signal, onProgress, transfer }, prepare) {
    try {
      const outgoing = new Outgoing(transfer);
      const message = prepare(outgoing);
      outgoing.finish();
      return await this.#link.request(message, outgoing.buffers, { site, signal, onProgress });
    } catch (error) {
      throw error instanceof UsageError && error.pythonName === null
        ? withSite(error, site)
        : error;
    }
  }
}
