/** The one description of the protocol, for tests to hold messages to. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";

const url = new URL("../../docs/protocol.schema.json", import.meta.url);

export const SCHEMA = JSON.parse(readFileSync(url, "utf8"));

/** What checks one of the schema's definitions; others may be replaced. */
export function validator(name, replaced = {}) {
  const ajv = new Ajv2020({ allowUnionTypes: true });
  return ajv.compile({ $ref: `#/$defs/${name}`, $defs: { ...SCHEMA.$defs, ...replaced } });
}

const known = new Map();

/** Fails the test when a message is none of that side's. */
export function check(name, message) {
  assert.ok(name in SCHEMA.$defs, JSON.stringify(message));
  const isValid = known.get(name) ?? validator(name);
  known.set(name, isValid);
  assert.ok(isValid(message), `${JSON.stringify(message)}: ${JSON.stringify(isValid.errors)}`);
}
