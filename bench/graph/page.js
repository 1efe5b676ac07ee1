/**
 * Measures what building and scheduling an expression costs in Python, fills the table, and posts
 * the report to /result.
 */
/* global document */
import { element, indexURL, post, say } from "../../tests/conformance/report.js";
import { connect } from "../../web/index.js";

/** @param {string} title @param {number} cost_us */
function addRow(title, cost_us) {
  const row = document.createElement("tr");
  row.insertCell().textContent = title;
  row.insertCell().textContent = cost_us.toFixed(2);
  element("costs").append(row);
}

async function measureAll() {
  const gpu = await connect({
    indexURL,
    modules: { measure: new URL("./measure.py", import.meta.url).href },
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const report = await gpu.call("measure:measure");
  await gpu.close();
  return report;
}

try {
  const report = await measureAll();
  element("adapter").textContent = report.adapter;
  element("browser").textContent = report.browser;
  for (const [title, cost_us] of Object.entries(report.costs_us)) addRow(title, cost_us);
  say("passed", "measured");
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), costs_us: {} });
}
