/** What a worker downloads while it starts: how many bytes, and what went wrong. */

/**
 * Watches the worker's downloads from outside, until it is stopped.
 *
 * Why: Pyodide 314.0.3 never settles when its WebAssembly does not load or compile (a warning on the
 * console is all) nor when its lock file is missing or broken (the rejection is nobody's), and says
 * "[object Object]" when its standard library is missing; micropip 0.11.1 takes the page of a 404 for a wheel.
 * Nothing is changed on the way: a response that is wrapped would lose the browser's cache of compiled
 * WebAssembly. The class can shrink to its count of bytes when those two tell of their failures.
 */
export class Downloads {
  /** @type {string[]} each with the URL and the reason */
  problems = [];
  nbytes = 0;
  /**
   * What has been asked for and has not arrived: how many bytes, by URL, or null until the server says so.
   *
   * @type {Map<string, number | null>}
   */
  #announced = new Map();

  #fetch = globalThis.fetch;
  #instantiate = WebAssembly.instantiateStreaming;
  #observer;
  #onBytes;
  /** @type {Promise<never>} */
  #failure;
  /** @type {(reason: Error) => void} */
  #fail = () => {};
  #stray = (/** @type {PromiseRejectionEvent} */ event) => this.#note(String(event.reason));

  /** @param {() => void} onBytes called when `nbytes` or `total` has changed */
  constructor(onBytes) {
    this.#failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failure.catch(() => {});
    globalThis.fetch = (...request) => this.#watched(request);
    WebAssembly.instantiateStreaming = async (...source) => {
      try {
        return await this.#instantiate.apply(WebAssembly, source);
      } catch (error) {
        this.#note(`WebAssembly: ${String(error)}`);
        throw error;
      }
    };
    addEventListener("unhandledrejection", this.#stray);
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of /** @type {PerformanceResourceTiming[]} */ (list.getEntries())) {
        // Another origin that does not allow timing shows no size.
        this.nbytes += entry.encodedBodySize || (this.#announced.get(entry.name) ?? 0);
        this.#announced.delete(entry.name);
      }
      onBytes();
    });
    this.#observer.observe({ type: "resource" });
    this.#onBytes = onBytes;
  }

  /** Bytes of all that has been asked for so far; null while a server has not said how many are under way. */
  get total() {
    let total = this.nbytes;
    for (const nbytes of this.#announced.values()) {
      if (nbytes === null) {
        return null;
      }
      total += nbytes;
    }
    return total;
  }

  /**
   * Waits for something that every problem means the failure of.
   *
   * @template T
   * @param {Promise<T>} loading
   * @returns {Promise<T>} rejects at the first problem
   */
  needing(loading) {
    return Promise.race([this.#failure, loading]);
  }

  stop() {
    globalThis.fetch = this.#fetch;
    WebAssembly.instantiateStreaming = this.#instantiate;
    removeEventListener("unhandledrejection", this.#stray);
    this.#observer.disconnect();
  }

  /** @param {string} problem */
  #note(problem) {
    this.problems.push(problem);
    this.#fail(new Error(problem));
  }

  /** @param {Parameters<typeof fetch>} request */
  async #watched(request) {
    const url = new URL(
      request[0] instanceof Request ? request[0].url : request[0],
      globalThis.location.href,
    ).href;
    this.#announced.set(url, null);
    try {
      const response = await this.#fetch.apply(globalThis, request);
      const nbytes = response.headers.get("Content-Length");
      // A small file may have arrived, and been counted, before.
      if (nbytes !== null && this.#announced.has(url)) {
        this.#announced.set(url, Number(nbytes));
        this.#onBytes();
      }
      if (!response.ok) {
        this.#note(`${url}: HTTP ${response.status}`);
      }
      return response;
    } catch (error) {
      this.#announced.delete(url);
      this.#note(`${url}: ${String(error)}`);
      throw error;
    }
  }
}
