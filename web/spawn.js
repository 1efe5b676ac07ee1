/** Starts a worker, from wherever its script is. */

/** @typedef {(url: string) => Promise<Pick<Response, "ok" | "status" | "headers">>} Fetch */

/**
 * A browser starts no worker from another origin's script, but one that imports it: that is how a CDN is used.
 * The other origin must allow it (CORS), and the page's policy, where it has one, `worker-src blob:`. A `data:` URL,
 * which bundlers can make of a file, is of another origin too: a worker of its own would have no locks.
 *
 * @param {string} url
 * @returns {Worker}
 */
export function spawn(url) {
  const options = /** @type {const} */ ({ type: "module", name: "aiogpu" });
  if (new URL(url).origin === location.origin) {
    return new Worker(url, options);
  }
  const script = `import ${JSON.stringify(url)};`;
  const shim = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(shim, options);
  // The browser has read it by then, and an object URL is memory.
  setTimeout(() => URL.revokeObjectURL(shim), 60_000);
  return worker;
}

/**
 * A worker whose script could not be loaded says no more than that: a second request tells why.
 *
 * @param {Fetch} fetch
 * @param {string} url
 * @returns {Promise<string>} never rejects
 */
export async function whyNotLoaded(fetch, url) {
  try {
    const { ok, status, headers } = await fetch(url);
    if (!ok) {
      return `HTTP ${status}`;
    }
    // Servers of single-page applications answer so for whatever they do not have.
    if (/^text\/html\b/.test(headers.get("content-type") ?? "")) {
      return (
        "the server has a page there, and no script: where a bundler has moved the client away from its worker, " +
        "exclude aiogpu from that (Vite: optimizeDeps.exclude), or give workerURL and wheelURL"
      );
    }
    return "the script, or a module that it imports, could not be loaded";
  } catch (error) {
    return String(error);
  }
}
