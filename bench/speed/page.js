/**
 * Checks and times operations on this adapter, fills the table, and posts the report to /result.
 */
/* global document */
import { element, indexURL, post, say } from "../../tests/conformance/report.js";
import { connect } from "../../web/index.js";

/** @param {string} name @param {any} result */
function addRow(name, { ms, graph_ms, alone_ms, rate, unit, error }) {
  const row = document.createElement("tr");
  row.dataset.state = error ? "failed" : "passed";
  const cells = error
    ? [name, error, "", "", ""]
    : [
        name,
        ...[ms, graph_ms, alone_ms].map((each) => each?.toFixed(3) ?? ""),
        rate ? `${rate.toFixed(3)} ${unit}` : "",
      ];
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
  const results = {};
  for (const name of await gpu.call("measure:names", [facts.scale])) {
    say("running", `${name} …`);
    try {
      results[name] = await gpu.call("measure:measure", [facts.scale, name]);
    } catch (error) {
      results[name] = { error: String(error) };
    }
    addRow(name, results[name]);
  }
  await gpu.close();
  return { ...facts, results };
}

try {
  const report = await measureAll();
  const failed = Object.values(report.results).filter(({ error }) => error).length;
  say(failed ? "failed" : "passed", failed ? `${failed} are wrong` : "all right, and measured");
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), results: {} });
}
