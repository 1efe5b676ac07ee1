// Builds what a script tag loads: dist/aiogpu.iife.js, which sets window.aiogpu, and dist/worker.js,
// the worker in one file, which it looks for beside itself, as it does for the wheel.

import { build } from "esbuild";

const shared = { bundle: true, target: "es2022", legalComments: "none", logLevel: "warning" };

await build({
  ...shared,
  entryPoints: ["web/iife.js"],
  format: "iife",
  globalName: "aiogpu",
  outfile: "dist/aiogpu.iife.js",
});

// A module: Pyodide's loader is an ES module, which a classic worker could not import.
await build({ ...shared, entryPoints: ["worker.js"], format: "esm", outfile: "dist/worker.js" });
