/**
 * One conversation with a worker's server: what was asked, what came back, and how it ends.
 *
 * A link is booting, then ready, then ended. Everything that it ever promised settles: `end` rejects whatever is
 * pending, once, from whichever side the end comes (failed start, lost worker, broken protocol, `close`).
 */

import { deferred } from "./deferred.js";
import {
  ProtocolError,
  UsageError,
  VersionError,
  WorkerLostError,
  bootFailure,
  fromWire,
  withSite,
} from "./errors.js";
import { isWorkerMessage } from "./messages.js";
import { Pending } from "./pending.js";
import { VERSION } from "./protocol.js";
import { Sites } from "./sites.js";
import { decode, unknownKind } from "./wire.js";

/**
 * @template T
 * @typedef {import("./deferred.js").Deferred<T>} Deferred
 */
/** @typedef {import("./errors.js").AioGpuError} AioGpuError */
/** @typedef {import("./protocol.js").PageMessage} PageMessage */
/** @typedef {import("./protocol.js").WorkerMessage} WorkerMessage */
/** @typedef {import("./protocol.js").ErrorMessage} ErrorMessage */
/** @typedef {import("./protocol.js").WireObject} WireObject */
/** @typedef {import("./pending.js").Progress} Progress */
/** @typedef {{ stage: string, loaded: number, total: number | null }} Stage */

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
  sites = new Sites();
  /** @type {Uint8Array | null} what interrupts Python, where memory can be shared */
  interrupts = null;
  /** @type {(tree: WireObject) => unknown} makes what a value of the worker's stands for */
  revive = unknownKind;
  #pending = new Pending();
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

  /** False from the moment on at which nothing more can be asked. */
  get isOpen() {
    return this.#refusal === undefined;
  }

  /** True while the page waits for anything. */
  get isBusy() {
    return this.#pending.count > 0;
  }

  /**
   * @param {PageMessage} message
   * @param {unknown[]} [objects] what the message refers to by position
   * @param {Transferable[]} [transfer] those of them that are given away
   * @throws {UsageError} the browser cannot send one of them
   */
  post(message, objects = [], transfer = []) {
    try {
      this.#port.postMessage([JSON.stringify(message), ...objects], transfer);
    } catch (cause) {
      throw new UsageError(`${message.type}: cannot be sent: ${String(cause)}`, { cause });
    }
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param {(id: number) => PageMessage} message
   * @param {unknown[]} objects
   * @param {Transferable[]} transfer
   * @param {{ site: string, signal?: AbortSignal, onProgress?: (progress: Progress) => void }} options
   * @returns {Promise<unknown>} rejects with the signal's reason as soon as it fires, whatever Python is doing
   */
  request(message, objects, transfer, { site, signal, onProgress }) {
    return new Promise((resolve, reject) => {
      if (this.#refusal !== undefined) {
        reject(withSite(this.#refusal(), site));
        return;
      }
      if (signal?.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const id = this.#pending.newId();
      this.post(message(id), objects, transfer);
      const abort = () => {
        this.#pending.take(id);
        this.post({ type: "cancel", id });
        reject(reasonOf(signal));
      };
      signal?.addEventListener("abort", abort);
      const forget = () => signal?.removeEventListener("abort", abort);
      this.#pending.add(id, { resolve, reject, site, onProgress, forget });
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
    this.#pending.rejectAll(refusal);
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

  /** @param {string} what */
  #broken(what) {
    this.end(() => new ProtocolError(`worker: ${what}`));
  }

  /** @param {unknown} data */
  #receive(data) {
    /** @type {unknown} */
    let message;
    /** @type {unknown[]} */
    let buffers = [];
    try {
      const [text, ...rest] = /** @type {[string]} */ (data);
      message = JSON.parse(text);
      buffers = rest;
    } catch {
      // What is no JSON is no message either.
    }
    if (isWorkerMessage(message)) {
      this.#handle(message, buffers);
    } else {
      this.#broken("sent something that is no message of aiogpu's");
    }
  }

  /** @param {WorkerMessage} message @param {unknown[]} buffers */
  #handle(message, buffers) {
    switch (message.type) {
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
        this.#pending.done(message.id, () => decode(message.value, buffers, this.revive));
        break;
      case "error":
        this.#failed(message);
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

  /** @param {ErrorMessage} message */
  #failed({ id, error, handle }) {
    if (id === null) {
      this.end(() => fromWire(error));
    } else {
      this.#pending.failed(id, error, (made) => this.sites.show(made, handle));
    }
  }

  /** @param {number} id @param {Progress} progress */
  #progress(id, progress) {
    if (this.#pending.progress(id, progress)) {
      this.listener.event?.("progress", progress);
    }
  }
}

/** @param {AbortSignal | undefined} signal @returns {Error} whatever the page aborted with, as it is */
function reasonOf(signal) {
  /** @type {unknown} */
  const reason = signal?.reason;
  return /** @type {Error} */ (reason);
}
