/**
 * Messages of any shape from the worker: each request settles with a value or an error of aiogpu's, and a client that
 * did not end goes on working. A sample in the normal run; AIOGPU_FUZZ=20000 sends as many.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { AioGpuError, UsageError } from "../../web/errors.js";
import { isWorkerMessage } from "../../web/messages.js";
import { Outgoing } from "../../web/outgoing.js";
import { decode } from "../../web/wire.js";
import { FakePage } from "./fake_page.mjs";
import { SCHEMA, validator } from "./schema.mjs";

const COUNT = Number(process.env.AIOGPU_FUZZ ?? 600);
const ROUND = 20;
const LATE_MS = 3000;

const tags = ["array", "handle", "stream", "bytes", "number", "int", "object", "float32", "uint8"];
const keys = fc.constantFrom("$", "value", "handle", "stream", "dtype", "shape", "buffer", "a");
const scalars = fc.oneof(
  fc.constantFrom(null, true, ...tags),
  fc.integer({ min: -3, max: 9 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 4 }),
);
const { tree: trees } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    scalars,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(keys, tie("tree"), { maxKeys: 5 }),
  ),
}));
const texts = fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 3 }) }, scalars);
const places = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -1, max: ROUND }) }, scalars);
const line = fc.oneof(
  fc.constant(null),
  fc.record({ file: texts, line: places, text: texts }),
  trees,
);
const errorFields = { code: texts, name: texts, message: texts, operation: texts, line };
const { error: errors } = fc.letrec((tie) => ({
  error: fc.oneof(
    { maxDepth: 3 },
    fc.record({ ...errorFields, traceback: texts, cause: fc.constant(null) }),
    fc.record({ ...errorFields, traceback: texts, cause: tie("error") }),
    trees,
  ),
}));
const FIELDS = {
  id: places,
  value: trees,
  error: errors,
  handle: places,
  done: places,
  total: places,
  loaded: places,
  stage: texts,
  message: texts,
  reason: texts,
  version: texts,
  text: texts,
};

/** Messages of these types that have their fields, or most of them. */
const messagesOf = (types) =>
  fc.oneof(
    ...types.map((type) => {
      const names = Object.keys(SCHEMA.$defs[`worker.${type}`].properties).slice(1);
      const fields = Object.fromEntries(names.map((name) => [name, FIELDS[name]]));
      const whole = fc.record(fields);
      const part = fc.record(fields, { requiredKeys: [] });
      const either = fc.oneof({ weight: 6, arbitrary: whole }, { weight: 1, arbitrary: part });
      return either.map((values) => ({ type, ...values }));
    }),
  );
const messages = messagesOf([
  "done",
  "error",
  "progress",
  "stdout",
  "devicelost",
  "stage",
  "alive",
]);
const posted = fc.oneof(
  { weight: 60, arbitrary: messages.map((message) => JSON.stringify(message)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: trees.map((tree) => JSON.stringify(tree)) },
);

/** Settles what has been asked as the browser would when the worker died. */
async function settled(promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve("late"), LATE_MS);
  });
  try {
    return await Promise.race([
      promise.then(
        () => "value",
        (error) => error,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

test("whatever a worker posts, every request settles with a value or a typed error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(posted, { minLength: ROUND, maxLength: ROUND }), async (texts) => {
      const page = new FakePage();
      const gpu = await page.connect();
      const asked = texts.map((_, index) => gpu.run(String(index)));
      const outcomes = Promise.all(asked.map(settled));
      for (const text of texts) {
        page.worker.boot.port.postMessage([text, new ArrayBuffer(8)]);
      }
      page.answer = (worker, message) => worker.done(message, 42);
      const good = gpu.run("good");
      const result = await settled(good);
      if (result === "value") {
        assert.equal(await good, 42);
        await gpu.close();
      }
      for (const outcome of [result, ...(await outcomes)]) {
        assert.ok(outcome === "value" || outcome instanceof AioGpuError, String(outcome));
      }
    }),
    { numRuns: Math.ceil(COUNT / ROUND) },
  );
});

test("whatever a page sends either crosses unchanged or is refused with its path", () => {
  const values = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
    maxDepth: 3,
  });
  fc.assert(
    fc.property(values, (value) => {
      const outgoing = new Outgoing();
      let tree;
      try {
        tree = outgoing.encode(value, "value");
      } catch (error) {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, /^value/);
        return;
      }
      const read = decode(JSON.parse(JSON.stringify(tree)), outgoing.buffers);
      const again = new Outgoing();
      assert.deepEqual(again.encode(read, "value"), JSON.parse(JSON.stringify(tree)));
    }),
    { numRuns: COUNT },
  );
});

test("what is taken for a message is what the schema describes", () => {
  // What is in a value is looked at later, and a chain of causes has an end.
  const isDescribed = validator("worker", { value: true });
  const types = SCHEMA.$defs.worker.oneOf.map(({ $ref }) => $ref.split("worker.")[1]);
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(messagesOf(types), trees), (sent) => {
      const message = JSON.parse(JSON.stringify(sent));
      assert.equal(isWorkerMessage(message), isDescribed(message), JSON.stringify(message));
      taken += Number(isWorkerMessage(message));
    }),
    { numRuns: COUNT },
  );
  assert.ok(taken > COUNT / 10, `${taken} of ${COUNT}`);
});
