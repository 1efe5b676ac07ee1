import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as errors from "../../web/errors.js";
import { wireError } from "./fake_page.mjs";

test("every class of aiogpu.errors has its twin, with the same code and parent", () => {
  const source = readFileSync(new URL("../../py/aiogpu/errors.py", import.meta.url), "utf8");
  const classes = [
    ...source.matchAll(
      /^class (\w+)\((\w+)(?:(?!^class ).)*? code(?:: ClassVar\[str\])? = "(.*?)"/gms,
    ),
  ];
  assert.ok(classes.length > 15);
  for (const [, name, parent, code] of classes) {
    const twin = errors[name];
    assert.ok(twin, `${name} is missing in web/errors.js`);
    assert.equal(twin.code, code);
    const expected = parent === "Exception" ? "Error" : parent;
    assert.equal(Object.getPrototypeOf(twin).name, expected, name);
    const crossed = errors.fromWire(wireError({ code, name, message: "m" }));
    assert.equal(crossed.constructor, twin);
  }
});

test("an error without a message is its class", () => {
  for (const code of ["remote", "out-of-memory"]) {
    const wire = wireError({ code, name: "StopIteration", message: "" });
    assert.equal(errors.fromWire(wire).message, "StopIteration");
  }
});
