// Builds what is published of the page's side, each in one file: dist/aiogpu.js, the module;
// dist/aiogpu.iife.js, which sets window.aiogpu; and dist/worker.js. Either client looks for the worker
// beside itself, as it does for the wheel.

import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const PACKED = fileURLToPath(new URL("../web/places_packed.js", import.meta.url));

/** Here the worker and the wheel stand elsewhere than in the repository. */
const packedPlaces = {
  name: "packed-places",
  setup: ({ onResolve }) => onResolve({ filter: /\/places\.js$/ }, () => ({ path: PACKED })),
};

const shared = { bundle: true, target: "es2022", legalComments: "none", logLevel: "warning" };

await build({
  ...shared,
  entryPoints: ["web/index.js"],
  format: "esm",
  outfile: "dist/aiogpu.js",
  plugins: [packedPlaces],
});

// In a syntax that browsers of 2019 parse: they are told that they have no WebGPU, and not nothing.
await build({
  ...shared,
  target: "es2018",
  entryPoints: ["web/iife.js"],
  format: "iife",
  globalName: "aiogpu",
  outfile: "dist/aiogpu.iife.js",
});

// A module: Pyodide's loader is an ES module, which a classic worker could not import.
await build({ ...shared, entryPoints: ["worker.js"], format: "esm", outfile: "dist/worker.js" });
