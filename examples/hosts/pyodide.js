/**
 * Plain Pyodide, on the page's thread or in a worker: start it, install the wheel, run Python.
 *
 * @param {string} indexURL Pyodide's folder, such as "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"
 * @param {string} wheelURL
 * @param {string} moduleURL a Python file with `async def main()`
 */
export async function run(indexURL, wheelURL, moduleURL) {
  const { loadPyodide } = await import(`${indexURL}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL });
  // Where the network allows it: await pyodide.loadPackage("micropip"), then in Python
  // await micropip.install("aiogpu"). A wheel needs no more than this:
  const wheel = await fetch(wheelURL);
  pyodide.unpackArchive(await wheel.arrayBuffer(), "wheel");
  const module = await fetch(moduleURL);
  pyodide.FS.writeFile("mine.py", await module.text());
  return pyodide.runPythonAsync("import json, mine; json.dumps(await mine.main())");
}

/** @typedef {[indexURL: string, wheelURL: string, moduleURL: string]} Wanted */

// In a worker: the page posts what `run` takes, and gets what it gives.
if (typeof WorkerGlobalScope !== "undefined") {
  addEventListener("message", async ({ data }) => {
    try {
      postMessage({ result: await run(.../** @type {Wanted} */ (data)) });
    } catch (error) {
      postMessage({ error: String(error) });
    }
  });
}
