/** What the page shows; nothing here knows how it came about. */

import { highlight } from "./highlight.js";

/** @typedef {import("./app.js").Result} Result */

/** By the stable codes of aiogpu's errors, else by their names: what happened, and what to do. @type {{ [key: string]: [string, string] }} */
const EXPLAINED = {
  "no-webgpu": [
    "No WebGPU here",
    "Current versions of Chrome, Edge, Firefox and Safari have it, on pages over https or from localhost.",
  ],
  "no-adapter": [
    "No GPU that the browser is willing to use",
    "There is WebGPU, but it has no adapter: hardware acceleration may be switched off in the browser's settings.",
  ],
  boot: [
    "Python did not start",
    "Something did not load. Served from the project's root, `make setup wheel` puts everything into its place.",
  ],
  remote: ["Python raised an exception", "Its traceback:"],
  "device-lost": [
    "The GPU was lost",
    "The driver was reset or the device removed. Reload the page.",
  ],
  "worker-lost": ["The worker died", "Its memory may have run out. Reload the page."],
  PhotoError: ["Not a picture that this page can take", "Choose another one."],
};

/**
 * @template {typeof HTMLElement} T
 * @param {string} id
 * @param {T} type
 * @returns {InstanceType<T>}
 */
export function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) {
    throw new TypeError(`#${id}: not a ${type.name}`);
  }
  return /** @type {InstanceType<T>} */ (found);
}

/** @param {string} id @param {string} text */
function write(id, text) {
  element(id, HTMLElement).textContent = text;
}

/** @param {"starting" | "busy" | "ready" | "failed"} state also what tests wait for */
export function showState(state) {
  document.documentElement.dataset["state"] = state;
  for (const button of document.querySelectorAll("button")) {
    button.disabled = state !== "ready";
  }
}

/** @param {string} text @param {number} part from 0 to 1 */
export function showProgress(text, part) {
  write("status", text);
  element("progress", HTMLProgressElement).value = part;
}

/** @param {string} name @param {boolean} isSoftware */
export function showAdapter(name, isSoftware) {
  const badge = element("adapter", HTMLElement);
  badge.textContent = isSoftware ? `${name}: software, not a GPU` : name;
  badge.classList.toggle("software", isSoftware);
  badge.hidden = false;
}

/** @param {unknown} error */
export function showError(error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const { code, traceback } =
    /** @type {{ code?: string, traceback?: string | null }} */ (error) ?? {};
  const [title, hint] = EXPLAINED[code ?? name] ?? [name, ""];
  write("error-title", title);
  write("error-hint", hint);
  write("error-text", traceback?.includes(message) ? traceback : message);
  element("error", HTMLElement).hidden = false;
}

export function hideError() {
  element("error", HTMLElement).hidden = true;
}

/** @param {string} url of the Python file; if it is not there, Python's own import will say so */
export async function showSource(url) {
  const response = await fetch(url);
  if (response.ok) {
    element("source", HTMLElement).replaceChildren(highlight(await response.text()));
    element("python", HTMLElement).hidden = false;
  }
}

/**
 * @param {string} url
 * @param {string} caption
 * @returns {Promise<void>} resolves when it is decoded: that is not to happen while something is measured
 */
export async function showPhoto(url, caption) {
  const image = element("photo", HTMLImageElement);
  URL.revokeObjectURL(image.src);
  image.src = url;
  await image.decode();
  image.hidden = false;
  write("photo-caption", caption);
}

/** @param {Result} result */
export function showResult({ detected, compared, lags }) {
  const lag = Math.max(lags.gpu.page, lags.numpy.page);
  write("shown", detected.every > 1 ? `, one pixel in ${detected.every ** 2}` : "");
  write("difference", String(compared.largest));
  element("difference", HTMLElement).className = compared.largest <= 1 ? "good" : "bad";
  write("gpu-time", duration(detected.ms));
  write("numpy-time", duration(compared.ms));
  write("page-lag", duration(lag));
  const rows = /** @type {const} */ ([
    ["5 ms timer of the page", "page"],
    ["5 ms timer of Python", "python"],
    ["Between two animation frames", "gap"],
  ]);
  showRows(
    "lags",
    rows.map(([title, kind]) => [
      title,
      ...[lags.idle, lags.gpu, lags.numpy].map((beat) => beat[kind].toFixed(0)),
    ]),
  );
  const { counters, memory } = detected;
  showRows("counters", [
    ["Launches, long ones in pieces", count(counters["dispatches"])],
    ["Submits", count(counters["submits"])],
    ["Calls from Python into JavaScript", count(counters["crossings"])],
    ["Arrays read back", count(counters["reads"])],
    ["Most GPU memory", `${((memory["peak"] ?? 0) / 2 ** 20).toFixed(1)} MiB`],
  ]);
  element("results", HTMLElement).hidden = false;
}

/** @param {string} id @param {string[][]} rows the first cell is the row's head */
function showRows(id, rows) {
  const lines = rows.map((cells) => {
    const line = document.createElement("tr");
    for (const [index, text] of cells.entries()) {
      const cell = document.createElement(index === 0 ? "th" : "td");
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  });
  element(id, HTMLElement).replaceChildren(...lines);
}

/** @param {number} ms */
function duration(ms) {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** @param {number | undefined} number */
function count(number) {
  return (number ?? 0).toLocaleString("en");
}
