/**
 * One conversation with a worker's server: what was asked, what came back, and how it ends.
 *
 * A link is booting, then ready, then ended. Everything that it ever promised settles: `end` rejects whatever is
 * pending, once, from whichever side the end comes (failed start, lost worker, broken protocol, `close`).
 */

import { deferred } from "./deferred.js";
import {
  ProtocolError,
  VersionError,
  WorkerLostError,
  bootFailure,
  fromWire,
  withSite,
} from "./errors.js";
import { VERSION } from "./protocol.js";
import { decode } from "./wire.js";

/**
 * @template T
 * @typedef {import("./deferred.js").Deferred<T>} Deferred
 */
/** @typedef {import("./errors.js").AioGpuError} AioGpuError */
/** @typedef {import("./protocol.js").PageMessage} PageMessage */
/** @typedef {import("./protocol.js").WorkerMessage} WorkerMessage */
/** @typedef {import("./protocol.js").WireError} WireError */
/** @typedef {{ done: number, total: number | null, message: string }} Progress */
/** @typedef {{ stage: string, loaded: number, total: number | null }} Stage */

/**
 * @typedef {object} Waiting
 * @property {(value: unknown) => void} resolve
 * @property {(reason: unknown) => void} reject
 * @property {string} site
 * @property {((progress: Progress) => void) | undefined} onProgress
 * @property {() => void} forget stops listening to the signal
 */

/**
 * @typedef {object} Listener
 * @property {() => void} [alive] the worker runs and holds its lock
 * @property {(stage: Stage) => void} [stage]
 * @property {(type: string, detail: unknown) => void} [event] stdout, stderr, progress or devicelost
 * @property {() => void} [ended] the worker is to be ended too
 */

export class Link {
  /** @type {Listener} */
  listener = {};
  #port;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #lastId = 0;
  /** @type {(() => AioGpuError) | undefined} makes the rejection of whatever is asked after the end */
  #refusal;
  #isReady = false;
  /** @type {Deferred<void>} */
  #ready = deferred();
  /** @type {Deferred<AioGpuError | null>} */
  #ended = deferred();
  /** @type {() => void} */
  #closed = () => {};

  /** @param {MessagePort} port */
  constructor(port) {
    this.#port = port;
    // Whoever has given up on the start (an aborted connect) no longer listens, and must not cause a stray report.
    this.#ready.promise.catch(() => {});
    port.onmessage = (event) => this.#receive(event.data);
    port.onmessageerror = () => this.#broken("a message could not be read");
  }

  /** Resolves when Python answers, rejects when the start fails. */
  get ready() {
    return this.#ready.promise;
  }

  /** Resolves with what ended the link, null for `close`; never rejects. */
  get ended() {
    return this.#ended.promise;
  }

  /** True from Python's first answer on: an error in the worker's script is a failed start before it. */
  get isReady() {
    return this.#isReady;
  }

