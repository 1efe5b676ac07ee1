/**
 * A worker that turns an image file into pixels.
 *
 * Twelve megapixels take some 200 ms to decode and to copy: the page's own thread is not the place for that.
 */

addEventListener("message", (/** @type {MessageEvent<Blob>} */ { data }) => void answer(data));

/** @param {Blob} blob */
async function answer(blob) {
  try {
    const bitmap = await createImageBitmap(blob);
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", {
      willReadFrequently: true,
    });
    if (context === null) {
      throw new Error("no 2D canvas in a worker");
    }
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data } = context.getImageData(0, 0, width, height);
    postMessage({ data, width, height }, { transfer: [data.buffer] });
  } catch (error) {
    postMessage({ refusal: String(error) });
  }
}
