/**
 * Where the worker and the wheel stand, seen from dist/aiogpu.js: beside it.
 *
 * Written out in full, and as `new URL("...", import.meta.url)`: that is the form by which bundlers (Vite, webpack,
 * Rolldown, Parcel) know a file that must come along, and replace by its new address. Evaluated by `connect` only: a
 * bundle in another format than ES modules has no `import.meta.url`.
 */

/** @type {import("./connect.js").Places} */
export const PLACES = {
  get worker() {
    return unmoved(new URL("./worker.js", import.meta.url).href);
  },
  get wheel() {
    return unmoved(new URL("./aiogpu-0.1.0-py3-none-any.whl", import.meta.url).href);
  },
};

/**
 * Vite's development server bundles packages into node_modules/.vite/deps. Before Vite 8.0 it left such URLs as they
 * were, and they pointed there (github.com/vitejs/vite/issues/8427). This may go with Vite 7.
 *
 * @param {string} url
 */
function unmoved(url) {
  return url.replace("/node_modules/.vite/deps/", "/node_modules/aiogpu/dist/");
}
