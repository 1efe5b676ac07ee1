/**
 * Where the worker and the wheel stand, seen from a client that runs as it is, from the repository's root.
 *
 * In the bundle `places_packed.js` takes the place of this module.
 */

/** @type {import("./connect.js").Places} */
export const PLACES = {
  get worker() {
    return new URL("../worker.js", import.meta.url).href;
  },
  get wheel() {
    return new URL("../dist/aiogpu-0.1.0-py3-none-any.whl", import.meta.url).href;
  },
};
