/** Photographs: fetched or chosen, and decoded to pixels. */

/**
 * @typedef {object} Photo
 * @property {string} name
 * @property {Blob} blob
 */

/** @typedef {{ data: Uint8ClampedArray<ArrayBuffer>, width: number, height: number }} Pixels */

/** What is no image, or is not there. */
export class PhotoError extends Error {
  name = "PhotoError";
}

/** Most pixels: their 8-bit channels are to fit a WebGPU buffer of 128 MiB, and Python's memory. */
const MOST_PIXELS = 30e6;

/**
 * @param {URL} url
 * @returns {Promise<Photo>}
 * @throws {PhotoError} it is not there
 */
export async function fetchPhoto(url) {
  const name = url.pathname.replace(/.*\//, "");
  try {
    const response = await fetch(url);
    if (response.ok) {
      return { name, blob: await response.blob() };
    }
    throw new Error(`HTTP ${response.status}`);
  } catch (cause) {
    throw new PhotoError(`${url.href}: ${String(cause)}`, { cause });
  }
}

/**
 * @param {Photo} photo
 * @returns {Promise<ImageData>} on a buffer of its own
 * @throws {PhotoError} it is no image that the browser knows, or too large
 */
export async function decode({ name, blob }) {
  const worker = new Worker(new URL("decode.js", import.meta.url), { type: "module" });
  try {
    const { data, width, height } = await ask(worker, blob);
    if (width * height > MOST_PIXELS) {
      throw new Error(`${width} × ${height} pixels: at most ${MOST_PIXELS / 1e6} megapixels`);
    }
    return new ImageData(data, width, height);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PhotoError(`${name}: ${reason}`, { cause });
  } finally {
    worker.terminate();
  }
}

/**
 * @param {Worker} worker
 * @param {Blob} blob
 * @returns {Promise<Pixels>}
 */
function ask(worker, blob) {
  return new Promise((resolve, reject) => {
    worker.onmessage = (/** @type {MessageEvent<Pixels | { refusal: string }>} */ { data }) => {
      if ("refusal" in data) {
        reject(new Error(data.refusal));
      } else {
        resolve(data);
      }
    };
    worker.onerror = (event) => reject(new Error(event.message || "the decoder did not load"));
    worker.postMessage(blob);
  });
}
