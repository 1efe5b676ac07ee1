/** Is it a message of the worker's? The fields that each type must have, and what they are. */

/** @typedef {import("./protocol.js").WorkerMessage} WorkerMessage */
/** @typedef {(value: unknown) => boolean} Check */

const MOST_CAUSES = 10;

/** @type {{ [name: string]: Check }} */
const KINDS = {
  id: (value) => Number.isSafeInteger(value),
  maybeId: (value) => value === null || Number.isSafeInteger(value),
  number: (value) => typeof value === "number",
  maybeNumber: (value) => value === null || typeof value === "number",
  text: (value) => typeof value === "string",
  maybeText: (value) => value === null || typeof value === "string",
  line: (value) => value === null || hasFields(value, LINE),
  error: (value) => isError(value, MOST_CAUSES),
  // Absent is `undefined`, which no JSON is.
  value: (value) => value !== undefined,
};

/** @type {{ [type: string]: { [field: string]: string } }} */
export const TYPES = {
  alive: {},
  stage: { stage: "text", loaded: "number", total: "maybeNumber" },
  failed: { stage: "text", error: "error" },
  ready: { version: "text" },
  done: { id: "id", value: "value" },
  error: { id: "maybeId", error: "error", handle: "maybeId" },
  progress: { id: "id", done: "number", total: "maybeNumber", message: "text" },
  devicelost: { reason: "text", message: "text" },
  stdout: { text: "text" },
  stderr: { text: "text" },
  lost: { reason: "text" },
  closed: {},
};

/** What an error has; `isError` looks at the causes. @type {{ [field: string]: string }} */
export const ERROR = {
  code: "text",
  name: "text",
  message: "text",
  operation: "maybeText",
  line: "line",
  traceback: "maybeText",
  cause: "value",
};

/** @type {{ [field: string]: string }} */
export const LINE = { file: "text", line: "id", text: "text" };

// A map, for which "constructor" is no type.
const FIELDS = new Map(Object.entries(TYPES));

/**
 * @param {unknown} message JSON
 * @returns {message is WorkerMessage}
 */
export function isWorkerMessage(message) {
  if (message === null || typeof message !== "object") {
    return false;
  }
  const fields = FIELDS.get(String(Reflect.get(message, "type")));
  return fields !== undefined && hasFields(message, fields);
}

/** @param {unknown} value @param {{ [field: string]: string }} fields */
function hasFields(value, fields) {
  const named = /** @type {{ [field: string]: unknown }} */ (value ?? {});
  return Object.entries(fields).every(([field, kind]) => KINDS[kind]?.(named[field]));
}

/** @param {unknown} value @param {number} mostCauses @returns {boolean} */
function isError(value, mostCauses) {
  if (mostCauses < 0 || !hasFields(value, ERROR)) {
    return false;
  }
  const { cause } = /** @type {{ cause: unknown }} */ (value);
  return cause === null || isError(cause, mostCauses - 1);
}
