/**
 * Measures the error of every elementary function on this adapter; the report is what `tools/accuracy.py --add` takes.
 *
 * `?points=N` tries fewer arguments.
 */
/* global location */
import { addRow, run, saying, showFacts } from "../page.js";

/** @param {string} name @param {number} bound @param {{ ulp: number, at: string }} worst */
function show(name, bound, { ulp, at }) {
  const passed = ulp >= 0 && ulp <= bound;
  addRow([name, String(bound), ulp < 0 ? "a special value is wrong" : ulp.toFixed(2), at], passed);
  return passed;
}

void run({
  source: new URL("./measure.py", import.meta.url),
  columns: ["function", "most ulp allowed", "measured", "where"],
  modules: {
    trial: new URL("../../tools/trial.py", import.meta.url),
    ulp: new URL("../../tools/ulp.py", import.meta.url),
  },
  measure: async (gpu) => {
    const facts = await gpu.call("measure:facts");
    const points = Number(new URLSearchParams(location.search).get("points") ?? facts.points);
    const start = performance.now();
    showFacts({ adapter: facts.adapter, browser: facts.through, points });
    const functions = {};
    const failed = [];
    for (const [name, bound] of await gpu.call("measure:bounds")) {
      saying(name);
      functions[name] = await gpu.call("measure:measure", [name, points]);
      if (!show(name, bound, functions[name])) failed.push(name);
    }
    const elapsed_s = Math.round((performance.now() - start) / 1000);
    const date = new Date().toISOString().slice(0, 10);
    const count = Object.keys(functions).length;
    return {
      report: { ...facts, date, points, elapsed_s, failed, functions },
      said: failed.length
        ? `${failed.length} of ${count} are worse than the table says`
        : `all ${count} are as exact as the table says, ${elapsed_s} s`,
      failed: failed.length > 0,
    };
  },
});
