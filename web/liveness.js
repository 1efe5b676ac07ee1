/**
 * Who is alive, by held Web Locks.
 *
 * A worker that ends tells nobody: no event fires on its Worker object or on a port, and one that computes looks the
 * same as a dead one. A lock is let go by the browser exactly when its holder ends (at once when idle, within 2 s in
 * Chromium otherwise) and never because it is busy. https://www.w3.org/TR/web-locks/#agent-integration
 */

/** @typedef {Pick<LockManager, "request">} Locks */

/**
 * Holds a lock until this worker ends.
 *
 * @param {Locks} locks
 * @param {string} name
 * @returns {Promise<void>} resolves when it is held
 */
export function hold(locks, name) {
  return new Promise((resolve, reject) => {
    const forever = () => {
      resolve();
      return new Promise(() => {});
    };
    locks.request(name, forever).catch(reject);
  });
}

/**
 * Calls back when the holder of a lock ends.
 *
 * @param {Locks} locks
 * @param {string} name held already: a lock that nobody holds counts as let go
 * @param {() => void} onEnd called at most once, and never after the signal has fired
 * @param {AbortSignal} signal stops the watch
 */
export function watch(locks, name, onEnd, signal) {
  locks.request(name, { signal }, onEnd).catch((/** @type {unknown} */ error) => {
    // The page itself is going away, or the watch was stopped.
    if (!signal.aborted) {
      throw error;
    }
  });
}
