/**
 * Runs tests/conformance/cases.py in a worker, fills the table, and posts the report to /result.
 */
/* global document */
import { connect } from "../../web/index.js";
import { element, indexURL, KERNELS, post, say } from "./report.js";

/** @param {string} identifier @param {string} title */
function addRow(identifier, title) {
  const row = document.createElement("tr");
  for (const text of [identifier, title, "", ""]) {
    row.insertCell().textContent = text;
  }
  element("cases").append(row);
  return row;
}

/**
 * @param {HTMLTableRowElement} row
 * @param {{ passed: boolean, message: string, elapsed_ms: number }} outcome
 */
function fillRow(row, { passed, message, elapsed_ms }) {
  row.dataset.state = passed ? "passed" : "failed";
  const [, title, result, time] = row.cells;
  result.textContent = passed ? "passed" : "failed";
  time.textContent = `${Math.round(elapsed_ms)} ms`;
  if (!passed) {
    const detail = document.createElement("pre");
    detail.textContent = message;
    title.append(detail);
  }
}

/** @param {any} facts the report of aiogpu */
function showFacts({ aiogpu, adapter, environment }) {
  const { vendor, architecture, kind } = adapter ?? {};
  element("adapter").textContent = `${vendor} ${architecture}: ${kind}`;
  element("browser").textContent = environment.user_agent;
  element("version").textContent = aiogpu;
}

async function runAll() {
  const at = (/** @type {string} */ path) => new URL(path, import.meta.url).href;
  const names = ["bounded", "graphs", "growth", "registry", "edges", "kernels", "cases"];
  const modules = Object.fromEntries([
    ...names.map((name) => [name, at(`./${name}.py`)]),
    ...KERNELS.map((name) => [name, at(`../../examples/kernels/${name}.py`)]),
    ["gallery_cases", at("../gallery/cases.py")],
    ["programs", at("../fuzz/programs.py")],
    ["features", at("../fuzz/features.py")],
  ]);
  const gpu = await connect({
    indexURL,
    packages: ["numpy"],
    modules,
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const report = { facts: await gpu.call("cases:facts"), cases: [] };
  showFacts(report.facts);
  const rows = (await gpu.call("cases:names")).map(([identifier, title]) => ({
    identifier,
    title,
    row: addRow(identifier, title),
  }));
  for (const { identifier, title, row } of rows) {
    say("running", `${identifier} …`);
    const outcome = await gpu.call("cases:run", [identifier]);
    fillRow(row, outcome);
    report.cases.push({ identifier, title, ...outcome });
  }
  await gpu.close();
  return report;
}

try {
  const report = await runAll();
  const failed = report.cases.filter(({ passed }) => !passed).length;
  const count = report.cases.length;
  say(
    failed ? "failed" : "passed",
    failed ? `${failed} of ${count} failed` : `all ${count} passed`,
  );
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), cases: [] });
}
