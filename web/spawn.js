/** Starts a worker, from wherever its script is. */

/**
 * A browser starts no worker from another origin's script, but one that imports it: that is how a CDN is used.
 * The other origin must allow it (CORS), and the page's policy, where it has one, `worker-src blob:`.
 *
 * @param {string} url
 * @returns {Worker}
 */
export function spawn(url) {
  const options = /** @type {const} */ ({ type: "module", name: "aiogpu" });
  if (new URL(url).origin === location.origin || /^(blob|data):/.test(url)) {
    return new Worker(url, options);
  }
  const script = `import ${JSON.stringify(url)};`;
  const shim = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(shim, options);
  // The browser has read it by then, and an object URL is memory.
  setTimeout(() => URL.revokeObjectURL(shim), 60_000);
  return worker;
}
