/** Values of the page, written as the wire's JSON; `wire.js` says how it looks. */

import { UsageError } from "./errors.js";
import { RemoteArray } from "./remote.js";
import { ARRAY_TYPES, count, parts } from "./wire.js";

/** @typedef {import("./protocol.js").WireValue} WireValue */
/** @typedef {import("./remote.js").Arrays} Arrays */
/** @typedef {import("./wire.js").ShapedArray} ShapedArray */
/** @typedef {ArrayBuffer | ImageBitmap} Given */

/** A value nested deeper than this is refused: what contains itself ends here too, without a table of the visited. */
const MOST_LEVELS = 100;

/** Dtypes whose typed array is named for another one. */
const SHARED = new Set(["bool", "complex64"]);

/** By the name that a typed array's class has. @type {Map<string, string>} */
const DTYPES = new Map([
  ...[...ARRAY_TYPES.keys()].flatMap((dtype) =>
    SHARED.has(dtype) ? [] : [/** @type {[string, string]} */ ([typeName(dtype), dtype])],
  ),
  ["Uint8ClampedArray", "uint8"],
  ["DataView", "uint8"],
]);

/** @param {string} dtype */
function typeName(dtype) {
  const big = dtype.endsWith("64") && !dtype.startsWith("float") ? "Big" : "";
  const name = dtype[0]?.toUpperCase() + dtype.slice(1);
  return `${big}${name}Array`;
}

/** The values of one outgoing message: collects the buffers that go beside its text. */
export class Outgoing {
  /** @type {unknown[]} what travels beside the text: buffers, blobs and bitmaps */
  buffers = [];
  /** @type {Set<Given>} */
  #given;
  #arrays;

  /**
   * @param {readonly Given[]} [transfer] what the caller gives away; everything else is copied
   * @param {Arrays} [arrays] of the client: arrays of another are refused
   * @throws {UsageError} an item is neither ArrayBuffer nor ImageBitmap
   */
  constructor(transfer = [], arrays) {
    for (const [index, item] of transfer.entries()) {
      if (!(item instanceof ArrayBuffer) && !isBitmap(item)) {
        throw new UsageError(
          `transfer[${index}]: ${nameOf(item)}: only ArrayBuffers and ImageBitmaps can be given`,
        );
      }
    }
    this.#given = new Set(transfer);
    this.#arrays = arrays;
  }

  /** Those of `buffers` that are transferred: the copies that were made here, and what the caller gave. */
  get transfer() {
    return this.buffers.filter(
      /** @returns {item is Given} */ (item) =>
        item instanceof ArrayBuffer || (isBitmap(item) && this.#given.has(item)),
    );
  }

  /**
   * @param {unknown} value
   * @param {string} path what to call the value in an error, such as "locals.image"
   * @returns {WireValue}
   * @throws {UsageError} something in it cannot cross; the message names where it is
   */
  encode(value, path) {
    return this.#encode(value, path, 0);
  }

  /** @throws {UsageError} a buffer was given away that is in none of the values */
  finish() {
    for (const buffer of this.#given) {
      if (!this.buffers.includes(buffer)) {
        const what = "byteLength" in buffer ? `${buffer.byteLength} bytes` : "ImageBitmap";
        throw new UsageError(`transfer: ${what}: the buffer is in none of the values`);
      }
    }
  }

  /** @param {unknown} value @param {string} path @param {number} level @returns {WireValue} */
  #encode(value, path, level) {
    switch (typeof value) {
      case "undefined":
        return null;
      case "boolean":
      case "string":
        return value;
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : { $: "number", value: Object.is(value, -0) ? "-0" : String(value) };
      case "bigint":
        return { $: "int", value: String(value) };
      case "object":
        return value === null ? null : this.#object(value, path, level);
      default:
        throw refused(path, value);
    }
  }

  /** @param {object} value @param {string} path @param {number} level @returns {WireValue} */
  #object(value, path, level) {
    if (level === MOST_LEVELS) {
      throw new UsageError(`${path}: nested deeper than ${MOST_LEVELS} levels, or contains itself`);
    }
    if (Array.isArray(value)) {
      return Array.from(value, (item, index) => this.#encode(item, `${path}[${index}]`, level + 1));
    }
    if (ArrayBuffer.isView(value)) {
      return this.#view(value, path);
    }
    if (isBuffer(value)) {
      if (isDetached(value)) {
        throw new UsageError(`${path}: ArrayBuffer: it was given away before`);
      }
      return this.#view(new Uint8Array(value), path);
    }
    return this.#foreign(value, path) ?? this.#plain(value, path, level);
  }

