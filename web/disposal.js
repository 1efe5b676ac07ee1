/**
 * Makes a class work with `using` or `await using`, where the engine knows them.
 *
 * @template {string} M
 * @param {{ [name in M]: () => unknown }} prototype
 * @param {"dispose" | "asyncDispose"} name
 * @param {M} method that lets go
 */
export function disposable(prototype, name, method) {
  /** @type {unknown} */
  const key = Reflect.get(Symbol, name);
  if (typeof key === "symbol") {
    /** @this {typeof prototype} */
    const value = function () {
      const result = this[method]();
      return name === "dispose" ? undefined : result;
    };
    Object.defineProperty(prototype, key, { value, configurable: true, writable: true });
  }
}
