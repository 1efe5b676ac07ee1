/** The page: starts Python, takes photographs, has their edges found, and measures meanwhile. */

import { PhotoError, decode, fetchPhoto } from "./photo.js";
import { pause, pulse } from "./pulse.js";
import * as view from "./view.js";

/** @typedef {import("./photo.js").Photo} Photo */
/** @typedef {{ [name: string]: number }} Numbers */
/** @typedef {{ adapter: string, software: boolean, ms: number }} Warm */
/** @typedef {{ edges: Uint8Array, every: number, ms: number, lag_ms: number, counters: Numbers, memory: Numbers }} Detected */
/** @typedef {{ largest: number, ms: number, lag_ms: number }} Compared */
/** @typedef {{ page: number, python: number, gap: number }} Lags */

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number} width
 * @property {number} height
 * @property {Detected} detected
 * @property {Compared} compared
 * @property {{ idle: Lags, gpu: Lags, numpy: Lags }} lags
 */

/**
 * `edges.py`, wherever it runs: in a worker, or on the page's own thread.
 *
 * @typedef {object} Python
 * @property {() => Promise<Warm>} warmUp
 * @property {(seconds: number) => Promise<number>} idle
 * @property {(image: ImageData) => Promise<Detected>} detect takes the image's buffer away
 * @property {(onProgress: (part: number) => void) => Promise<Compared>} compare
 * @property {Promise<unknown>} lost settles with the error when Python is gone
 */

/**
 * @typedef {object} Settings
 * @property {string} indexURL folder of Pyodide
 * @property {string | undefined} wheelURL
 * @property {string} pythonURL the module `edges`
 * @property {HTMLCanvasElement} canvas
 * @property {(text: string, part: number) => void} onProgress
 */

/** The control: long enough to meet what else the machine does. */
const IDLE_S = 1;

/** After a new picture the compositor is busy with it for a while. */
const SETTLE_MS = 300;

const given = new URL(location.href).searchParams;

/** @param {string} name @param {string} usual relative to this file */
function place(name, usual) {
  const url = given.get(name);
  return url === null ? new URL(usual, import.meta.url) : new URL(url, location.href);
}

const PHOTOS = {
  small: place("photo", "../../build/demo/china.jpg"),
  large: place("large", "../../build/demo/china-12mp.jpg"),
};

class App {
  /** Of every photograph so far; for tests and for the console. @type {Result[]} */
  results = [];
  #python;

  /** @param {Python} python */
  constructor(python) {
    this.#python = python;
  }

  /**
   * Does the whole job with one photograph; whatever goes wrong is shown.
   *
   * @param {() => Photo | Promise<Photo>} take
   */
  async run(take) {
    view.showState("busy");
    view.hideError();
    try {
      const result = await this.#measure(await take());
      this.results.push(result);
      view.showResult(result);
      view.showProgress("Done", 1);
    } catch (error) {
      view.showError(error);
      view.showProgress("Failed", 0);
    }
    view.showState("ready");
  }

  /** @param {Photo} photo @returns {Promise<Result>} */
  async #measure(photo) {
    const python = this.#python;
    view.showProgress("Decoding the photograph", 0.05);
    const image = await decode(photo);
    const { width, height } = image;
    await view
      .showPhoto(URL.createObjectURL(photo.blob), `${photo.name}, ${width} × ${height}`)
      .catch((/** @type {unknown} */ cause) => {
        throw new PhotoError(`${photo.name}: ${String(cause)}`, { cause });
      });
    view.showProgress("Measuring the idle page", 0.1);
    await pause(SETTLE_MS);
    const idle = await pulse(() => python.idle(IDLE_S));
    view.showProgress("Finding edges on the GPU", 0.2);
    const gpu = await pulse(() => python.detect(image));
    view.showProgress("The same in NumPy", 0.5);
    const numpy = await pulse(() =>
      python.compare((part) => view.showProgress("The same in NumPy", 0.5 + part / 2)),
    );
    const lags = {
      idle: { page: idle.lag, python: idle.value, gap: idle.gap },
      gpu: { page: gpu.lag, python: gpu.value.lag_ms, gap: gpu.gap },
      numpy: { page: numpy.lag, python: numpy.value.lag_ms, gap: numpy.gap },
    };
    return { name: photo.name, width, height, detected: gpu.value, compared: numpy.value, lags };
  }

  /** Lets the visitor choose. */
  listen() {
    const buttons = [...document.querySelectorAll("button")];
    /** @param {HTMLElement} chosen @param {() => Photo | Promise<Photo>} take */
    const choose = (chosen, take) => {
      if (document.documentElement.dataset["state"] !== "ready") {
        return;
      }
      for (const button of buttons) {
        button.ariaPressed = String(button === chosen);
      }
      void this.run(take);
    };
    for (const button of buttons) {
      const name = button.dataset["photo"];
      if (name === "small" || name === "large") {
        button.addEventListener("click", () => choose(button, () => fetchPhoto(PHOTOS[name])));
      }
    }
    const own = view.element("own", HTMLButtonElement);
    const input = view.element("file", HTMLInputElement);
    /** @param {File | undefined} file */
    const take = (file) => file && choose(own, () => ({ name: file.name, blob: file }));
    own.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      take(input.files?.[0]);
      input.value = "";
    });
    const drop = view.element("drop", HTMLElement);
    const over = (/** @type {boolean} */ is) => drop.classList.toggle("over", is);
    drop.addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    drop.addEventListener("dragleave", () => over(false));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      take(event.dataTransfer?.files[0]);
    });
  }
}

/**
 * Starts the page.
 *
 * @param {(settings: Settings) => Promise<Python>} open
 */
export async function start(open) {
  const pythonURL = place("python", "edges.py").href;
  view.showState("starting");
  try {
    void view.showSource(pythonURL);
    const python = await open({
      indexURL: place("indexURL", "../../build/pyodide/").href,
      wheelURL: given.get("wheelURL") ?? undefined,
      pythonURL,
      canvas: view.element("edges", HTMLCanvasElement),
      onProgress: view.showProgress,
    });
    view.showProgress("Compiling the shaders", 0.95);
    const { adapter, software } = await python.warmUp();
    view.showAdapter(adapter, software);
    const app = new App(python);
    Object.assign(globalThis, { demo: app });
    void python.lost.then((error) => error instanceof Error && stop(error));
    app.listen();
    await app.run(() => fetchPhoto(PHOTOS.small));
  } catch (error) {
    stop(error);
  }
}

/** @param {unknown} error */
function stop(error) {
  view.showError(error);
  view.showProgress("Stopped", 0);
  view.showState("failed");
}
