/**
 * Reads: staging buffers, mapped when their submit is done, and kept for reuse once unmapped.
 */

/** @typedef {{ buffer: GPUBuffer, size: number, mapped: Promise<void> }} Read */

const MIN_BYTES = 256;
const KEEP_BYTES = 256 * 1024 * 1024;

export class Staging {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.device = device;
    /** @type {Map<number, Read>} */ this.reads = new Map();
    /** @type {Map<number, GPUBuffer[]>} */ this.free = new Map();
    this.kept = 0;
  }

  /** A buffer to copy to, for the read `id`. @param {number} id @param {number} size */
  open(id, size) {
    const bytes = sizeClass(size);
    let buffer = this.free.get(bytes)?.pop();
    if (buffer) {
      this.kept -= bytes;
    } else {
      const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
      buffer = this.device.createBuffer({ size: bytes, usage, label: "aiogpu staging" });
    }
    this.reads.set(id, { buffer, size, mapped: Promise.resolve() });
    return buffer;
  }

  /** Map what the commands just submitted copy to. @param {number[]} ids */
  map(ids) {
    for (const id of ids) {
      const read = this.get(id);
      read.mapped = read.buffer.mapAsync(GPUMapMode.READ, 0, read.size);
      read.mapped.catch(() => undefined); // whoever waits for the read sees it
    }
  }

  /** @param {number} id */
  get(id) {
    const read = this.reads.get(id);
    if (!read) throw new Error("a read that was not submitted");
    return read;
  }

  /** The bytes of a mapped read. @param {number} id */
  view(id) {
    const { buffer, size } = this.get(id);
    return new Uint8Array(buffer.getMappedRange(0, size));
  }

  /** Give the buffer of a read back, now or once it is unmapped. @param {number} id */
  release(id) {
    const read = this.reads.get(id);
    if (!read) return;
    this.reads.delete(id);
    read.mapped.then(
      () => {
        read.buffer.unmap();
        this.keep(read.buffer);
      },
      () => {
        read.buffer.destroy();
      },
    );
  }

  /** @param {GPUBuffer} buffer */
  keep(buffer) {
    if (this.kept + buffer.size > KEEP_BYTES) {
      buffer.destroy();
      return;
    }
    this.kept += buffer.size;
    const free = this.free.get(buffer.size) ?? [];
    free.push(buffer);
    this.free.set(buffer.size, free);
  }
}

/** Powers of two and their three-quarters. @param {number} size */
function sizeClass(size) {
  let bytes = MIN_BYTES;
  while (bytes < size) bytes *= 2;
  const less = (bytes / 4) * 3;
  return bytes > MIN_BYTES && size <= less ? less : bytes;
}
