/**
 * What the pages that measure share: the table, a client with `measure.py` in it, and the report that is posted to
 * /result.
 */
/* global document */
import { element, indexURL, post, say } from "../tests/conformance/report.js";
import { connect } from "../web/index.js";

/**
 * @typedef {object} Bench
 * @property {URL} source the Python that measures, imported as `measure`
 * @property {string[]} columns of the table
 * @property {string[]} [packages]
 * @property {{ [name: string]: URL }} [modules] what else Python imports
 * @property {(gpu: any) => Promise<Measured>} measure
 */

/**
 * @typedef {object} Measured
 * @property {object} report
 * @property {string} said in one line
 * @property {boolean} [failed]
 */

/** The head of a page, and an empty table. @param {string[]} columns */
function build(columns) {
  document.body.insertAdjacentHTML(
    "beforeend",
    `<p id="state" role="status" data-state="running">starting …</p><dl id="facts"></dl>`,
  );
  addTable("rows", columns);
}

/** @param {string} id of its body @param {string[]} columns */
export function addTable(id, columns) {
  const table = document.createElement("table");
  const heads = table.createTHead().insertRow();
  for (const column of columns) {
    const head = document.createElement("th");
    head.textContent = column;
    heads.append(head);
  }
  table.createTBody().id = id;
  document.body.append(table);
}

/** Shows where it was measured, and the like. @param {{ [term: string]: unknown }} facts */
export function showFacts(facts) {
  for (const [term, text] of Object.entries(facts)) {
    const [name, description] = [document.createElement("dt"), document.createElement("dd")];
    [name.textContent, description.textContent, description.id] = [term, String(text), term];
    element("facts").append(name, description);
  }
}

/** @param {string[]} cells @param {boolean} [isRight] @param {string} [id] of the table */
export function addRow(cells, isRight = true, id = "rows") {
  const row = document.createElement("tr");
  row.dataset.state = isRight ? "passed" : "failed";
  for (const text of cells) row.insertCell().textContent = text;
  element(id).append(row);
}

/** Says what is being measured. @param {string} what */
export const saying = (what) => say("running", `${what} …`);

/** Measures, fills the page and posts the report; a failure is shown and posted, too. @param {Bench} bench */
export async function run({ source, columns, packages = ["numpy"], modules = {}, measure }) {
  build(columns);
  try {
    const gpu = await connect({
      indexURL,
      packages,
      modules: { ...modules, measure: source },
      onProgress: ({ stage }) => saying(`starting: ${stage}`),
    });
    const { report, said, failed = false } = await measure(gpu);
    await gpu.close();
    say(failed ? "failed" : "passed", said);
    await post(report);
  } catch (error) {
    say("failed", String(error));
    await post({ error: String(error) });
  }
}
