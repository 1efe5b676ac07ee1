import assert from "node:assert/strict";
import { test } from "node:test";

import { ERROR, LINE, TYPES } from "../../web/messages.js";
import { ARRAY_TYPES } from "../../web/wire.js";
import { SCHEMA } from "./schema.mjs";

const { $defs: definitions } = SCHEMA;

/** What `messages.js` calls the kind of a field that is described so. */
function kindOf(field, { $ref, type, anyOf, oneOf }) {
  if ($ref !== undefined) {
    return { integer: "id", error: "error", value: "value" }[$ref.split("/").at(-1)];
  }
  if (anyOf !== undefined) {
    return "maybeId";
  }
  if (oneOf !== undefined) {
    return field === "cause" ? "value" : "line";
  }
  const kinds = { string: "text", number: "number" };
  return typeof type === "string"
    ? kinds[type]
    : { string: "maybeText", number: "maybeNumber" }[type[0]];
}

function described({ properties, required }) {
  assert.deepEqual(required, Object.keys(properties));
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => name !== "type")
      .map(([name, schema]) => [name, kindOf(name, schema)]),
  );
}

test("the fields of the worker's messages are those that the schema has", () => {
  const types = Object.keys(definitions).filter((key) => key.startsWith("worker."));
  assert.deepEqual(
    types.map((key) => key.split(".")[1]),
    Object.keys(TYPES),
  );
  for (const key of types) {
    assert.deepEqual(TYPES[key.split(".")[1]], described(definitions[key]), key);
  }
  assert.deepEqual(ERROR, described(definitions.error));
  assert.deepEqual(LINE, described(definitions.line));
});

test("the dtypes of arrays are those that the schema has", () => {
  assert.deepEqual(new Set(definitions.dtype.enum), new Set(ARRAY_TYPES.keys()));
});
