/** Arrays that stay in the worker: operations on them are sent, and nothing waits until data is asked for. */

import { disposable } from "./disposal.js";
import { HandleError, UsageError } from "./errors.js";

/** @typedef {import("./protocol.js").PageMessage} PageMessage */
/** @typedef {import("./wire.js").ShapedArray} ShapedArray */
/** @typedef {number | bigint | boolean | RemoteArray | ArrayBufferView | readonly unknown[]} Operand */
/** @typedef {{ axis?: number | readonly number[], keepdims?: boolean }} Reduction */
/** @typedef {number | null | readonly (number | null)[]} Key a place, a whole axis, or [start, stop, step] */
/** @typedef {{ shape?: readonly (number | null)[], dtype?: string }} Known */

/**
 * What an array needs of its client.
 *
 * @typedef {object} Arrays
 * @property {boolean} isOpen false once the worker that has them is gone
 * @property {(name: string, args: readonly unknown[], kwargs?: object) => RemoteArray} apply
 * @property {(form: "data" | "item" | "shape", arrays: readonly RemoteArray[]) => Promise<unknown[]>} read
 * @property {(handle: number) => void} free
 */

/** An array on the GPU, held by number. Made by `gpu.array`, by its own methods, and by `result: "handle"`. */
export class RemoteArray {
  #arrays;
  #handle;
  #isDisposed = false;
  /** @type {readonly (number | null)[] | undefined} known after `evaluate`, and of the results of a run */
  shape;
  /** @type {string | undefined} as `shape` */
  dtype;

  /** @param {Arrays} arrays @param {number} handle @param {Known} [known] */
  constructor(arrays, handle, { shape, dtype } = {}) {
    this.#arrays = arrays;
    this.#handle = handle;
    this.shape = shape;
    this.dtype = dtype;
  }

  /**
   * The number by which the worker knows it.
   *
   * @param {Arrays} arrays of the client that asks
   * @returns {number}
   * @throws {HandleError} it was disposed, or is of another client or of a worker that is gone
   */
  handleFor(arrays) {
    if (this.#isDisposed) {
      throw new HandleError("array: was disposed");
    }
    if (arrays !== this.#arrays || !arrays.isOpen) {
      throw new HandleError("array: is of another client, or of a worker that has ended");
    }
    return this.#handle;
  }

  /** Lets the array go at once; what was made of it stays. */
  dispose() {
    if (!this.#isDisposed) {
      this.#isDisposed = true;
      this.#arrays.free(this.#handle);
    }
  }

  /**
   * @returns {Promise<ShapedArray>} a typed array with `shape` and `dtype`
   * @throws {AioGpuError} what this array's operations, or those that it was made by, have failed with
   */
  async data() {
    const [data] = await this.#arrays.read("data", [this]);
    return /** @type {ShapedArray} */ (data);
  }

  /** @returns {Promise<number | boolean>} the number in an array of one element */
  async item() {
    const [item] = await this.#arrays.read("item", [this]);
    return /** @type {number | boolean} */ (item);
  }

  /** Computes the array, and learns its shape and dtype. @returns {Promise<this>} */
  async evaluate() {
    const [known] = await this.#arrays.read("shape", [this]);
    ({ shape: this.shape, dtype: this.dtype } = /** @type {Known} */ (known));
    return this;
  }

  // Arithmetic, element by element with broadcasting.

