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
const texts = fc.string({ maxLength: 3 });
const ids = fc.integer({ min: -1, max: ROUND });
const maybe = (arbitrary) => fc.option(arbitrary);
const line = maybe(fc.record({ file: texts, line: ids, text: texts }));
const errorFields = { name: texts, message: texts, operation: maybe(texts), line };
const codes = fc.constantFrom("remote", "shape", "import", "of-a-later-version");
const { error: errors } = fc.letrec((tie) => ({
  error: fc.record({
    code: codes,
    ...errorFields,
    traceback: maybe(texts),
    cause: maybe(tie("error")),
  }),
}));
const FIELDS = {
  id: ids,
  value: trees,
  error: errors,
  handle: maybe(ids),
  done: fc.double({ noNaN: true, noDefaultInfinity: true }),
  total: maybe(ids),
  loaded: ids,
  stage: texts,
  message: texts,
  reason: texts,
  version: texts,
  text: texts,
};

/** Messages of these types that are whole, but for a field in one of so many. */
const messagesOf = (types, mostWhole) =>
  fc.oneof(
    ...types.map((type) => {
      const names = Object.keys(SCHEMA.$defs[`worker.${type}`].properties).slice(1);
      const fields = fc.record(Object.fromEntries(names.map((name) => [name, FIELDS[name]])));
      const mistake = fc.record({ at: fc.nat(), odd: fc.option(trees, { nil: undefined }) });
      return fc
        .tuple(fields, mistake, fc.noBias(fc.nat(mostWhole)))
        .map(([values, { at, odd }, luck]) => {
          const name = names[at % names.length];
          return { type, ...values, ...(luck === 0 && name !== undefined && { [name]: odd }) };
        });
    }),
  );
const messages = messagesOf(
  ["done", "error", "progress", "stdout", "devicelost", "stage", "alive"],
  150,
);
const posted = fc.oneof(
  { weight: 298, arbitrary: messages.map((message) => JSON.stringify(message)) },
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
  let survived = 0;
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
        survived++;
      }
      for (const outcome of [result, ...(await outcomes)]) {
        assert.ok(outcome === "value" || outcome instanceof AioGpuError, String(outcome));
      }
    }),
    { numRuns: Math.ceil(COUNT / ROUND) },
  );
  // Else the messages are so bad that clients end at the first of them.
  assert.ok(survived > COUNT / ROUND / 3, `${survived} of ${COUNT / ROUND}`);
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
    fc.property(fc.oneof(messagesOf(types, 2), trees), (sent) => {
      const message = JSON.parse(JSON.stringify(sent));
      assert.equal(isWorkerMessage(message), isDescribed(message), JSON.stringify(message));
      taken += Number(isWorkerMessage(message));
    }),
    { numRuns: COUNT },
  );
  assert.ok(taken > COUNT / 10, `${taken} of ${COUNT}`);
});
