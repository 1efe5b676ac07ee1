/**
 * Error scopes, and what failed. The three JavaScript errors that matter here (validation, out of
 * memory, internal) never end on the console: they become records that Python fetches.
 */

/** @typedef {{ kind: string, id: number, type: string, message: string }} Failure */

export class Scopes {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.device = device;
    /** @type {Failure[]} */ this.failed = [];
    /** @type {Set<Promise<void>>} */ this.pending = new Set();
    /** @type {Set<Promise<void>>} */ this.held = new Set(); // their fates may explain what failed
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.fail("uncaptured", 0, event.error);
    });
  }

  /**
   * Run `body` with all three scopes around it, pushed and popped in one synchronous call: the
   * stack of scopes belongs to the device, which others may use too. Resolves once it is known
   * whether anything failed.
   * @param {string} kind @param {number} id @param {() => void} body
   */
  run(kind, id, body) {
    const device = this.device;
    device.pushErrorScope("internal");
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    try {
      body();
    } catch (error) {
      this.fail(kind, id, error);
    }
    const pops = [device.popErrorScope(), device.popErrorScope(), device.popErrorScope()];
    const settled = Promise.allSettled(pops).then((results) => {
      for (const result of results) {
        if (result.status === "fulfilled" && result.value) this.fail(kind, id, result.value);
      }
      this.pending.delete(settled);
    });
    this.pending.add(settled);
    return settled;
  }

  /** @param {string} kind @param {number} id @param {unknown} error */
  fail(kind, id, error) {
    const { name, message } = described(error);
    this.failed.push({ kind, id, type: name, message });
  }

  /** Whether something failed, and all that may explain it is known. */
  get hasFailed() {
    return this.failed.length > 0 && this.held.size === 0;
  }

  /** Keep failures back until a promise, which does not reject, has settled. @param {Promise<unknown>} fate */
  hold(fate) {
    const settled = fate.then(() => {
      this.held.delete(settled);
    });
    this.held.add(settled);
  }

  /** Take out the failures that `test` picks. @param {(failure: Failure) => boolean} test */
  take(test) {
    const taken = this.failed.filter(test);
    this.failed = this.failed.filter((failure) => !test(failure));
    return taken;
  }

  /** Resolves once the fate of all that was issued so far is known. */
  settled() {
    return Promise.all([...this.pending, ...this.held]);
  }
}

/** @param {unknown} error @returns {{ name: string, message: string }} */
function described(error) {
  if (error instanceof Error || error instanceof GPUError) {
    return { name: error.constructor.name, message: error.message };
  }
  return { name: "Error", message: String(error) };
}
