/** The page's end of the bridge: Python on the GPU, as promises. */

import { deferred } from "./deferred.js";
import { disposable } from "./disposal.js";
import { AioGpuError, ClosedError, UsageError, callSite, withSite } from "./errors.js";
import { Held } from "./held.js";
import { moduleProxy } from "./module.js";
import { resultOf } from "./options.js";
import { Outgoing } from "./outgoing.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("./options.js").CallOptions} CallOptions */
/** @typedef {import("./options.js").RunOptions} RunOptions */
/** @typedef {import("./outgoing.js").Given} Given */
/** @typedef {import("./remote.js").RemoteArray} RemoteArray */
/** @typedef {import("./wire.js").ShapedArray} ShapedArray */
/** @typedef {import("./protocol.js").PageMessage} PageMessage */

/**
 * What a client needs to start its worker anew, or to stop Python.
 *
 * @typedef {object} Power
 * @property {() => Promise<Link>} reopen
 * @property {(url: string) => string} resolve a URL of the page's
 */

/** How long `close` waits for the server to let go of what it holds, before it ends the worker all the same. */
const FAREWELL_MS = 500;

/** What Python finds in the shared byte when it is to raise KeyboardInterrupt. */
const SIGINT = 2;

/**
 * A worker with Python in it. Made by `connect`.
 *
 * Events, all with their content in `detail`: `stdout` and `stderr` (one line of text), `progress`
 * (`{ done, total, message }`), `devicelost` (`{ reason, message }`).
 */
export class Client extends EventTarget {
  #power;
  /** @type {Link} */
  #link;
  /** @type {Held} */
  #held;
  #restarting = false;
  /** @type {import("./deferred.js").Deferred<AioGpuError | null>} */
  #closed = deferred();

