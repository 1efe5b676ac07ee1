/** What a page can see of itself: its longest task, and the memory of JavaScript. */

/** @param {readonly number[]} numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** @param {number} ms */
export const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The longest time that the page's thread was taken at a stretch while something goes on, by whoever.
 *
 * A message to oneself is the next task of all: what is between two of them is one task, or more.
 *
 * @param {() => Promise<unknown>} work
 */
export async function longestTask(work) {
  const { port1, port2 } = new MessageChannel();
  let longest_ms = 0;
  let last = performance.now();
  port1.onmessage = () => {
    const now = performance.now();
    longest_ms = Math.max(longest_ms, now - last);
    last = now;
    port2.postMessage(null);
  };
  const start = last;
  port2.postMessage(null);
  await work();
  const total_ms = performance.now() - start;
  port1.close();
  return { longest_ms, total_ms };
}

/**
 * Bytes of JavaScript's heaps, of the page and of its workers, after a collection; empty where a browser does not
 * tell: only isolated pages are told, and only by Chromium.
 *
 * @returns {Promise<{ [name: string]: number }>}
 */
export async function jsHeaps() {
  if (!globalThis.crossOriginIsolated || !performance.measureUserAgentSpecificMemory) return {};
  const heaps = { page_js_bytes: 0, worker_js_bytes: 0 };
  const { breakdown } = await performance.measureUserAgentSpecificMemory();
  for (const { bytes, attribution, types } of breakdown) {
    if (!types.includes("JavaScript")) continue;
    const isWorker = attribution.some(({ scope }) => scope === "DedicatedWorkerGlobalScope");
    heaps[isWorker ? "worker_js_bytes" : "page_js_bytes"] += bytes;
  }
  return heaps;
}
