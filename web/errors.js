/**
 * The page's twin of `aiogpu.errors`: one class for each stable code.
 *
 *     AioGpuError
 *       UsageError            ShapeError, AxisError, DTypeError, IntegerOverflowError, HandleError,
 *                             UnknownFunctionError
 *       SyncAccessError
 *       ClosedError
 *       ImportFailedError     what a page, or its Python, wants imported or installed is not there
 *       DeviceError           NoWebGPUError, NoAdapterError, FeatureError, LimitError, OutOfMemoryError,
 *                             DeviceLostError, KernelError
 *       ProtocolError         VersionError
 *       BootError             the worker, Pyodide, the wheel or a module did not start
 *       WorkerLostError       the worker died
 *       RemoteError           an exception of the user's own Python
 */

/** @typedef {import("./protocol.js").WireError} WireError */
/** @typedef {import("./protocol.js").WireLine} WireLine */

/**
 * @typedef {object} Details
 * @property {unknown} [cause]
 * @property {string | null} [operation] by default how the message begins
 * @property {string | null} [pythonName]
 * @property {string | null} [traceback]
 * @property {WireLine | null} [kernelLine]
 */

/** The root of everything that aiogpu rejects with; an AbortSignal's reason is passed on as it is. */
export class AioGpuError extends Error {
  static code = "aiogpu";

  /** @param {string} message @param {Details} [details] */
  constructor(message, details = {}) {
    const { cause, operation, pythonName = null, traceback = null, kernelLine = null } = details;
    super(message, cause === undefined ? undefined : { cause });
    const type = /** @type {typeof AioGpuError} */ (new.target);
    this.name = type.name;
    /** Stable across versions and minifiers: compare this, not `name`. */
    this.code = type.code;
    /** What was called, such as "matmul"; null where the user's own Python speaks. */
    this.operation = operation === undefined ? operationOf(message) : operation;
    /** Class of the Python exception, or null when the error was made on the page. */
    this.pythonName = pythonName;
    /** Python's traceback as text, or null when there is none. */
    this.traceback = traceback;
    /** The line of a kernel written in Python that is meant: `{ file, line, text }`, or null. */
    this.kernelLine = kernelLine;
  }
}

export class UsageError extends AioGpuError {
  static code = "usage";
}
export class ShapeError extends UsageError {
  static code = "shape";
}
export class AxisError extends UsageError {
  static code = "axis";
}
export class DTypeError extends UsageError {
  static code = "dtype";
}
export class IntegerOverflowError extends UsageError {
  static code = "integer-overflow";
}
export class HandleError extends UsageError {
  static code = "handle";
}
export class UnknownFunctionError extends UsageError {
  static code = "unknown-function";
}
export class SyncAccessError extends AioGpuError {
  static code = "sync-access";
}
export class ClosedError extends AioGpuError {
  static code = "closed";
}
export class ImportFailedError extends AioGpuError {
  static code = "import";
}
export class DeviceError extends AioGpuError {
  static code = "device";
}
export class NoWebGPUError extends DeviceError {
  static code = "no-webgpu";
}
export class NoAdapterError extends DeviceError {
  static code = "no-adapter";
}
export class FeatureError extends DeviceError {
  static code = "feature";
}
export class LimitError extends DeviceError {
  static code = "limit";
}
export class OutOfMemoryError extends DeviceError {
  static code = "out-of-memory";
}
export class DeviceLostError extends DeviceError {
  static code = "device-lost";
}
export class KernelError extends DeviceError {
  static code = "kernel";
}
export class ProtocolError extends AioGpuError {
  static code = "protocol";
}
export class VersionError extends ProtocolError {
  static code = "version";
}
export class BootError extends AioGpuError {
  static code = "boot";
}
export class WorkerLostError extends AioGpuError {
  static code = "worker-lost";
}
export class RemoteError extends AioGpuError {
  static code = "remote";
}

/** @type {Map<string, typeof AioGpuError>} */
const CLASSES = new Map(
  [
    AioGpuError,
    UsageError,
    ShapeError,
    AxisError,
    DTypeError,
    IntegerOverflowError,
    HandleError,
    UnknownFunctionError,
    SyncAccessError,
    ClosedError,
    ImportFailedError,
    DeviceError,
    NoWebGPUError,
    NoAdapterError,
    FeatureError,
    LimitError,
    OutOfMemoryError,
    DeviceLostError,
    KernelError,
    ProtocolError,
    VersionError,
    BootError,
    WorkerLostError,
    RemoteError,
  ].map((type) => [type.code, type]),
);

/**
 * The page's error for one that crossed the bridge, with its chain of causes.
 *
 * @param {WireError} wire
 * @returns {AioGpuError} of the class that the code names; RemoteError when this page knows no such code
 */
export function fromWire(wire) {
  const type = CLASSES.get(wire.code) ?? RemoteError;
  // Other classes than RemoteError say what has happened; Python's own may say no more than their names.
  const text =
    type === RemoteError || wire.message === "" ? joined(wire.name, wire.message) : wire.message;
  return new type(text, {
    cause: wire.cause === null ? undefined : fromWire(wire.cause),
    operation: wire.operation,
    pythonName: wire.name,
    traceback: wire.traceback,
    kernelLine: wire.line,
  });
}

/**
 * The page's error for a start that failed in the worker.
 *
 * @param {string} stage
 * @param {WireError} error
 * @returns {() => AioGpuError} a BootError, unless the cause has a class that says more
 */
export function bootFailure(stage, error) {
  if (["version", "no-webgpu", "no-adapter"].includes(error.code)) {
    return () => fromWire(error);
  }
  const text = error.traceback ?? error.message;
  const details = { cause: fromWire(error), traceback: error.traceback };
  return () => new BootError(`connect: ${stage}: ${text}`, details);
}

/** How a message of aiogpu's begins. @param {string} message */
function operationOf(message) {
  return /^[\w.]+(?=: )/.exec(message)?.[0] ?? null;
}

/** @param {string} name @param {string} message */
function joined(name, message) {
  return message === "" ? name : `${name}: ${message}`;
}

/**
 * Remembers where the page made a call, to be shown when the call fails much later.
 *
 * @param {number} [depth] how many of our own frames to leave out, this function's included
 * @returns {string} stack frames as text
 */
export function callSite(depth = 2) {
  const lines = (new Error("call").stack ?? "").split("\n");
  // V8 repeats the message above the frames, other engines do not.
  return lines.slice(lines[0] === "Error: call" ? depth + 1 : depth).join("\n");
}

/**
 * Gives an error the stack of the call that it belongs to, Python's traceback first.
 *
 * @template {AioGpuError} E
 * @param {E} error
 * @param {string} site from `callSite`
 * @returns {E} the same error
 */
export function withSite(error, site) {
  const traceback = error.traceback === null ? "" : `${error.traceback.trimEnd()}\n`;
  error.stack = `${error.name}: ${error.message}\n${traceback}${site}`;
  return error;
}
