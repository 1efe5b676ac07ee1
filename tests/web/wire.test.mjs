import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { ProtocolError, UsageError } from "../../web/errors.js";
import { Outgoing } from "../../web/outgoing.js";
import { decode } from "../../web/wire.js";

function encoded(value) {
  const outgoing = new Outgoing();
  const tree = outgoing.encode(value, "value");
  return { tree: JSON.parse(JSON.stringify(tree)), buffers: outgoing.buffers };
}

function returned(value) {
  const { tree, buffers } = encoded(value);
  return decode(tree, buffers);
}

test("plain data comes back as it was", () => {
  const value = {
    list: [1, 2.5, -0, "ä", true, null],
    nested: { a: { b: [{}] } },
    $: { $: "array" },
    odd: [NaN, Infinity, -Infinity, 2n ** 70n, 1e300],
  };
  assert.deepEqual(returned(value), value);
  assert.deepEqual(encoded([1, { a: null }]).tree, [1, { a: null }]);
});

test("undefined and holes become null", () => {
  const holes = [1];
  holes[2] = 3;
  assert.deepEqual(returned({ u: undefined, holes }), { u: null, holes: [1, null, 3] });
});

test("a property named __proto__ stays a property", () => {
  const value = JSON.parse('{"__proto__": {"polluted": 1}}');
  const result = returned(value);
  assert.ok(Object.hasOwn(result, "__proto__"));
  assert.equal(result.polluted, undefined);
});

test("plain objects of another realm are plain", () => {
  assert.deepEqual(returned(runInNewContext("({ a: [1] })")), { a: [1] });
  assert.deepEqual(returned(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
});

for (const [array, dtype] of [
  [new Float32Array([1.5, -2]), "float32"],
  [new Float64Array([1.5]), "float64"],
  [new Int8Array([-1]), "int8"],
  [new Int16Array([-1]), "int16"],
  [new Int32Array([-1, 2]), "int32"],
  [new BigInt64Array([-1n]), "int64"],
  [new Uint8Array(0), "uint8"],
  [new Uint16Array([1]), "uint16"],
  [new Uint32Array([1]), "uint32"],
  [new BigUint64Array([1n]), "uint64"],
]) {
  test(`${array.constructor.name} comes back as ${dtype}, copied`, () => {
    const result = returned([array])[0];
    assert.deepEqual(result, array);
    assert.equal(result.constructor, array.constructor);
    assert.deepEqual(result.shape, [array.length]);
    assert.equal(result.dtype, dtype);
    assert.notEqual(result.buffer, array.buffer);
  });
}

test("only the viewed part of a buffer is sent", () => {
  const { tree, buffers } = encoded(new Uint8Array([1, 2, 3, 4]).subarray(1, 3));
  assert.deepEqual(tree, { $: "array", dtype: "uint8", shape: [2], buffer: 0, offset: 0 });
  assert.deepEqual(new Uint8Array(buffers[0]), new Uint8Array([2, 3]));
});

test("buffers of other kinds are bytes", () => {
  const bytes = new Uint8Array([1, 2]);
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  shared.set(bytes);
  for (const value of [
    bytes.buffer,
    new DataView(bytes.buffer),
    new Uint8ClampedArray(bytes),
    Buffer.from(bytes),
    shared,
    shared.buffer,
  ]) {
    assert.deepEqual(returned(value), bytes);
  }
});

test("what Python gave keeps its shape and dtype on the way back", () => {
  const tree = { $: "array", dtype: "bool", shape: [2, 1], buffer: 0, offset: 0 };
  const flags = decode(tree, [new Uint8Array([1, 0]).buffer]);
  assert.deepEqual(encoded(flags).tree, tree);
  // A part of it is no longer of that shape.
  assert.deepEqual(encoded(flags.subarray(1)).tree.shape, [1]);
  const lying = Object.assign(new Float32Array(2), { dtype: "int8", shape: [3] });
  assert.deepEqual(encoded(lying).tree, { ...tree, dtype: "float32", shape: [2] });
});

test("ImageData is height by width by four", (context) => {
  class ImageData {
    constructor(data, width, height) {
      Object.assign(this, { data, width, height });
    }
  }
  globalThis.ImageData = ImageData;
  context.after(() => delete globalThis.ImageData);
  const image = new ImageData(new Uint8ClampedArray(24), 3, 2);
  const { tree } = encoded({ image });
  assert.deepEqual(tree.image, {
    $: "array",
    dtype: "uint8",
    shape: [2, 3, 4],
    buffer: 0,
    offset: 0,
  });
});

test("float16 comes as its bits where there is no Float16Array, and says so", () => {
  const tree = { $: "array", dtype: "float16", shape: [1], buffer: 0, offset: 0 };
  const half = decode(tree, [new Uint16Array([0x3c00]).buffer]);
  const expected = "Float16Array" in globalThis ? 1 : 0x3c00;
  assert.deepEqual([half[0], half.dtype], [expected, "float16"]);
});

test("complex numbers are pairs of floats, and go back as complex numbers", () => {
  const tree = { $: "array", dtype: "complex64", shape: [1, 2], buffer: 0, offset: 0 };
  const pairs = decode(tree, [new Float32Array([1, 2, 3, -4]).buffer]);
  assert.deepEqual(pairs, new Float32Array([1, 2, 3, -4]));
  assert.deepEqual([pairs.shape, pairs.dtype], [[1, 2], "complex64"]);
  assert.deepEqual(encoded(pairs).tree, tree);
  const named = Object.assign(new Float32Array(6), { dtype: "complex64" });
  assert.deepEqual(encoded(named).tree, { ...tree, shape: [3] });
  const odd = Object.assign(new Float32Array(3), { dtype: "complex64" });
  assert.deepEqual(encoded(odd).tree, { ...tree, dtype: "float32", shape: [3] });
});

for (const [value, says] of [
  [{ a: [0, new Date(0)] }, /^value\.a\[1\]: Date: cannot cross/],
  [{ "a-b": new Set() }, /^value\["a-b"\]: Set/],
  [() => {}, /^value: function/],
  [[Symbol("s")], /^value\[0\]: symbol/],
  [new (class Own {})(), /^value: Own/],
  [/x/, /^value: RegExp/],
  [Promise.resolve(), /^value: Promise/],
]) {
  test(`refused with its path: ${says.source}`, () => {
    assert.throws(
      () => encoded(value),
      (error) => error instanceof UsageError && says.test(error.message),
    );
  });
}

test("what contains itself is refused", () => {
  const value = {};
  value.self = [value];
  assert.throws(() => encoded(value), /or contains itself/);
});

for (const tree of [
  { $: "code" },
  { $: "int", value: "1.5" },
  { $: "object" },
  { $: "array", dtype: "float32", shape: [2], buffer: 0 },
  { $: "array", dtype: "float32", shape: [1], buffer: 1 },
  { $: "array", dtype: "float32", shape: 1, buffer: 0 },
  { $: "array", dtype: "complex64", shape: [1], buffer: 0 },
  { $: "array", dtype: ["float32"], shape: [1], buffer: 0 },
]) {
  test(`not a value: ${JSON.stringify(tree)}`, () => {
    assert.throws(() => decode([tree], [new ArrayBuffer(4)]), ProtocolError);
  });
}
