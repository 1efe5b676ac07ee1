/**
 * A promise, and the two ways to settle it.
 *
 * @template T
 * @typedef {{ promise: Promise<T>, resolve: (value: T) => void, reject: (reason: Error) => void }} Deferred
 */

/**
 * @template T
 * @returns {Deferred<T>}
 */
export function deferred() {
  /** @type {(value: T) => void} */
  let resolve = () => {};
  /** @type {(reason: Error) => void} */
  let reject = () => {};
  /** @type {Promise<T>} */
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
