/**
 * What crosses between the page and the worker: every message shape, no logic.
 *
 * A message is an array: its first item is JSON text, the others are the buffers (or other transferred objects) that
 * the text refers to by position. JSON, and not a cloned object, because Python then parses the whole tree in one C
 * call instead of one crossing a node, and because the same text works on CPython, where the server is tested.
 * docs/protocol.md says it in prose; py/aiogpu/server/protocol.py is the other side.
 */

/** One version for client, worker, wheel and protocol: they are released together and only fit together. */
export const VERSION = "0.1.0";

/** The Pyodide that the wheel is tested with. */
export const PYODIDE_VERSION = "314.0.3";

/** @typedef {{ [key: string]: WireValue }} WireObject with a "$" key: one of the tagged values of wire.js */

/** @typedef {null | boolean | number | string | unknown[] | WireObject} WireValue JSON */

/**
 * The first message to a new worker, cloned and not JSON since it carries the port.
 *
 * @typedef {object} BootMessage
 * @property {MessagePort} port where the session's messages go, in both directions
 * @property {string} lock name of the Web Lock that the worker holds while it lives
 * @property {string} indexURL folder of Pyodide, with a slash at the end
 * @property {string} wheelURL aiogpu's wheel
 * @property {string[]} packages names or wheel URLs to install
 * @property {SharedArrayBuffer | null} interrupt two bytes: 2 in the first interrupts Python; the second counts interrupts
 */

/**
 * @typedef {object} HelloMessage
 * @property {"hello"} type
 * @property {string} version
 * @property {{ [name: string]: string }} modules URLs of Python files
 * @property {{ [name: string]: number }} canvases positions among the transferred objects
 * @property {"all" | "marked"} expose what may be called
 */

/**
 * @typedef {object} RunMessage
 * @property {"run"} type
 * @property {number} id
 * @property {string} source
 * @property {string} filename
 * @property {WireValue} locals
 * @property {"value" | "handle"} result how arrays come back
 */

/**
 * @typedef {object} CallMessage
 * @property {"call"} type
 * @property {number} id
 * @property {string} target "module:function"
 * @property {WireValue} args
 * @property {WireValue} kwargs
 * @property {"value" | "handle"} result how arrays come back
 */

/**
 * @typedef {{ type: "import", id: number, module: string }
 *   | { type: "install", id: number, packages: readonly string[] }
 *   | { type: "read", id: number, handles: readonly number[], form: "data" | "item" | "shape" }
 *   | { type: "next", id: number, stream: number }} AskMessage
 */

/**
 * No answer comes to these; an operation's failure is told when its result is read.
 *
 * @typedef {{ type: "op", handle: number, name: string, args: WireValue, kwargs: WireValue }
 *   | { type: "free", handles: readonly number[] }
 *   | { type: "stop", stream: number }
 *   | { type: "interrupt", serial: number }} TellMessage
 */

/** @typedef {{ type: "cancel", id: number } | { type: "close" }} ControlMessage */

/** @typedef {HelloMessage | RunMessage | CallMessage | AskMessage | TellMessage | ControlMessage} PageMessage */

/**
 * `handle` is of the operation that has failed, where it is one.
 *
 * @typedef {{ type: "error", id: number | null, error: WireError, handle: number | null }} ErrorMessage
 */

/**
 * An exception: Python's, or one of worker.js during start-up.
 *
 * @typedef {object} WireError
 * @property {string} code the stable code of a class in errors.js; "remote" for the user's own exceptions
 * @property {string} name the Python class
 * @property {string} message
 * @property {string | null} operation what has failed, of aiogpu's own errors
 * @property {WireLine | null} line of a kernel written in Python
 * @property {string | null} traceback
 * @property {WireError | null} cause
 */

/** @typedef {{ file: string, line: number, text: string }} WireLine */

/**
 * @typedef {{ type: "alive" }
 *   | { type: "stage", stage: string, loaded: number, total: number | null }
 *   | { type: "ready", version: string }
 *   | { type: "failed", stage: string, error: WireError }
 *   | { type: "done", id: number, value: WireValue }
 *   | ErrorMessage
 *   | { type: "progress", id: number, done: number, total: number | null, message: string }
 *   | { type: "stdout" | "stderr", text: string }
 *   | { type: "devicelost", reason: string, message: string }
 *   | { type: "lost", reason: string }
 *   | { type: "closed" }} WorkerMessage
 */
