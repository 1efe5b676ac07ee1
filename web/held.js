/** What the page holds of one worker's: arrays and streams, let go when the page drops them. */

import { ProtocolError, UsageError, callSite, withSite } from "./errors.js";
import { Outgoing } from "./outgoing.js";
import { RemoteArray } from "./remote.js";
import { RemoteStream } from "./stream.js";

/** @typedef {import("./link.js").Link} Link */
/** @typedef {import("./outgoing.js").Given} Given */
/** @typedef {import("./protocol.js").WireObject} WireObject */
/** @typedef {import("./remote.js").Known} Known */

export class Held {
  #link;
  #lastHandle = 0;
  /** @type {number[]} to be let go by one message */
  #freed = [];
  #arrays = new FinalizationRegistry((/** @type {number} */ handle) => this.free(handle));
  #streams = new FinalizationRegistry((/** @type {number} */ stream) => this.#stop(stream));

  /** @param {Link} link */
  constructor(link) {
    this.#link = link;
    link.revive = (tree) => this.#revive(tree);
  }

  get isOpen() {
    return this.#link.isOpen;
  }

  /**
   * @param {string} name of the operation
   * @param {readonly unknown[]} args
   * @param {object} [kwargs]
   * @param {readonly Given[]} [transfer]
   * @returns {RemoteArray} at once: a failure is told when it, or what is made of it, is read
   * @throws {UsageError} an argument cannot cross
   * @throws {HandleError} an array was disposed, or is another client's
   */
  apply(name, args, kwargs = {}, transfer = []) {
    const outgoing = new Outgoing(transfer, this);
    const trees = {
      args: outgoing.encode(args, name),
      kwargs: outgoing.encode(kwargs, name),
    };
    outgoing.finish();
    const handle = ++this.#lastHandle;
    this.#link.sites.note(handle);
    this.#link.post({ type: "op", handle, name, ...trees }, outgoing.buffers, outgoing.transfer);
    return this.#hold(handle);
  }

  /**
   * @param {"data" | "item" | "shape"} form
   * @param {readonly RemoteArray[]} arrays
   * @returns {Promise<unknown[]>} of as many items
   */
  async read(form, arrays) {
    const site = callSite(3);
    const handles = arrays.map((array, index) => {
      if (!(array instanceof RemoteArray)) {
        throw withSite(new UsageError(`read: argument ${index}: must be an array of gpu's`), site);
      }
      return array.handleFor(this);
    });
    const message = (/** @type {number} */ id) =>
      /** @type {const} */ ({ type: "read", id, handles, form });
    return /** @type {unknown[]} */ (await this.#link.request(message, [], [], { site }));
  }

  /** @param {number} handle */
  free(handle) {
    this.#link.sites.forget(handle);
    if (this.#freed.push(handle) === 1) {
      queueMicrotask(() => {
        if (this.isOpen) {
          this.#link.post({ type: "free", handles: this.#freed });
        }
        this.#freed = [];
      });
    }
  }

  /** @param {WireObject} tree @returns {unknown} */
  #revive({ $: kind, handle, stream, shape, dtype }) {
    if (kind === "handle" && typeof handle === "number") {
      return this.#hold(handle, /** @type {Known} */ ({ shape, dtype }));
    }
    if (kind === "stream" && typeof stream === "number") {
      return this.#stream(stream);
    }
    throw new ProtocolError(`value: "$" is ${JSON.stringify(kind)}: no such kind of value`);
  }

  /** @param {number} handle @param {Known} [known] */
  #hold(handle, known) {
    const array = new RemoteArray(this, handle, known);
    this.#arrays.register(array, handle);
    return array;
  }

  /** @param {number} stream */
  #stream(stream) {
    const link = this.#link;
    const made = new RemoteStream({
      next: () =>
        link.request((id) => ({ type: "next", id, stream }), [], [], { site: callSite(3) }),
      stop: () => this.#stop(stream),
    });
    this.#streams.register(made, stream);
    return made;
  }

  /** @param {number} stream */
  #stop(stream) {
    if (this.isOpen) {
      this.#link.post({ type: "stop", stream });
    }
  }
}
