/** Checks and times kernels in both languages on this adapter. */
import { KERNELS } from "../../tests/conformance/report.js";
import { addRow, addTable, run, saying, showFacts } from "../page.js";

const at = (/** @type {string} */ path) => new URL(path, import.meta.url);

/** @param {string} name @param {any} result */
function show(name, { python_ms, wgsl_ms, ratio, quartiles, right }) {
  const numbers = [python_ms, wgsl_ms, ratio].map((number) => number.toFixed(3));
  addRow([name, ...numbers, quartiles.map((each) => each.toFixed(3)).join(" to ")], right);
}

void run({
  source: at("./measure.py"),
  columns: ["kernel", "Python, ms", "WGSL, ms", "ratio", "quartiles"],
  modules: Object.fromEntries([
    ["gallery_cases", at("../../tests/gallery/cases.py")],
    ...KERNELS.map((name) => [name, at(`../../examples/kernels/${name}.py`)]),
  ]),
  measure: async (gpu) => {
    const facts = await gpu.call("measure:facts");
    const { adapter, browser, scale, compile_ms } = facts;
    showFacts({ adapter, browser });
    addTable("times", ["kernel", "from Python to WGSL, ms"]);
    for (const [name, time] of Object.entries(compile_ms)) {
      addRow([name, time.toFixed(1)], true, "times");
    }
    saying("measuring");
    const results = await gpu.call("measure:measure", [scale]);
    for (const [name, result] of Object.entries(results)) show(name, result);
    const wrong = Object.values(results).filter(({ right }) => !right).length;
    const said = wrong ? `${wrong} are wrong` : "all right, and measured";
    return { report: { ...facts, results }, said, failed: wrong > 0 };
  },
});