  /** @param {PageMessage} message @param {Transferable[]} [transfer] referred to by position */
  post(message, transfer = []) {
    this.#port.postMessage([JSON.stringify(message), ...transfer], transfer);
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param {(id: number) => PageMessage} message
   * @param {ArrayBuffer[]} buffers
   * @param {{ site: string, signal?: AbortSignal, onProgress?: (progress: Progress) => void }} options
   * @returns {Promise<unknown>} rejects with the signal's reason as soon as it fires, whatever Python is doing
   */
  request(message, buffers, { site, signal, onProgress }) {
    return new Promise((resolve, reject) => {
      if (this.#refusal !== undefined) {
        reject(withSite(this.#refusal(), site));
        return;
      }
      if (signal?.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const id = ++this.#lastId;
      this.post(message(id), buffers);
      const abort = () => {
        this.#take(id);
        this.post({ type: "cancel", id });
        reject(reasonOf(signal));
      };
      signal?.addEventListener("abort", abort);
      const forget = () => signal?.removeEventListener("abort", abort);
      this.#waiting.set(id, { resolve, reject, site, onProgress, forget });
    });
  }

  /**
   * Asks the server to cancel what it does and to let go of what it holds.
   *
   * @returns {Promise<void>} resolves when the server says that it has, or the link has ended
   */
  async farewell() {
    if (this.#refusal !== undefined) {
      return;
    }
    const answer = new Promise((/** @type {(value: void) => void} */ resolve) => {
      this.#closed = resolve;
    });
    this.post({ type: "close" });
    await Promise.race([answer, this.ended]);
  }

  /** Rejects all that waits; what is asked later is rejected too. @param {() => AioGpuError} refusal */
  refuse(refusal) {
    this.#refusal ??= refusal;
    for (const [id, { reject, site }] of this.#waiting) {
      this.#take(id);
      reject(withSite(refusal(), site));
    }
  }

  /**
   * Ends the link. Only the first call does anything.
   *
   * @param {() => AioGpuError} refusal makes an error for each pending request, and each later one
   * @param {AioGpuError | null} [cause] what `ended` resolves with
   */
  end(refusal, cause = refusal()) {
    this.refuse(refusal);
    this.#ready.reject(cause ?? refusal());
    this.#ended.resolve(cause);
    this.#port.close();
    this.listener.ended?.();
    this.listener = {};
  }

  /** @param {number} id */
  #take(id) {
    const waiting = this.#waiting.get(id);
    waiting?.forget();
    this.#waiting.delete(id);
    return waiting;
  }

  /** @param {string} what */
  #broken(what) {
    this.end(() => new ProtocolError(`worker: ${what}`));
  }

  /** @param {unknown} data */
  #receive(data) {
    /** @type {[WorkerMessage, unknown[]]} */
    let arrived;
    try {
      const [text, ...buffers] = /** @type {[string]} */ (data);
      arrived = [/** @type {WorkerMessage} */ (JSON.parse(text)), buffers];
    } catch {
      this.#broken("sent something that is no message of aiogpu's");
      return;
    }
    this.#handle(...arrived);
  }

  /** @param {WorkerMessage} message @param {unknown[]} buffers */
  #handle(message, buffers) {
    switch (message?.type) {
      case "alive":
        this.listener.alive?.();
        break;
      case "stage":
        this.listener.stage?.({
          stage: message.stage,
          loaded: message.loaded,
          total: message.total,
        });
        break;
      case "ready":
        this.#welcome(message.version);
        break;
      case "failed":
        this.end(bootFailure(message.stage, message.error));
        break;
      case "done":
        this.#done(message.id, () => decode(message.value, buffers));
        break;
      case "error":
        this.#failed(message.id, message.error);
        break;
      case "progress":
        this.#progress(message.id, {
          done: message.done,
          total: message.total,
          message: message.message,
        });
        break;
      case "stdout":
      case "stderr":
        this.listener.event?.(message.type, message.text);
        break;
      case "devicelost":
        this.listener.event?.("devicelost", { reason: message.reason, message: message.message });
        break;
      case "lost":
        this.end(() => new WorkerLostError(`worker: Python has crashed: ${message.reason}`));
        break;
      case "closed":
        this.#closed();
        break;
      default:
        this.#broken("sent a message of a type that is not aiogpu's");
    }
  }

  /** @param {string} version */
  #welcome(version) {
    if (version === VERSION) {
      this.#isReady = true;
      this.#ready.resolve();
    } else {
      this.end(
        () => new VersionError(`connect: client ${VERSION}, wheel ${version}: they must be equal`),
      );
    }
  }

  /** @param {number} id @param {() => unknown} value */
  #done(id, value) {
    const waiting = this.#take(id);
    try {
      waiting?.resolve(value());
    } catch (error) {
      waiting?.reject(withSite(/** @type {ProtocolError} */ (error), waiting.site));
    }
  }

  /** @param {number | null} id @param {WireError} error */
  #failed(id, error) {
    if (id === null) {
      this.end(() => fromWire(error));
      return;
    }
    const waiting = this.#take(id);
    waiting?.reject(withSite(fromWire(error), waiting.site));
  }

  /** @param {number} id @param {Progress} progress */
  #progress(id, progress) {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) {
      this.listener.event?.("progress", progress);
      waiting.onProgress?.(progress);
    }
  }
}

/** @param {AbortSignal | undefined} signal @returns {Error} whatever the page aborted with, as it is */
function reasonOf(signal) {
  /** @type {unknown} */
  const reason = signal?.reason;
  return /** @type {Error} */ (reason);
}
