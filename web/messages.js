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
  error: (value) => isError(value, MOST_CAUSES),
  // Absent is `undefined`, which no JSON is.
  value: (value) => value !== undefined,
};

/** @type {{ [type: string]: { [field: string]: string } }} */
const TYPES = {
  alive: {},
  stage: { stage: "text", loaded: "number", total: "maybeNumber" },
  failed: { stage: "text", error: "error" },
  ready: { version: "text" },
  done: { id: "id", value: "value" },
  error: { id: "maybeId", error: "error" },
  progress: { id: "id", done: "number", total: "maybeNumber", message: "text" },
  devicelost: { reason: "text", message: "text" },
  stdout: { text: "text" },
  stderr: { text: "text" },
  lost: { reason: "text" },
  closed: {},
};

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
  const named = /** @type {{ [field: string]: unknown }} */ (message);
  const fields = FIELDS.get(String(named["type"]));
  return (
    fields !== undefined &&
    Object.entries(fields).every(([field, kind]) => KINDS[kind]?.(named[field]))
  );
}

/** @param {unknown} value @param {number} mostCauses @returns {boolean} */
function isError(value, mostCauses) {
  if (value === null || typeof value !== "object" || mostCauses < 0) {
    return false;
  }
  const { code, name, message, traceback, cause } = /** @type {{ [field: string]: unknown }} */ (
    value
  );
  return (
    [code, name, message].every((text) => typeof text === "string") &&
    (traceback === null || typeof traceback === "string") &&
    (cause === null || isError(cause, mostCauses - 1))
  );
}