  /** @param {Operand} other */
  add(other) {
    return this.#apply("add", [other]);
  }
  /** @param {Operand} other */
  subtract(other) {
    return this.#apply("subtract", [other]);
  }
  /** @param {Operand} other */
  multiply(other) {
    return this.#apply("multiply", [other]);
  }
  /** @param {Operand} other */
  divide(other) {
    return this.#apply("divide", [other]);
  }
  /** @param {Operand} other */
  floorDivide(other) {
    return this.#apply("floor_divide", [other]);
  }
  /** @param {Operand} other */
  remainder(other) {
    return this.#apply("remainder", [other]);
  }
  /** @param {Operand} other */
  pow(other) {
    return this.#apply("pow", [other]);
  }
  /** @param {Operand} other */
  maximum(other) {
    return this.#apply("maximum", [other]);
  }
  /** @param {Operand} other */
  minimum(other) {
    return this.#apply("minimum", [other]);
  }
  negative() {
    return this.#apply("negative");
  }
  abs() {
    return this.#apply("abs");
  }
  exp() {
    return this.#apply("exp");
  }
  log() {
    return this.#apply("log");
  }
  sqrt() {
    return this.#apply("sqrt");
  }
  tanh() {
    return this.#apply("tanh");
  }

  // Comparisons: arrays of bool.

  /** @param {Operand} other */
  equal(other) {
    return this.#apply("equal", [other]);
  }
  /** @param {Operand} other */
  notEqual(other) {
    return this.#apply("not_equal", [other]);
  }
  /** @param {Operand} other */
  less(other) {
    return this.#apply("less", [other]);
  }
  /** @param {Operand} other */
  lessEqual(other) {
    return this.#apply("less_equal", [other]);
  }
  /** @param {Operand} other */
  greater(other) {
    return this.#apply("greater", [other]);
  }
  /** @param {Operand} other */
  greaterEqual(other) {
    return this.#apply("greater_equal", [other]);
  }
  /** The first where this is true, the second elsewhere. @param {Operand} yes @param {Operand} no */
  where(yes, no) {
    return this.#apply("where", [yes, no]);
  }

  /** @param {Operand} other */
  matmul(other) {
    return this.#apply("matmul", [other]);
  }

  // Reductions, over all axes by default.

  /** @param {Reduction} [options] */
  sum(options) {
    return this.#apply("sum", [], options);
  }
  /** @param {Reduction} [options] */
  prod(options) {
    return this.#apply("prod", [], options);
  }
  /** @param {Reduction} [options] */
  mean(options) {
    return this.#apply("mean", [], options);
  }
  /** @param {Reduction} [options] */
  max(options) {
    return this.#apply("max", [], options);
  }
  /** @param {Reduction} [options] */
  min(options) {
    return this.#apply("min", [], options);
  }
  /** @param {Reduction} [options] */
  std(options) {
    return this.#apply("std", [], options);
  }
  /** @param {Reduction} [options] */
  var(options) {
    return this.#apply("var", [], options);
  }
  /** @param {Reduction} [options] */
  all(options) {
    return this.#apply("all", [], options);
  }
  /** @param {Reduction} [options] */
  any(options) {
    return this.#apply("any", [], options);
  }
  /** @param {{ axis?: number, keepdims?: boolean }} [options] */
  argmax(options) {
    return this.#apply("argmax", [], options);
  }
  /** @param {{ axis?: number, keepdims?: boolean }} [options] */
  argmin(options) {
    return this.#apply("argmin", [], options);
  }

  // Views, and other dtypes.

  /** @param {readonly number[]} shape one of which may be -1 */
  reshape(shape) {
    return this.#apply("reshape", [shape]);
  }
  /** @param {readonly number[]} [axes] the order of the axes; backwards by default */
  transpose(axes) {
    return this.#apply("transpose", axes === undefined ? [] : [axes]);
  }
  /** `a.slice(0, [1, 4], null, [null, null, -1])` is Python's `a[0, 1:4, :, ::-1]`. @param {...Key} keys */
  slice(...keys) {
    return this.#apply("slice", [keys]);
  }
  /** @param {string} dtype */
  astype(dtype) {
    return this.#apply("astype", [dtype]);
  }

  [Symbol.toPrimitive]() {
    throw new UsageError("array: has no value here: await array.item() or array.data()");
  }

  /** @param {string} name @param {readonly unknown[]} [args] @param {object} [kwargs] */
  #apply(name, args = [], kwargs = {}) {
    return this.#arrays.apply(name, [this, ...args], kwargs);
  }
}

disposable(RemoteArray.prototype, "dispose", "dispose");
