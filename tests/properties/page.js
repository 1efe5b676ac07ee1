/**
 * Calls every row of tests/properties in a worker of this browser, shows what is wrong, and posts
 * the report to /result.
 */
/* global location */
import { connect } from "../../web/index.js";
import { element, indexURL, post, say } from "../conformance/report.js";

const PARTS = [
  "creation", "draws", "elements", "factors", "folds", "indices", "networks", "orders", "places",
  "products", "spectra", "types",
].map((name) => `of_${name}`); // prettier-ignore
const HERE = [...PARTS, "drive", "operands", "rows", "table", "verdict"];

/** @param {string} name @param {number} otherwise */
function asked(name, otherwise) {
  return Number(new URLSearchParams(location.search).get(name) ?? otherwise);
}

/** @param {string} name @param {string} said */
function show(name, said) {
  const row = /** @type {HTMLTableSectionElement} */ (element("functions")).insertRow();
  row.dataset.state = "failed";
  row.insertCell().textContent = name;
  row.insertCell().textContent = said;
}

async function runAll() {
  const files = Object.fromEntries(HERE.map((name) => [name, `./${name}.py`]));
  files.ulp = "../../tools/ulp.py";
  files.plane = "../plane.py";
  files.philox = "../philox.py";
  const modules = Object.fromEntries(
    Object.entries(files).map(([name, path]) => [name, new URL(path, import.meta.url).href]),
  );
  const gpu = await connect({
    indexURL,
    packages: ["numpy", "hypothesis"],
    modules,
    onProgress: ({ stage }) => say("running", `starting: ${stage} …`),
  });
  const report = { facts: await gpu.call("drive:facts"), functions: 0, failed: {} };
  for (const name of await gpu.call("drive:names")) {
    say("running", `${name} …`);
    const [said] = await gpu.call("drive:check", [name, asked("calls", 2), asked("seed", 0)]);
    report.functions += 1;
    if (said) {
      report.failed[name] = said;
      show(name, said);
    }
  }
  await gpu.close();
  return report;
}

try {
  const report = await runAll();
  const failed = Object.keys(report.failed).length;
  say(
    failed ? "failed" : "passed",
    failed ? `${failed} of ${report.functions} failed` : `all ${report.functions} passed`,
  );
  await post(report);
} catch (error) {
  say("failed", String(error));
  await post({ error: String(error), functions: 0, failed: {} });
}
