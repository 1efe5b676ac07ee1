/**
 * Executes what Python decides, one call for many commands.
 *
 * Python packs a batch of commands into `commands` (32-bit words) and calls `submit` once; this
 * file encodes it into one command buffer. Buffers, pipelines and bind groups are kept here by
 * number, so that no WebGPU object crosses into Python on the hot path.
 *
 * Word layouts (all u32; sizes and offsets in bytes):
 *   DISPATCH  1, pipeline, gx, gy, gz, nbuffers, buffer..., nparams, param...
 *             (nbuffers + 65536: a size for each buffer follows the buffers)
 *   COPY      2, source, source offset, target, target offset, size
 *   READ      3, read, source, source offset, size
 *   DRAW      4, surface, buffer, width, height, format
 *
 * The files of this folder import nothing from each other, so that each can come from a blob URL;
 * `assemble` puts them together.
 */

/** @typedef {import("./waiter.js").Waiter} Waiter */
/** @typedef {import("./scopes.js").Scopes} Scopes */
/** @typedef {import("./programs.js").Programs} Programs */
/** @typedef {import("./staging.js").Staging} Staging */
/** @typedef {import("./surfaces.js").Surfaces} Surfaces */
/** @typedef {typeof import("./index.js")} Parts */
/** @typedef {{ getBuffer(kind: string): { data: Uint8Array, release(): void } }} PyBuffer */

const DISPATCH = 1;
const COPY = 2;
const READ = 3;
const DRAW = 4;
const FAILED = 65536;
const LOST = 131072;

/** A recorder and its parts on a device. @param {GPUDevice} device @param {GPU} gpu @param {Parts} parts */
export function assemble(device, gpu, parts) {
  const waiter = new parts.Waiter(device);
  const scopes = new parts.Scopes(device);
  const programs = new parts.Programs(device, waiter, scopes);
  const staging = new parts.Staging(device);
  const surfaces = new parts.Surfaces(device, gpu);
  return new Recorder(device, waiter, scopes, programs, staging, surfaces);
}

export class Recorder {
  /**
   * @param {GPUDevice} device @param {Waiter} waiter @param {Scopes} scopes
   * @param {Programs} programs @param {Staging} staging @param {Surfaces} surfaces
   */
  constructor(device, waiter, scopes, programs, staging, surfaces) {
    this.device = device;
    this.waiter = waiter;
    this.scopes = scopes;
    this.programs = programs;
    this.staging = staging;
    this.surfaces = surfaces;
    this.commands = new Uint32Array(4096);
    this.inflight = 0;
    this.serial = 0;
    /** @type {Map<number, GPUBuffer>} */ this.buffers = new Map();
  }

  /** Make room for so many words, and give the array. @param {number} nwords */
  reserve(nwords) {
    if (nwords > this.commands.length) this.commands = new Uint32Array(2 * nwords);
    return this.commands;
  }

