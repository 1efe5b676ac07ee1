/**
 * Measures the error of every elementary function on this adapter, fills the table, and posts the
 * report to /result: what `tools/accuracy.py --add` takes.
 *
 * `?points=N` tries fewer arguments.
 */
/* global document, location */
import { element, indexURL, post, say } from "../../tests/conformance/report.js";
import { connect } from "../../web/index.js";

const MODULES = {
  trial: new URL("../../tools/trial.py", import.meta.url).href,
  ulp: new URL("../../tools/ulp.py", import.meta.url).href,
  measure: new URL("./measure.py", import.meta.url).href,
};

/** @param {string} name @param {number} bound @param {{ ulp: number, at: string }} worst */
function addRow(name, bound, { ulp, at }) {
  const passed = ulp >= 0 && ulp <= bound;
  const row = document.createElement("tr");
  row.dataset.state = passed ? "passed" : "failed";
  const shown = ulp < 0 ? "a special value is wrong" : ulp.toFixed(2);
  for (const text of [name, String(bound), shown, at]) {
    row.insertCell().textContent = text;
  }
  element("functions").append(row);
  return passed;
}

async function measureAll() {
  const gpu = await connect({
    indexURL,
    packages: ["numpy"],
    modules: MODULES,
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const facts = await gpu.call("measure:facts");
  const points = Number(new URLSearchParams(location.search).get("points") ?? facts.points);
  const start = performance.now();
  element("adapter").textContent = facts.adapter;
  element("browser").textContent = facts.through;
  element("points").textContent = String(points);
  const functions = {};
  const failed = [];
  for (const [name, bound] of await gpu.call("measure:bounds")) {
    say("running", `${name} …`);
    functions[name] = await gpu.call("measure:measure", [name, points]);
    if (!addRow(name, bound, functions[name])) failed.push(name);
  }
  await gpu.close();
  const elapsed_s = Math.round((performance.now() - start) / 1000);
  const date = new Date().toISOString().slice(0, 10);
  return { ...facts, date, points, elapsed_s, failed, functions };
}

try {
  const report = await measureAll();
  const { failed, elapsed_s, functions } = report;
  const count = Object.keys(functions).length;
  if (failed.length) say("failed", `${failed.length} of ${count} are worse than the table says`);
  else say("passed", `all ${count} are as exact as the table says, ${elapsed_s} s`);
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), functions: {} });
}