  /** @param {Link} link that is ready @param {Power} power */
  constructor(link, power) {
    super();
    this.#power = power;
    [this.#link, this.#held] = [link, this.#adopt(link)];
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
    const { locals = {}, filename = "run" } = options;
    return this.#request(site, options, (outgoing) => {
      if (typeof source !== "string") {
        throw new UsageError(`run: ${typeof source}: the source must be a string`);
      }
      const result = resultOf("run", options);
      const tree = outgoing.encode(locals, "locals");
      return (id) => ({ type: "run", id, source, filename, locals: tree, result });
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
      const result = resultOf("call", options);
      return (id) => ({ type: "call", id, target, ...trees, result });
    });
  }

  /**
   * Imports a module.
   *
   * @param {string} module
   * @returns {Promise<import("./module.js").PythonModule>} `m.f(1)` calls its `f`, as a promise
   * @throws {RemoteError} what the import raised
   */
  async pyimport(module) {
    const site = callSite();
    await this.#ask(site, (id) => ({ type: "import", id, module: String(module) }));
    return moduleProxy((target, args) => this.call(target, args), module);
  }

  /**
   * Installs Python packages.
   *
   * @param {string | readonly string[]} wanted names, or URLs of wheels
   * @returns {Promise<void>}
   * @throws {RemoteError} what the installer raised: there is no such package
   */
  async install(wanted) {
    const site = callSite();
    const packages = (typeof wanted === "string" ? [wanted] : wanted).map((item) =>
      item.includes("/") ? this.#power.resolve(item) : item,
    );
    await this.#ask(site, (id) => ({ type: "install", id, packages }));
  }

  /**
   * An array on the GPU, made of the page's data.
   *
   * @param {ArrayBufferView | readonly unknown[] | number} data copied, unless it is given away
   * @param {{ shape?: readonly number[], dtype?: string, transfer?: readonly Given[] }} [options]
   * @returns {RemoteArray} at once: a failure is told when it, or what is made of it, is read
   * @throws {UsageError} the data cannot cross
   */
  array(data, { shape, dtype, transfer } = {}) {
    this.#check("array");
    const made = this.#held.apply(
      "asarray",
      [data],
      dtype === undefined ? {} : { dtype },
      transfer,
    );
    return shape === undefined ? made : made.reshape(shape);
  }

  /**
   * Reads several arrays at once.
   *
   * @param {...RemoteArray} arrays
   * @returns {Promise<ShapedArray[]>}
   */
  async read(...arrays) {
    return /** @type {Promise<ShapedArray[]>} */ (this.#held.read("data", arrays));
  }

  /** @returns {Promise<{ [name: string]: number }>} bytes on the GPU: `in_use`, `reserved`, `peak`, `padding`; and `buffers` */
  async memory() {
    /** @type {unknown} */
    const found = await this.call("aiogpu:memory");
    return /** @type {{ [name: string]: number }} */ (found);
  }

  /** @returns {Promise<{ [name: string]: unknown }>} what to put into a bug report */
  async report() {
    /** @type {unknown} */
    const found = await this.call("aiogpu:report");
    return /** @type {{ [name: string]: unknown }} */ (found);
  }

  /**
   * Raises KeyboardInterrupt in the Python that runs now, also in a loop that never awaits.
   *
   * Does nothing while nothing runs. What only waits is cancelled by its signal, not by this.
   *
   * @throws {UsageError} the page is not isolated, and so has no SharedArrayBuffer; `restart` works there
   */
  interrupt() {
    this.#check("interrupt");
    const { interrupts } = this.#link;
    if (interrupts === null) {
      throw new UsageError(
        "interrupt: no SharedArrayBuffer: the page is not cross-origin isolated; restart() works without",
      );
    }
    if (this.#link.isBusy) {
      const serial = (Atomics.add(interrupts, 1, 1) + 1) & 0xff;
      Atomics.store(interrupts, 0, SIGINT);
      this.#link.post({ type: "interrupt", serial });
    }
  }

  /**
   * Ends the worker, however busy it is, and starts another with the same options.
   *
   * What is pending rejects with ClosedError; names, arrays and a canvas that was handed over are gone.
   *
   * @returns {Promise<void>} resolves when Python answers again
   * @throws {BootError} the new worker did not start; the client is closed then
   */
  async restart() {
    this.#check("restart");
    const site = callSite();
    const old = this.#link;
    this.#restarting = true;
    old.end(() => new ClosedError("restart: the worker was ended to start anew"), null);
    try {
      const link = await this.#power.reopen();
      [this.#link, this.#held] = [link, this.#adopt(link)];
    } catch (error) {
      this.#closed.resolve(error instanceof AioGpuError ? error : null);
      throw error instanceof AioGpuError ? withSite(error, site) : error;
    } finally {
      this.#restarting = false;
    }
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
    return this.#closed.promise;
  }

  /** @param {Link} link */
  #adopt(link) {
    link.listener.event = (type, detail) => {
      this.dispatchEvent(new CustomEvent(type, { detail }));
    };
    void link.ended.then((cause) => {
      if (!this.#restarting) {
        this.#closed.resolve(cause);
      }
    });
    return new Held(link);
  }

  /** @param {string} what @throws {ClosedError} the worker has ended */
  #check(what) {
    if (!this.#link.isOpen) {
      throw new ClosedError(`${what}: the client is closed`);
    }
  }

  /** @param {string} site @param {(id: number) => PageMessage} message */
  async #ask(site, message) {
    return this.#request(site, {}, () => message);
  }

  /**
   * @param {string} site
   * @param {CallOptions} options
   * @param {(outgoing: Outgoing) => (id: number) => PageMessage} prepare
   */
  async #request(site, { signal, onProgress, transfer }, prepare) {
    try {
      const outgoing = new Outgoing(transfer, this.#held);
      const message = prepare(outgoing);
      outgoing.finish();
      const { buffers, transfer: given } = outgoing;
      return await this.#link.request(message, buffers, given, { site, signal, onProgress });
    } catch (error) {
      throw error instanceof UsageError && error.pythonName === null
        ? withSite(error, site)
        : error;
    }
  }
}

disposable(Client.prototype, "asyncDispose", "close");
disposable(Client.prototype, "dispose", "close");