  /** @param {object} value @param {string} path @returns {WireValue | undefined} what is of a class of its own */
  #foreign(value, path) {
    if (value instanceof RemoteArray) {
      return { $: "handle", handle: this.#handle(value, path) };
    }
    if (typeof ImageData === "function" && value instanceof ImageData) {
      return { ...this.#view(value.data, path), shape: [value.height, value.width, 4] };
    }
    if (isBitmap(value)) {
      if (value.width === 0) {
        throw new UsageError(`${path}: ImageBitmap: it was closed or given away before`);
      }
      const shape = [value.height, value.width, 4];
      return { $: "array", dtype: "uint8", shape, buffer: this.#place(value), offset: 0 };
    }
    if (typeof Blob === "function" && value instanceof Blob) {
      return { $: "bytes", buffer: this.#place(value) };
    }
    return undefined;
  }

  /** @param {RemoteArray} array @param {string} path */
  #handle(array, path) {
    if (this.#arrays === undefined) {
      throw refused(path, array);
    }
    return array.handleFor(this.#arrays);
  }

  /** @param {object} value @param {string} path @param {number} level @returns {WireValue} */
  #plain(value, path, level) {
    if (!isPlain(value)) {
      throw refused(path, value);
    }
    /** @type {{ [key: string]: WireValue }} */
    const tree = {};
    for (const [key, item] of Object.entries(value)) {
      // A plain assignment of "__proto__" would set the prototype and lose the value.
      Object.defineProperty(tree, key, {
        value: this.#encode(item, step(path, key), level + 1),
        enumerable: true,
      });
    }
    return Object.hasOwn(value, "$") ? { $: "object", value: tree } : tree;
  }

  /** @param {ArrayBufferView} view @param {string} path @returns {{ [key: string]: WireValue }} */
  #view(view, path) {
    const kind = DTYPES.get(String(Reflect.get(view, Symbol.toStringTag)));
    if (kind === undefined) {
      throw refused(path, view);
    }
    if (isDetached(view.buffer)) {
      throw new UsageError(`${path}: ${nameOf(view)}: its buffer was given away before`);
    }
    const { dtype, shape } = /** @type {Partial<ShapedArray>} */ (view);
    const named = typeof dtype === "string" && fits(view, dtype) ? dtype : kind;
    const nitems = /** @type {{ length?: number }} */ (view).length ?? view.byteLength;
    const length = nitems / parts(named);
    const whole = /** @type {ArrayBuffer} */ (view.buffer);
    const given = this.#given.has(whole);
    return {
      $: "array",
      dtype: named,
      shape: isShape(shape, length) ? [...shape] : [length],
      buffer: this.#place(given ? whole : copied(view)),
      offset: given ? view.byteOffset : 0,
    };
  }

  /** @param {object} object */
  #place(object) {
    const known = this.buffers.indexOf(object);
    return known === -1 ? this.buffers.push(object) - 1 : known;
  }
}

/** @param {ArrayBufferView} view @param {string} dtype */
function fits(view, dtype) {
  const type = ARRAY_TYPES.get(dtype);
  return (
    type !== undefined &&
    view instanceof type &&
    view.byteLength % (type.BYTES_PER_ELEMENT * parts(dtype)) === 0
  );
}

/** @param {unknown} shape @param {number} length @returns {shape is readonly number[]} */
function isShape(shape, length) {
  return Array.isArray(shape) && count(shape) === length;
}

/** @param {object} value @returns {value is ArrayBuffer} true for a SharedArrayBuffer too: it is copied all the same */
function isBuffer(value) {
  return ["ArrayBuffer", "SharedArrayBuffer"].includes(
    String(Reflect.get(value, Symbol.toStringTag)),
  );
}

/** Without this a view of a buffer that was transferred earlier would cross as an empty array. @param {ArrayBufferLike} buffer */
function isDetached(buffer) {
  try {
    return new Uint8Array(buffer).length < 0;
  } catch {
    return true;
  }
}

/** @param {unknown} value @returns {value is ImageBitmap} */
function isBitmap(value) {
  return typeof ImageBitmap === "function" && value instanceof ImageBitmap;
}

/** @param {ArrayBufferView} view */
function copied(view) {
  const bytes = new Uint8Array(view.byteLength);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return bytes.buffer;
}

/** @param {object} value true also for plain objects of another frame, whose Object is not ours */
function isPlain(value) {
  /** @type {unknown} */
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {string} path @param {string} key */
function step(path, key) {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** @param {unknown} value */
function nameOf(value) {
  if (value === null || typeof value !== "object") {
    return typeof value;
  }
  const { constructor } = value;
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "object";
}

/** @param {string} path @param {unknown} value */
function refused(path, value) {
  return new UsageError(`${path}: ${nameOf(value)}: cannot cross to Python`);
}
