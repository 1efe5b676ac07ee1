/**
 * Waiting for the GPU: the one guard that every awaited promise passes, and the poke.
 *
 * Poke: Chromium answers fences when commands arrive or on a timer of about 2 ms, Firefox on a poll
 * of 100 ms. An empty submit makes both look. So while somebody waits, we send one now and then.
 * (Measured with Chromium 156 and Firefox ESR; may go once both answer by themselves.)
 *
 * Guard: a lost device does not reject by itself. After `destroy()` most promises resolve, and only
 * `mapAsync` rejects, with AbortError, a little before `device.lost` settles.
 */
const QUICK = 40; // pokes at QUICK_MS before slowing down
const QUICK_MS = 0.3;
const SLOW_MS = 4;
const LOST_WAIT_MS = 200;

export class Waiter {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.device = device;
    /** @type {string | null} */ this.lost = null;
    this.waiting = 0;
    this.pokes = 0;
    this.last = 0;
    this.ticking = false;
    /** @type {Set<{ test: () => boolean, resolve: () => void }>} */ this.conditions = new Set();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => this.tick();
    this.port = channel.port2;
    /** @type {Promise<void>} */
    this.gone = device.lost.then((info) => {
      this.lost = info.message || info.reason || "unknown";
      this.notify();
    });
  }

  /**
   * The value of `promise`, or an error whose message begins with "lost:" when the device went.
   * @template T @param {Promise<T>} promise @returns {Promise<T>}
   */
  async settle(promise) {
    this.waiting++;
    if (this.waiting === 1) this.pokes = 0;
    this.start();
    try {
      const value = await promise;
      if (this.lost === null) return value;
    } catch (error) {
      if (/** @type {any} */ (error)?.name === "AbortError" && this.lost === null)
        await Promise.race([
          this.gone,
          new Promise((resolve) => setTimeout(resolve, LOST_WAIT_MS)),
        ]);
      if (this.lost === null) throw error;
    } finally {
      this.waiting--;
    }
    throw new Error(`lost:${this.lost}`);
  }

  /** Resolves once `test()` is true; looked at whenever a submit has finished. @param {() => boolean} test */
  until(test) {
    if (test() || this.lost !== null) return this.settle(Promise.resolve());
    return this.settle(
      /** @type {Promise<void>} */ (
        new Promise((resolve) => this.conditions.add({ test, resolve: () => resolve(undefined) }))
      ),
    );
  }

  /** Resolves after a turn of the event loop, in line with the timers that are due. */
  turn() {
    return new Promise((resolve) => setTimeout(resolve, 0));
  }

  notify() {
    for (const condition of this.conditions)
      if (this.lost !== null || condition.test()) {
        this.conditions.delete(condition);
        condition.resolve();
      }
  }

  start() {
    if (this.ticking) return;
    this.ticking = true;
    this.port.postMessage(0);
  }

  tick() {
    if (this.waiting === 0 || this.lost !== null) {
      this.ticking = false;
      return;
    }
    const now = performance.now();
    const quick = this.pokes < QUICK;
    if (now - this.last >= (quick ? QUICK_MS : SLOW_MS)) {
      this.last = now;
      this.pokes++;
      this.device.queue.submit([]);
    }
    if (quick) this.port.postMessage(0);
    else setTimeout(() => this.tick(), SLOW_MS);
  }
}
