/** Starts a worker and waits until Python answers in it. */

import { requireAdapter } from "./adapter.js";
import { Client } from "./client.js";
import {
  AioGpuError,
  BootError,
  UsageError,
  WorkerLostError,
  callSite,
  withSite,
} from "./errors.js";
import { Link } from "./link.js";
import { watch } from "./liveness.js";
import { PYODIDE_VERSION, VERSION } from "./protocol.js";
import { spawn as spawnWorker, whyNotLoaded } from "./spawn.js";

/** @typedef {import("./link.js").Stage} Stage */
/** @typedef {import("./liveness.js").Locks} Locks */

/**
 * @typedef {object} ConnectOptions
 * @property {string | URL} [workerURL] default: the worker beside the client
 * @property {string | URL} [indexURL] folder of Pyodide; default: its CDN
 * @property {string | URL} [wheelURL] default: the wheel beside the client
 * @property {readonly string[]} [packages] Python packages to install: names, or URLs of wheels
 * @property {{ [name: string]: string | URL }} [modules] Python files to make importable, by module name
 * @property {HTMLCanvasElement | OffscreenCanvas} [canvas] what Python finds as `gpu.canvas("canvas")`
 * @property {boolean | SharedArrayBuffer} [interrupt] whether `interrupt()` is to work; default: where it can
 * @property {"all" | "marked"} [expose] "marked": only functions with `@aiogpu.expose` may be called, and `run` not
 * @property {(stage: Stage) => void} [onProgress] called as the start advances
 * @property {AbortSignal} [signal] gives the start up
 */

/**
 * @typedef {object} WorkerHandle
 * @property {(message: unknown, transfer: Transferable[]) => void} postMessage
 * @property {(type: "error", listener: (event: { message?: string }) => void) => void} addEventListener
 * @property {() => void} terminate
 */

/**
 * What the client needs of the page; the tests hand in their own.
 *
 * @typedef {object} Page
 * @property {Pick<GPU, "requestAdapter"> | undefined} gpu
 * @property {boolean} isSecureContext
 * @property {boolean} [isIsolated] whether memory can be shared with a worker
 * @property {Locks} locks
 * @property {string} baseURL
 * @property {(url: string) => WorkerHandle} spawn
 * @property {import("./spawn.js").Fetch} fetch
 */

/**
 * Default URLs, which depend on how the client was loaded.
 *
 * @typedef {{ readonly worker: string, readonly wheel: string }} Places
 */

/**
 * A worker's script that loads at all says so at once: a longer silence means that it is not aiogpu's. The bound is
 * wide because a slow network counts into it.
 */
const HELLO_MS = 30_000;

/** @returns {Page} */
export function thisPage() {
  // On a server that renders pages none of these exist: it is told so like a browser without WebGPU.
  const {
    navigator: browser,
    document: page,
    location,
  } = /** @type {{ navigator?: Navigator, document?: Document, location?: Location }} */ (
    globalThis
  );
  return {
    gpu: browser?.gpu,
    isSecureContext: globalThis.isSecureContext ?? true,
    isIsolated: globalThis.crossOriginIsolated ?? false,
    locks: /** @type {Locks} */ (browser?.locks),
    baseURL: page?.baseURI ?? location?.href ?? "about:blank",
    spawn: spawnWorker,
    fetch: (url) => fetch(url),
  };
}

/**
 * @param {Page} page
 * @returns {Promise<boolean>} whether `connect` can find a GPU here; never rejects
 */
