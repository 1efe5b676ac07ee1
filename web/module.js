/** A Python module in the page: every name of it is a function that gives a promise. */

/** @typedef {{ (...args: unknown[]): Promise<any>, [name: string]: PythonName }} PythonName */
/** @typedef {{ [name: string]: PythonName }} PythonModule */

/**
 * @param {(target: string, args: unknown[]) => Promise<unknown>} call
 * @param {string} module
 * @returns {PythonModule} `m.f(1)` calls `f`; `m.a.b(1)` the `b` of `a`
 */
export function moduleProxy(call, module) {
  return new Proxy(Object.freeze({}), {
    get: (_, key) => nameProxy(call, module, key),
  });
}

/**
 * @param {(target: string, args: unknown[]) => Promise<unknown>} call
 * @param {string} module
 * @param {string | symbol} path
 * @returns {unknown}
 */
function nameProxy(call, module, path) {
  // Whatever has a `then` is taken for a promise by `await`: the proxy, and each name in it, is none.
  if (typeof path === "symbol" || /(^|\.)then$/.test(path)) {
    return undefined;
  }
  // An arrow function has no properties that a proxy must show as they are.
  return new Proxy(() => {}, {
    get: (_, key) => nameProxy(call, module, typeof key === "symbol" ? key : `${path}.${key}`),
    apply: (_, __, args) => call(`${module}:${path}`, args),
  });
}
