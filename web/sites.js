import { withSite } from "./errors.js";

/**
 * Where failed arrays were made: kept while the page holds them.
 *
 * An operation has no answer, so its failure is told when a result of it is read; the page's stack at the
 * operation says more than that at the read.
 */
export class Sites {
  /** @type {Map<number, Error>} their stacks are text only when they are asked for, which is what costs */
  #errors = new Map();

  /** @param {number} handle */
  note(handle) {
    this.#errors.set(handle, new Error("array"));
  }

  /** @param {number} handle */
  forget(handle) {
    this.#errors.delete(handle);
  }

  /**
   * @template {import("./errors.js").AioGpuError} E
   * @param {E} error
   * @param {number | null} handle whose operation has failed
   * @returns {E} the same error, with the stack of the operation where it is known
   */
  show(error, handle) {
    const site = handle === null ? undefined : this.#errors.get(handle)?.stack;
    return site === undefined ? error : withSite(error, site.split("\n").slice(1).join("\n"));
  }
}