export async function pageIsSupported(page) {
  try {
    await requireAdapter(page, "page");
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {Page} page
 * @param {Places} places
 * @param {ConnectOptions} options
 * @returns {Promise<Client>} of which errors say that the caller's caller asked
 */
export async function openClient(page, places, options) {
  const site = callSite(3);
  const { signal } = options;
  try {
    signal?.throwIfAborted();
    checkPage(page);
    const settings = resolved(page, places, options);
    await requireAdapter(page, "page");
    signal?.throwIfAborted();
    const link = await start(page, settings, options);
    return new Client(link, {
      // A canvas that was handed over has gone with the worker that had it.
      reopen: () => start(page, settings, { ...options, canvas: undefined, signal: undefined }),
      resolve: (url) => resolve(page, "install", url),
    });
  } catch (error) {
    const ours = error instanceof AioGpuError && error !== signal?.reason;
    throw ours ? withSite(error, site) : error;
  }
}

/** @param {Page} page @throws {BootError} the page was opened as a file */
function checkPage({ baseURL }) {
  if (baseURL.startsWith("file:")) {
    throw new BootError(
      "connect: the page was opened from a file: browsers start no worker there; serve its folder, " +
        "for instance by python -m http.server",
    );
  }
}

/** @param {Page} page @param {string} name @param {string | URL} url */
function resolve(page, name, url) {
  try {
    return new URL(url, page.baseURL).href;
  } catch {
    throw new UsageError(`connect: ${name}: ${String(url)}: not a URL`);
  }
}

/** @param {Places} places @param {keyof Places} name */
function place(places, name) {
  try {
    return places[name];
  } catch (cause) {
    throw new UsageError(
      `connect: ${name}URL: must be given: a bundler has put the client where it has no import.meta.url`,
      { cause },
    );
  }
}

/** @param {Page} page @param {boolean | SharedArrayBuffer} [wanted] */
function sharedBytes(page, wanted = page.isIsolated ?? false) {
  if (wanted === true && page.isIsolated !== true) {
    throw new UsageError(
      "connect: interrupt: no SharedArrayBuffer: the page is not cross-origin isolated",
    );
  }
  if (typeof wanted === "boolean") {
    return wanted ? new SharedArrayBuffer(2) : null;
  }
  if (wanted.byteLength < 2) {
    throw new UsageError(`connect: interrupt: ${wanted.byteLength} bytes: must be at least 2`);
  }
  return wanted;
}

/** @param {Page} page @param {Places} places @param {ConnectOptions} options */
function resolved(page, places, options) {
  const cdn = `https://cdn.jsdelivr.net/pyodide/v${PYODIDE_VERSION}/full/`;
  const { packages = [], modules = {}, expose = "all" } = options;
  if (expose !== "all" && expose !== "marked") {
    throw new UsageError(`connect: expose: ${String(expose)}: must be "all" or "marked"`);
  }
  return {
    expose,
    interrupt: sharedBytes(page, options.interrupt),
    workerURL: resolve(page, "workerURL", options.workerURL ?? place(places, "worker")),
    indexURL: resolve(page, "indexURL", options.indexURL ?? cdn).replace(/\/?$/, "/"),
    wheelURL: resolve(page, "wheelURL", options.wheelURL ?? place(places, "wheel")),
    // A name goes as it is; what has a slash is the URL of a wheel.
    packages: packages.map((item) => (item.includes("/") ? resolve(page, "packages", item) : item)),
    modules: Object.fromEntries(
      Object.entries(modules).map(([name, url]) => [name, resolve(page, `modules.${name}`, url)]),
    ),
  };
}

/** @param {HTMLCanvasElement | OffscreenCanvas} canvas */
function offscreen(canvas) {
  if (!("transferControlToOffscreen" in canvas)) {
    return canvas;
  }
  try {
    return canvas.transferControlToOffscreen();
  } catch (error) {
    throw new UsageError(`connect: canvas: ${String(error)}`, { cause: error });
  }
}

/**
 * @param {Page} page
 * @param {ReturnType<typeof resolved>} settings
 * @param {ConnectOptions} options
 */
async function start(page, settings, { canvas, signal, onProgress }) {
  const { workerURL, modules, expose, ...boot } = settings;
  // Not before the adapter is found: a canvas that is handed over cannot be taken back.
  const canvases = canvas === undefined ? [] : [offscreen(canvas)];
  const worker = spawn(page, workerURL);
  const { port1, port2 } = new MessageChannel();
  const link = new Link(port1);
  link.interrupts = boot.interrupt && new Uint8Array(boot.interrupt);
  const watching = new AbortController();
  const lock = `aiogpu-worker-${crypto.randomUUID()}`;
  const hello = setTimeout(() => {
    link.end(
      () => new BootError(`connect: worker: ${workerURL}: no answer in ${HELLO_MS / 1000} s`),
    );
  }, HELLO_MS);
  link.listener = {
    alive: () => {
      clearTimeout(hello);
      const lost = () =>
        new WorkerLostError("worker: it has died: terminated, closed by itself, or crashed");
      watch(page.locks, lock, () => link.end(lost), watching.signal);
    },
    ended: () => {
      clearTimeout(hello);
      watching.abort();
      worker.terminate();
    },
    ...(onProgress && { stage: onProgress }),
  };
  worker.addEventListener("error", (event) => void scriptFailed(page, link, workerURL, event));
  const abort = () => link.end(() => new BootError("connect: given up"), null);
  signal?.addEventListener("abort", abort, { once: true });
  worker.postMessage({ port: port2, lock, ...boot }, [port2]);
  /** @type {{ [name: string]: number }} */
  const named = canvas === undefined ? {} : { canvas: 0 };
  // The port keeps this until Python listens: whatever is posted while the worker starts waits there.
  link.post(
    { type: "hello", version: VERSION, modules, canvases: named, expose },
    canvases,
    canvases,
  );
  try {
    await link.ready;
    // Of bytes that the worker counted late the page is told no more: the start is over.
    delete link.listener.stage;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  return link;
}

/** @param {Page} page @param {string} url */
function spawn(page, url) {
  try {
    return page.spawn(url);
  } catch (error) {
    throw new BootError(`connect: worker: ${url}: ${String(error)}`, { cause: error });
  }
}

/**
 * @param {Page} page
 * @param {Link} link
 * @param {string} url
 * @param {{ message?: string }} event
 */
async function scriptFailed(page, link, url, { message }) {
  if (link.isReady) {
    link.listener.event?.("stderr", `worker: ${message ?? "error"}`);
    return;
  }
  const reason = message || (await whyNotLoaded(page.fetch, url));
  link.end(() => new BootError(`connect: worker: ${url}: ${reason}`));
}
