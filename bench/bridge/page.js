/**
 * Measures what crossing to Python and back costs the page: every result is compared first, and what needs one has a
 * control: the page at rest, or the same data copied.
 *
 * `?scale=N` moves N times less data and makes N times fewer calls.
 */
/* global location */
import { addRow, run, saying, showFacts } from "../page.js";
import { jsHeaps, longestTask, median, rest } from "./watch.js";

const MB = 2 ** 20;
const scale = Number(new URLSearchParams(location.search).get("scale") ?? 1);
const CALLS = Math.round(10_000 / scale);
const ROUNDS = 3;
const SENT = Math.round(64 / scale) * MB;
const THROUGH = Math.round(256 / scale);

const ms = (number) => number.toFixed(2);

/** Words that no two places share. @param {number} nbytes */
function pattern(nbytes) {
  const words = new Uint32Array(nbytes / 4);
  for (let k = 0; k < words.length; k++) words[k] = Math.imul(k, 0x9e3779b1);
  return words;
}

/** @param {Uint32Array} words as Python gave them @param {number} nbytes */
function check(words, nbytes) {
  if (words.byteLength !== nbytes || words.buffer.byteLength !== nbytes) {
    throw new Error(`${words.byteLength} bytes came back, of ${nbytes}`);
  }
  for (let k = 0; k < words.length; k++) {
    if (words[k] !== Math.imul(k, 0x9e3779b1) >>> 0) throw new Error(`word ${k} is ${words[k]}`);
  }
}

/** @param {any} gpu @param {Uint32Array} words @param {boolean} given */
function echo(gpu, words, given) {
  return gpu.call("measure:echo", [words], given ? { transfer: [words.buffer] } : {});
}

/** The round trip of an empty call. */
async function emptyCall(gpu) {
  const times = [];
  for (let k = 0; k < 520; k++) {
    const start = performance.now();
    await gpu.call("measure:nothing");
    times.push(performance.now() - start);
  }
  // Compiled code and caches are warm by then.
  const warm = times.slice(20).sort((a, b) => a - b);
  const result = { ms: median(warm), p99_ms: warm[Math.floor(warm.length * 0.99)] };
  addRow(["an empty call", `${ms(result.ms)} ms`, `99 % under ${ms(result.p99_ms)} ms`, ""]);
  return result;
}

/** A large array there and back: how long, and how long the page's own thread was held up by `call`. */
async function thereAndBack(gpu) {
  const tries = { given: [], copied: [] };
  let words = pattern(SENT);
  for (let k = 0; k < 9; k++) {
    for (const [kind, all] of Object.entries(tries)) {
      const start = performance.now();
      const answer = echo(gpu, words, kind === "given");
      const page_ms = performance.now() - start;
      const back = await answer;
      all.push({ ms: performance.now() - start, page_ms });
      if ((words.byteLength === 0) !== (kind === "given")) throw new Error(`${kind}: not so`);
      check(back, SENT);
      words = back;
    }
  }
  const of = (kind, what) => median(tries[kind].map((each) => each[what]));
  const result = { nbytes: SENT, ms: of("given", "ms"), page_ms: of("given", "page_ms") };
  Object.assign(result, { copied_ms: of("copied", "ms"), copied_page_ms: of("copied", "page_ms") });
  const name = `${SENT / MB} MB there and back, transferred`;
  const page = `${ms(result.page_ms)} ms of the page`;
  addRow([name, `${ms(result.ms)} ms`, page, `copied: ${ms(result.copied_page_ms)} ms`]);
  return result;
}

/**
 * The page's longest task while data go through, and while it rests for as long; several times in turn, since another
 * process may stop any page.
 */
async function responsiveness(name, work) {
  const result = { total_ms: [], longest_ms: [], idle_ms: [] };
  await work();
  for (let k = 0; k < 5; k++) {
    const busy = await longestTask(work);
    const idle = await longestTask(() => rest(busy.total_ms));
    result.total_ms.push(busy.total_ms);
    result.longest_ms.push(busy.longest_ms);
    result.idle_ms.push(idle.longest_ms);
  }
  const [total, longest, idle] = Object.values(result).map((times) => `${ms(median(times))} ms`);
  addRow([name, total, `longest task: ${longest}`, `at rest: ${idle}`]);
  return result;
}

async function inPieces(gpu) {
  const given = pattern(MB);
  check(await echo(gpu, given, false), MB);
  return responsiveness(`${THROUGH} MB through, in calls of 1 MB`, async () => {
    for (let k = 0; k < THROUGH; k++) await echo(gpu, given, false);
  });
}

async function atOnce(gpu) {
  let words = pattern(THROUGH * MB);
  const result = await responsiveness(`${THROUGH} MB through, in one buffer`, async () => {
    words = await echo(gpu, words, true);
  });
  check(words, THROUGH * MB);
  return result;
}

/**
 * What is held after many calls, less what was held before them: the least of some rounds, since a leak shows in each,
 * and what the engine compiles or collects late in one.
 */
async function manyCalls(gpu) {
  const some = async (count) => {
    for (let done = 0; done < count; done += 50) {
      const calls = Array.from({ length: 49 }, () => gpu.call("measure:echo", [new Uint8Array(8)]));
      await Promise.all(calls);
      const made = gpu.array([1, 2]);
      const sum = made.sum();
      if ((await sum.item()) !== 3) throw new Error("the GPU is wrong");
      made.dispose();
      sum.dispose();
    }
  };
  const held = async () => ({ ...(await gpu.call("measure:memory")), ...(await jsHeaps()) });
  await some(CALLS / 10);
  await held();
  const counts = [await held()];
  const start = performance.now();
  for (let k = 0; k < ROUNDS; k++) {
    await some(CALLS);
    counts.push(await held());
  }
  const total_ms = performance.now() - start;
  const growth = {};
  for (const name of Object.keys(counts[0])) {
    const rounds = counts.slice(1).map((after, k) => after[name] - counts[k][name]);
    growth[name] = Math.min(...rounds);
  }
  const grown = Object.entries(growth).flatMap(([name, by]) => (by ? [`${name} ${by}`] : []));
  const name = `${ROUNDS} times ${CALLS} calls`;
  addRow([name, `${ms(total_ms)} ms`, `grown: ${grown.join(", ") || "nothing"}`, ""]);
  return { calls: CALLS, rounds: ROUNDS, total_ms, before: counts[0], growth };
}

void run({
  source: new URL("./measure.py", import.meta.url),
  columns: ["what", "in all", "of that", "control"],
  packages: [],
  measure: async (gpu) => {
    const { adapter, browser } = await gpu.call("measure:facts");
    showFacts({ adapter, browser });
    const measures = { emptyCall, manyCalls, thereAndBack, inPieces, atOnce };
    const results = {};
    for (const [name, measure] of Object.entries(measures)) {
      saying(name);
      results[name] = await measure(gpu);
    }
    return { report: { adapter, browser, results }, said: "all right, and measured" };
  },
});
