/** A Python generator as an async iterator: Python runs on only when the page asks for more. */

import { disposable } from "./disposal.js";

/**
 * @typedef {object} Source
 * @property {() => Promise<unknown>} next rejects with what the generator raises; gives a list, empty at the end
 * @property {() => void} stop closes the generator
 */

/** Made by `run` and `call` for a generator in their result; also stopped when the page drops it. */
export class RemoteStream {
  #source;
  #isDone = false;
  /** @type {Promise<unknown>} Python's generators cannot be asked twice at a time */
  #last = Promise.resolve();

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @returns {Promise<IteratorResult<any, undefined>>} */
  next() {
    const turn = this.#last.then(() => this.#next());
    this.#last = turn.catch(() => {});
    return turn;
  }

  /**
   * Closes the generator, whose `finally` clauses run; called by `for await` when it is left early.
   *
   * @param {unknown} [value]
   * @returns {Promise<IteratorResult<any, any>>}
   */
  return(value) {
    this.dispose();
    return Promise.resolve({ done: true, value });
  }

  dispose() {
    if (!this.#isDone) {
      this.#isDone = true;
      this.#source.stop();
    }
  }

  /** @returns {Promise<IteratorResult<any, undefined>>} */
  async #next() {
    if (this.#isDone) {
      return { done: true, value: undefined };
    }
    try {
      const items = /** @type {unknown[]} */ (await this.#source.next());
      this.#isDone ||= items.length === 0;
      return items.length === 0
        ? { done: true, value: undefined }
        : { done: false, value: items[0] };
    } catch (error) {
      this.#isDone = true;
      throw error;
    }
  }
}

disposable(RemoteStream.prototype, "dispose", "dispose");
