/**
 * Checks and times kernels in both languages on this adapter, and posts the report to /result.
 */
/* global document */
import { element, indexURL, KERNELS, post, say } from "../../tests/conformance/report.js";
import { connect } from "../../web/index.js";

/** @param {string} name @param {any} result */
function addRow(name, { python_ms, wgsl_ms, ratio, quartiles: [low, high], right }) {
  const row = document.createElement("tr");
  row.dataset.state = right ? "passed" : "failed";
  const spread = `${low.toFixed(3)} to ${high.toFixed(3)}`;
  const cells = [name, python_ms.toFixed(3), wgsl_ms.toFixed(3), ratio.toFixed(3), spread];
  for (const text of cells) row.insertCell().textContent = text;
  element("speeds").append(row);
}

/** @param {{ [name: string]: number }} times */
function addTimes(times) {
  for (const [name, time] of Object.entries(times)) {
    const row = document.createElement("tr");
    for (const text of [name, time.toFixed(1)]) row.insertCell().textContent = text;
    element("times").append(row);
  }
}

async function measureAll() {
  const at = (/** @type {string} */ path) => new URL(path, import.meta.url).href;
  const modules = Object.fromEntries([
    ["measure", at("./measure.py")],
    ["gallery_cases", at("../../tests/gallery/cases.py")],
    ...KERNELS.map((name) => [name, at(`../../examples/kernels/${name}.py`)]),
  ]);
  const gpu = await connect({
    indexURL,
    packages: ["numpy"],
    modules,
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const facts = await gpu.call("measure:facts");
  element("adapter").textContent = facts.adapter;
  element("browser").textContent = facts.browser;
  addTimes(facts.compile_ms);
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
