/** Loads Pyodide in a worker, such that it either loads or fails. */

/** @typedef {(text: string) => void} Output */

/**
 * @param {string} indexURL with a slash at the end
 * @param {{ stdout: Output, stderr: Output }} output
 * @returns {Promise<import("pyodide").PyodideAPI>} rejects with what could not be loaded, and why
 */
export async function load(indexURL, output) {
  const guard = new LoadGuard();
  try {
    /** @type {unknown} */
    const module = await import(`${indexURL}pyodide.mjs`);
    const { loadPyodide } = /** @type {typeof import("pyodide")} */ (module);
    return await Promise.race([guard.failure, loadPyodide({ indexURL, ...output })]);
  } finally {
    guard.stop();
  }
}

/**
 * Watches what Pyodide loads, from outside.
 *
 * Pyodide 314.0.3 never settles when its WebAssembly does not load or compile (a warning on the console is all), nor when
 * its lock file is missing or broken (the rejection is nobody's), and fails with "[object Object]" without its standard
 * library. So each request, the one compilation and stray rejections are watched while it loads. Nothing is changed on
 * their way: a response that is wrapped would lose the browser's cache of compiled WebAssembly. This can go when
 * `loadPyodide` rejects by itself.
 */
class LoadGuard {
  /** @type {Promise<never>} */
  failure;

  #fetch = globalThis.fetch;
  #instantiate = WebAssembly.instantiateStreaming;
  /** @type {(reason: Error) => void} */
  #fail = () => {};
  #stray = (/** @type {PromiseRejectionEvent} */ event) => this.#fail(asError(event.reason));

  constructor() {
    this.failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Nobody waits for it when the import of the script itself fails.
    this.failure.catch(() => {});
    globalThis.fetch = (...request) => this.#watched(request);
    WebAssembly.instantiateStreaming = async (...source) => {
      try {
        return await this.#instantiate.apply(WebAssembly, source);
      } catch (error) {
        this.#fail(new Error(`pyodide.asm.wasm: ${String(error)}`, { cause: error }));
        throw error;
      }
    };
    addEventListener("unhandledrejection", this.#stray);
  }

  stop() {
    globalThis.fetch = this.#fetch;
    WebAssembly.instantiateStreaming = this.#instantiate;
    removeEventListener("unhandledrejection", this.#stray);
  }

  /** @param {Parameters<typeof fetch>} request */
  async #watched(request) {
    const url = request[0] instanceof Request ? request[0].url : String(request[0]);
    try {
      const response = await this.#fetch.apply(globalThis, request);
      if (!response.ok) {
        this.#fail(new Error(`${url}: HTTP ${response.status}`));
      }
      return response;
    } catch (error) {
      this.#fail(new Error(`${url}: ${String(error)}`, { cause: error }));
      throw error;
    }
  }
}

/** @param {unknown} reason */
function asError(reason) {
  return reason instanceof Error ? reason : new Error(String(reason));
}
