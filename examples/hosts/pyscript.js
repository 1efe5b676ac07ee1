/** The page's side: starts PyScript's worker, and draws what it computes. */
import { PyWorker } from "/node_modules/@pyscript/core/dist/core.js";

/** @param {string} id */
const element = (id) => /** @type {any} */ (document.getElementById(id));
const state = element("state");
const zoom = element("zoom");

try {
  const worker = await PyWorker("./pyscript_worker.py", {
    config: "./pyscript.json",
    // Our own copy of Pyodide; without this line PyScript takes one from its CDN.
    version: new URL("/build/pyodide/pyodide.mjs", location.href).href,
  });
  const gpu = worker.sync; // the functions that it exports
  const draw = async () => {
    const png = new Uint8Array(await gpu.picture(Number(zoom.value)));
    const image = await createImageBitmap(new Blob([png], { type: "image/png" }));
    element("picture").getContext("2d").drawImage(image, 0, 0);
  };
  await draw();
  zoom.disabled = false;
  zoom.addEventListener("input", draw);
  const inline = JSON.parse(await gpu.inline());
  const accepted = JSON.parse(await gpu.accept());
  Object.assign(window, { inline, accepted });
  const { environment, adapter } = accepted.report;
  element("said").textContent =
    `${adapter.vendor} ${adapter.architecture}: ${adapter.kind}\n` +
    `Python can wait without await: ${environment.run_sync ? "yes" : "no"}`;
  state.textContent = "ready: move the slider";
  state.dataset.state = "ready";
} catch (error) {
  state.textContent = String(error);
  state.dataset.state = "failed";
}
