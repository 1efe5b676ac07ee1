/**
 * Values as the wire's JSON has them, and how to read them; `outgoing.js` writes them.
 *
 * Plain data stays plain. What JSON lacks is an object with a "$" key:
 *
 *     { "$": "array", dtype, shape, buffer, offset }   buffer counts the objects that travel beside the text
 *     { "$": "number", value }                         "NaN", "Infinity", "-Infinity", "-0"
 *     { "$": "int", value }                            decimal text, for integers past 2^53
 *     { "$": "handle", handle, dtype, shape }          an array that stays in the worker
 *     { "$": "stream", stream }                        a generator, to the page only
 *     { "$": "bytes", buffer }                         a Blob, from the page only
 *     { "$": "object", value }                         a plain object that has a "$" key of its own
 */

import { ProtocolError } from "./errors.js";

/** @typedef {import("./protocol.js").WireObject} WireObject */
/** @typedef {Exclude<ArrayBufferView, DataView>} TypedArray */
/** @typedef {TypedArray & { readonly shape: readonly number[], readonly dtype: string }} ShapedArray */
/** @typedef {{ new (buffer: ArrayBuffer): TypedArray, readonly BYTES_PER_ELEMENT: number }} ArrayType */

const { Float16Array: float16 } = /** @type {{ Float16Array?: ArrayType }} */ (globalThis);

/** By dtype. @type {Map<string, ArrayType>} */
export const ARRAY_TYPES = new Map(
  /** @type {[string, ArrayType][]} */ ([
    ["float32", Float32Array],
    ["float64", Float64Array],
    ["int8", Int8Array],
    ["int16", Int16Array],
    ["int32", Int32Array],
    // By name, these two: browsers before 2021 that lack them have no WebGPU either, and must come so far as to be told.
    ["int64", globalThis.BigInt64Array],
    ["uint8", Uint8Array],
    ["uint16", Uint16Array],
    ["uint32", Uint32Array],
    ["uint64", globalThis.BigUint64Array],
    ["bool", Uint8Array],
    // Engines before 2025 have no Float16Array; there the page gets the bits, named by `dtype`.
    ["float16", float16 ?? Uint16Array],
    // Real and imaginary parts in turn; `shape` counts the numbers.
    ["complex64", Float32Array],
  ]),
);

/** How many elements of its typed array are one number of a dtype. @param {unknown} dtype */
export function parts(dtype) {
  return dtype === "complex64" ? 2 : 1;
}

/**
 * @param {unknown} tree JSON
 * @param {readonly unknown[]} buffers what came beside the text
 * @param {(tree: WireObject) => unknown} [revive] makes what a handle or a stream stands for
 * @returns {unknown} plain data; arrays as typed arrays that have `shape` and `dtype`
 * @throws {ProtocolError} the tree says what the buffers do not hold
 */
export function decode(tree, buffers, revive = unknownKind) {
  try {
    return read(tree, { buffers, revive });
  } catch (cause) {
    throw cause instanceof ProtocolError ? cause : new ProtocolError("value: malformed", { cause });
  }
}

/** @param {WireObject} tree @returns {never} */
export function unknownKind(tree) {
  throw new ProtocolError(`value: "$" is ${JSON.stringify(tree.$)}: no such kind of value`);
}

/** @typedef {{ buffers: readonly unknown[], revive: (tree: WireObject) => unknown }} Beside */

/** @param {unknown} tree @param {Beside} beside @returns {unknown} */
function read(tree, beside) {
  if (tree === null || typeof tree !== "object") {
    return tree;
  }
  if (Array.isArray(tree)) {
    return tree.map((item) => read(item, beside));
  }
  return readObject(/** @type {WireObject} */ (tree), beside);
}

/** @param {WireObject} tree @param {Beside} beside @returns {unknown} */
function readObject(tree, beside) {
  switch (tree.$) {
    case undefined:
      return readItems(tree, beside);
    case "array":
      return readArray(tree, beside.buffers);
    case "number":
      return Number(tree.value);
    case "int":
      return BigInt(/** @type {string} */ (tree.value));
    case "object":
      return readItems(/** @type {WireObject} */ (tree.value), beside);
    default:
      return beside.revive(tree);
  }
}

/** @param {WireObject} tree @param {Beside} beside */
function readItems(tree, beside) {
  // In place: an own "__proto__" that JSON.parse made stays an own property when it is assigned again.
  const items = /** @type {{ [key: string]: unknown }} */ (tree);
  for (const key of Object.keys(tree)) {
    items[key] = read(tree[key], beside);
  }
  return items;
}

/** @param {WireObject} tree @param {readonly unknown[]} buffers */
function readArray({ dtype, shape, buffer: index }, buffers) {
  const type = typeof dtype === "string" ? ARRAY_TYPES.get(dtype) : undefined;
  const buffer = buffers[Number(index)];
  if (type === undefined || !(buffer instanceof ArrayBuffer) || !Array.isArray(shape)) {
    const text = JSON.stringify({ dtype, shape, buffer: index });
    throw new ProtocolError(`value: ${text}: not an array, or not there`);
  }
  const nbytes = count(shape) * parts(dtype) * type.BYTES_PER_ELEMENT;
  if (nbytes !== buffer.byteLength) {
    const text = JSON.stringify({ dtype, shape });
    throw new ProtocolError(`value: ${text}: the buffer has ${buffer.byteLength} bytes`);
  }
  // Not enumerable, so that the array still compares, prints and spreads as the typed array that it is.
  const array = new type(buffer);
  Object.defineProperty(array, "shape", { value: Object.freeze(shape) });
  return Object.defineProperty(array, "dtype", { value: dtype });
}

/** @param {readonly unknown[]} shape */
export function count(shape) {
  return shape.reduce((/** @type {number} */ product, side) => product * Number(side), 1);
}
