/** Installs aiogpu's wheel, from whatever address it was given. */

/** @typedef {Pick<import("pyodide").PyodideAPI, "unpackArchive" | "pyimport">} Pyodide */
/** @typedef {{ get_path: (name: string) => string }} Sysconfig */
/** @typedef {{ invalidate_caches: () => void }} Importlib */

/** What a zip archive begins with. */
const MAGIC = "PK\u0003\u0004";

/**
 * Not by micropip: that reads name and version out of the URL, and bundlers give files names of their own
 * (`aiogpu-0.1.0-py3-none-any-Bx3k9.whl`, `4f0c2a.whl`, `data:`). The wheel is pure Python and needs no other, so
 * unpacking is all there is to it.
 *
 * @param {Pyodide} pyodide
 * @param {string} url
 * @throws {Error} there is no wheel: the message has the URL and what came instead
 */
export async function installWheel(pyodide, url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`${url}: HTTP ${response.status}`);
  }
  const bytes = await response.arrayBuffer();
  if (String.fromCharCode(...new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength))) !== MAGIC) {
    // Servers of single-page applications answer so for whatever they do not have.
    const type = response.headers.get("content-type") ?? "of no type";
    throw new Error(`${url}: is no wheel: ${bytes.byteLength} bytes, ${type}`);
  }
  /** @type {unknown} */
  const sysconfig = pyodide.pyimport("sysconfig");
  const extractDir = /** @type {Sysconfig} */ (sysconfig).get_path("purelib");
  pyodide.unpackArchive(bytes, "wheel", { extractDir });
  // Python has looked into that folder before, and would not see what is new in it.
  /** @type {unknown} */
  const importlib = pyodide.pyimport("importlib");
  /** @type {Importlib} */ (importlib).invalidate_caches();
}
