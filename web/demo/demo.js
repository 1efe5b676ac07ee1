/** The demo: Python in a worker, through aiogpu's client. */

import { connect } from "../index.js";
import { start } from "./app.js";

/** @typedef {import("./app.js").Detected} Detected */
/** @typedef {import("./app.js").Compared} Compared */
/** @typedef {import("./app.js").Warm} Warm */

/** What the stages of the start are called, and how much of it is done. @type {{ [stage: string]: [string, number] }} */
const STAGES = {
  worker: ["Starting the worker", 0.05],
  pyodide: ["Loading Python", 0.15],
  packages: ["Loading NumPy", 0.5],
  wheel: ["Installing aiogpu", 0.75],
  server: ["Importing aiogpu", 0.85],
};

void start(async ({ indexURL, wheelURL, pythonURL, canvas, onProgress }) => {
  const client = await connect({
    indexURL,
    ...(wheelURL !== undefined && { wheelURL }),
    packages: ["numpy"],
    modules: { edges: pythonURL },
    canvas,
    onProgress: ({ stage, loaded, total }) => {
      const [text, part] = STAGES[stage] ?? [stage, 0.9];
      const of = total === null ? "" : ` of ${(total / 1e6).toFixed(1)}`;
      onProgress(loaded > 0 ? `${text}: ${(loaded / 1e6).toFixed(1)}${of} MB` : text, part);
    },
  });
  /**
   * @param {string} name
   * @param {unknown[]} [args]
   * @param {import("../client.js").CallOptions} [options]
   * @returns {Promise<unknown>}
   */
  const call = (name, args, options) => client.call(`edges:${name}`, args, options);
  return {
    warmUp: async () => /** @type {Warm} */ (await call("warm_up")),
    idle: async (seconds) => Number(await call("idle", [seconds])),
    detect: async ({ data, width, height }) => {
      const transfer = [/** @type {ArrayBuffer} */ (data.buffer)];
      return /** @type {Detected} */ (await call("detect", [data, width, height], { transfer }));
    },
    compare: async (onPart) => {
      /** @param {import("../link.js").Progress} progress */
      const onProgress = ({ done, total }) => onPart(done / (total ?? done));
      return /** @type {Compared} */ (await call("compare", [], { onProgress }));
    },
    lost: client.closed,
  };
});
