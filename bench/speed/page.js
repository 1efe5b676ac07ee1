/** Checks and times operations on this adapter. */
import { addRow, run, saying, showFacts } from "../page.js";

/** @param {string} name @param {any} result */
function show(name, { ms, graph_ms, alone_ms, rate, unit, error }) {
  const times = [ms, graph_ms, alone_ms].map((each) => each?.toFixed(3) ?? "");
  const cells = [...times, rate ? `${rate.toFixed(3)} ${unit}` : ""];
  addRow(error ? [name, error, "", "", ""] : [name, ...cells], !error);
}

void run({
  source: new URL("./measure.py", import.meta.url),
  columns: ["operation", "ms, compiled", "ms, by the graph", "ms alone", "rate"],
  measure: async (gpu) => {
    const facts = await gpu.call("measure:facts");
    const { adapter, browser, scale } = facts;
    showFacts({ adapter, browser });
    const results = {};
    for (const name of await gpu.call("measure:names", [scale])) {
      saying(name);
      try {
        results[name] = await gpu.call("measure:measure", [scale, name]);
      } catch (error) {
        results[name] = { error: String(error) };
      }
      show(name, results[name]);
    }
    const wrong = Object.values(results).filter(({ error }) => error).length;
    const said = wrong ? `${wrong} are wrong` : "all right, and measured";
    return { report: { ...facts, results }, said, failed: wrong > 0 };
  },
});
