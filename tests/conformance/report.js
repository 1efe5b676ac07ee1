/**
 * What the pages that measure share: where Pyodide is, what the page says, and the report that is
 * posted to /result.
 */
/* global document, location */

const asked = new URLSearchParams(location.search).get("pyodide");

/** Pyodide's folder: `?pyodide=URL`, by default that of `make setup`. */
export const indexURL = new URL(asked ?? "/build/pyodide/", location.href).href;

/** @param {string} id */
export const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} state @param {string} text */
export function say(state, text) {
  element("state").dataset.state = state;
  element("state").textContent = text;
}

/** @param {object} report */
export async function post(report) {
  try {
    await fetch("/result", { method: "POST", body: JSON.stringify(report) });
  } catch {
    // A plain static server takes no reports; the table is there all the same.
  }
}

/** The files of examples/kernels; tests/gallery/cases.py misses what is not here. */
export const KERNELS = [
  ...["activation", "bitonic_sort", "hashing", "heat", "histogram", "life", "mandelbrot"],
  ...["matmul", "nbody", "prefix_sum", "saxpy", "spmv"],
];
