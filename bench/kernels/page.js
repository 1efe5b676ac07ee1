/**
 * Checks and times kernels in both languages on this adapter, and posts the report to /result.
 */
/* global document */
import { element, indexURL, post, say } from "../../tests/conformance/report.js";
import { connect } from "../../web/index.js";

/** @param {string} name @param {any} result */
function addRow(name, { python_ms, wgsl_ms, ratio, right }) {
  const row = document.createElement("tr");
  row.dataset.state = right ? "passed" : "failed";
  const cells = [name, python_ms.toFixed(3), wgsl_ms.toFixed(3), ratio.toFixed(3)];
  for (const text of cells) row.insertCell().textContent = text;
  element("speeds").append(row);
}

async function measureAll() {
  const gpu = await connect({
    indexURL,
    packages: ["numpy"],
    modules: { measure: new URL("./measure.py", import.meta.url).href },
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const facts = await gpu.call("measure:facts");
  element("adapter").textContent = facts.adapter;
  element("browser").textContent = facts.browser;
  say("running", "measuring …");
  const results = await gpu.call("measure:measure", [facts.scale]);
  for (const [name, result] of Object.entries(results)) addRow(name, result);
  await gpu.close();
  return { ...facts, results };
}

try {
  const report = await measureAll();
  const wrong = Object.values(report.results).filter(({ right }) => !right).length;
  say(wrong ? "failed" : "passed", wrong ? `${wrong} are wrong` : "all right, and measured");
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), results: {} });
}