  /** @param {number} id @param {number} size */
  createBuffer(id, size) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    void this.scopes.run("buffer", id, () => {
      const label = `aiogpu ${String(id)}`;
      this.buffers.set(id, this.device.createBuffer({ size, usage, label }));
    });
  }

  /** @param {number} id */
  destroyBuffer(id) {
    this.buffers.get(id)?.destroy();
    this.buffers.delete(id);
    this.programs.forget();
  }

  /**
   * Copy `size` bytes of `data`, from `start`, into a buffer.
   * @param {number} id @param {number} offset @param {ArrayBufferView | PyBuffer} data
   * @param {number} start @param {number} size
   */
  write(id, offset, data, start, size) {
    const held = "getBuffer" in data ? data.getBuffer("u8") : null;
    try {
      const view = held?.data ?? /** @type {ArrayBufferView} */ (data);
      const length = Math.min(size, view.byteLength - start);
      const bytes = new Uint8Array(view.buffer, view.byteOffset + start, length);
      void this.scopes.run("write", id, () => {
        this.writeBytes(this.buffer(id), offset, bytes);
      });
    } finally {
      held?.release();
    }
  }

  /** WebGPU writes whole words: the last ones are filled up. @param {GPUBuffer} target @param {number} offset @param {Uint8Array} bytes */
  writeBytes(target, offset, bytes) {
    const whole = bytes.byteLength & ~3;
    const { queue } = this.device;
    if (whole > 0) queue.writeBuffer(target, offset, bytes.buffer, bytes.byteOffset, whole);
    if (whole < bytes.byteLength) {
      const last = new Uint8Array(4);
      last.set(bytes.subarray(whole));
      queue.writeBuffer(target, offset + whole, last);
    }
  }

  /**
   * Encode and submit the first `nwords` of `commands`. Returns `status()`.
   * @param {number} nwords
   */
  submit(nwords) {
    const id = ++this.serial;
    /** @type {number[]} */ const reads = [];
    /** @type {number[][]} */ const draws = [];
    this.inflight++;
    const scope = this.scopes.run("submit", id, () => {
      this.encode(nwords, reads, draws);
    });
    // In encoders of their own: what a bad canvas does must not void the computing.
    for (const [surface = 0, buffer = 0, width = 0, height = 0, format = 0] of draws) {
      void this.scopes.run("draw", surface, () => {
        this.surfaces.draw(surface, this.buffer(buffer), width, height, format);
      });
    }
    this.staging.map(reads);
    const done = this.device.queue.onSubmittedWorkDone();
    void Promise.allSettled([scope, done, ...this.scopes.held]).then(() => {
      this.inflight--;
      this.waiter.notify();
    });
    return this.status();
  }

  /** Unfinished submits, plus flags. */
  status() {
    const failed = this.scopes.hasFailed ? FAILED : 0;
    return this.inflight + failed + (this.waiter.lost === null ? 0 : LOST);
  }

  /** @param {number} nwords @param {number[]} reads @param {number[][]} draws */
  encode(nwords, reads, draws) {
    const words = this.commands;
    const word = (/** @type {number} */ at) => words[at] ?? 0;
    const encoder = this.device.createCommandEncoder();
    /** @type {import("./programs.js").ImmediatePass | null} */ let pass = null;
    let current = -1;
    for (let at = 0; at < nwords;) {
      const op = word(at);
      if (op === DISPATCH) {
        if (!pass) {
          pass = /** @type {import("./programs.js").ImmediatePass} */ (encoder.beginComputePass());
          current = -1;
        }
        const id = word(at + 1);
        const nbuffers = word(at + 5);
        const next = this.programs.set(
          pass,
          id,
          id === current,
          words,
          at + 6,
          nbuffers,
          this.buffers,
        );
        current = id;
        pass.dispatchWorkgroups(word(at + 2), word(at + 3), word(at + 4));
        at = next;
        continue;
      }
      if (op === DRAW) {
        draws.push([...words.subarray(at + 1, at + 6)]);
        at += 6;
        continue;
      }
      pass?.end();
      pass = null;
      const source = this.buffer(word(op === READ ? at + 2 : at + 1));
      if (op === READ) {
        const size = word(at + 4);
        const target = this.staging.open(word(at + 1), size);
        reads.push(word(at + 1));
        encoder.copyBufferToBuffer(source, word(at + 3), target, 0, size);
        at += 5;
      } else if (op === COPY) {
        const target = this.buffer(word(at + 3));
        encoder.copyBufferToBuffer(source, word(at + 2), target, word(at + 4), word(at + 5));
        at += 6;
      } else {
        throw new Error(`unknown command ${String(op)}`);
      }
    }
    pass?.end();
    this.programs.flush();
    this.device.queue.submit([encoder.finish()]);
  }

  /** @param {number} id */
  buffer(id) {
    const buffer = this.buffers.get(id);
    if (!buffer) throw new Error("a buffer that is not there");
    return buffer;
  }

  /**
   * Resolves when the bytes of a read are there and the fate of all that they depend on is known,
   * or when something failed.
   * @param {number} read
   */
  async wait(read) {
    do await this.waiter.settle(this.scopes.settled());
    while (this.scopes.held.size > 0);
    if (!this.scopes.hasFailed) await this.waiter.settle(this.staging.get(read).mapped);
    return this.status();
  }

  /**
   * Copy the first `size` bytes of a read to `offset` in `target`.
   * @param {number} read @param {Uint8Array} target @param {number} offset @param {number} size
   */
  copyOut(read, target, offset, size) {
    target.set(this.staging.view(read).subarray(0, size), offset);
  }

  /** Resolves when at most `most` submits are unfinished. @param {number} most */
  async drain(most) {
    if (most === 0) await this.waiter.settle(this.scopes.settled());
    await this.waiter.until(() => this.inflight <= most);
    return this.status();
  }

  /** What failed since the last call, as JSON. */
  failures() {
    return JSON.stringify(this.scopes.take(() => true));
  }

  destroy() {
    this.surfaces.destroy();
    this.device.destroy();
  }
}
