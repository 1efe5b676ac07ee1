/** Measures what building and scheduling an expression costs in Python. */
import { addRow, run, showFacts } from "../page.js";

void run({
  source: new URL("./measure.py", import.meta.url),
  columns: ["chain of 200 operations on 1024 floats", "µs an operation"],
  packages: [],
  measure: async (gpu) => {
    const report = await gpu.call("measure:measure");
    const { adapter, browser, costs_us } = report;
    showFacts({ adapter, browser });
    for (const [title, cost_us] of Object.entries(costs_us)) addRow([title, cost_us.toFixed(2)]);
    return { report, said: "measured" };
  },
});
