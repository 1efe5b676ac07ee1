/** How well a page keeps up: a timer of 5 ms and the animation frames, while something else runs. */

/** @typedef {{ lag: number, gap: number }} Beat in ms: how late the timer was, and the longest time between frames */

const EVERY_MS = 5;

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<Beat & { value: T }>} rejects as the work does
 */
export async function pulse(work) {
  let lag = 0;
  let gap = 0;
  let lastFrame = performance.now();
  let due = lastFrame + EVERY_MS;
  const beat = () => {
    const now = performance.now();
    lag = Math.max(lag, now - due);
    due = now + EVERY_MS;
    timer = setTimeout(beat, EVERY_MS);
  };
  const draw = (/** @type {number} */ now) => {
    gap = Math.max(gap, now - lastFrame);
    lastFrame = now;
    frame = requestAnimationFrame(draw);
  };
  let timer = setTimeout(beat, EVERY_MS);
  let frame = requestAnimationFrame(draw);
  try {
    const value = await work();
    // What is due by now was late too.
    lag = Math.max(lag, performance.now() - due);
    gap = Math.max(gap, performance.now() - lastFrame);
    return { lag, gap, value };
  } finally {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  }
}

/** @param {number} ms */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
