/**
 * Executes what Python decides, one call for many commands.
 *
 * Python packs a batch of commands into `commands` (32-bit words) and calls `submit` once; this
 * file encodes it into one command buffer. Buffers, pipelines and bind groups are kept here by
 * number, so that no WebGPU object crosses into Python on the hot path.
 *
 * Word layouts (all u32; sizes and offsets in bytes):
 *   DISPATCH  1, pipeline, gx, gy, gz, nbuffers, buffer..., nparams, param...
 *   COPY      2, source, source offset, target, target offset, size
 *   READ      3, ticket, source, source offset, size
 *   DRAW      4, surface, buffer, width, height, format
 *
 * The three files of this folder import nothing, so that each can come from a blob URL.
 */

/** @typedef {import("./waiter.js").Waiter} Waiter */
/** @typedef {import("./surfaces.js").Surfaces} Surfaces */
const DISPATCH = 1;
const COPY = 2;
const READ = 3;
const DRAW = 4;
const SLOT = 256; // bytes of a uniform slot: minUniformBufferOffsetAlignment
const SLOTS = 256; // slots of one uniform buffer

/** @typedef {{ pipeline: GPUComputePipeline | null, layout: GPUBindGroupLayout, space: string, groups: Map<string, GPUBindGroup> }} Pipeline */
/** @typedef {{ kind: string, id: number, type: string, message: string }} Failure */
/** @typedef {{ buffer: GPUBuffer, size: number, mapped: Promise<unknown> }} Read */

export class Recorder {
  /**
   * @param {GPUDevice} device
   * @param {Waiter} waiter
   * @param {Surfaces} surfaces
   */
  constructor(device, waiter, surfaces) {
    this.device = device;
    this.commands = new Uint32Array(4096);
    /** Number of the draws of this submit. @type {number[][]} */ this.draws = [];
    this.waiter = waiter;
    this.surfaces = surfaces;
    this.inflight = 0;
    this.serial = 0;
    /** @type {Failure[]} */ this.failed = [];
    /** @type {Map<number, GPUBuffer>} */ this.buffers = new Map();
    /** @type {Map<number, Pipeline>} */ this.pipelines = new Map();
    /** @type {Map<number, Set<[Map<string, GPUBindGroup>, string]>>} */ this.users = new Map();
    /** @type {Map<string, { group: GPUBindGroupLayout, pipeline: GPUPipelineLayout }>} */ this.layouts = new Map();
    /** @type {Map<number, Read>} */ this.reads = new Map();
    /** @type {Map<number, GPUBuffer[]>} */ this.staging = new Map();
    this.stagingBytes = 0;
    /** @type {Set<Promise<unknown>>} */ this.scopes = new Set();
    /** @type {{ buffer: GPUBuffer, group: GPUBindGroup }[]} */ this.rings = [];
    this.ring = new Uint32Array((SLOT * SLOTS) / 4);
    /** @type {GPUBindGroupLayout | null} */ this.uniformLayout = null;
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.failed.push({ kind: "uncaptured", id: 0, ...describe(event.error) });
    });
  }

  /** @param {number} nwords */
  reserve(nwords) {
    if (nwords > this.commands.length) this.commands = new Uint32Array(2 * nwords);
    return this.commands;
  }

  /**
   * Run `body` with all three error scopes around it, pushed and popped in one synchronous call:
   * the stack of scopes belongs to the device, not to us.
   * @param {() => void} body @param {string} kind @param {number} id
   */
  scoped(body, kind, id) {
    const device = this.device;
    device.pushErrorScope("internal");
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    try {
      body();
    } catch (error) {
      this.failed.push({ kind, id, ...describe(error) });
    }
    const pops = [device.popErrorScope(), device.popErrorScope(), device.popErrorScope()];
    const settled = Promise.allSettled(pops).then((results) => {
      for (const result of results)
        if (result.status === "fulfilled" && result.value)
          this.failed.push({ kind, id, ...describe(result.value) });
      this.scopes.delete(settled);
    });
    this.scopes.add(settled);
    return settled;
  }

  /** @param {number} id @param {number} size */
  createBuffer(id, size) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    void this.scoped(
      () => this.buffers.set(id, this.device.createBuffer({ size, usage, label: `aiogpu ${id}` })),
      "buffer",
      id,
    );
  }

  /** @param {number} id */
  destroyBuffer(id) {
    this.buffers.get(id)?.destroy();
    this.buffers.delete(id);
    for (const [groups, key] of this.users.get(id) ?? []) groups.delete(key);
    this.users.delete(id);
  }

  /**
   * @param {number} id @param {number} offset
   * @param {ArrayBufferView | { getBuffer(kind: string): { data: Uint8Array, release(): void } }} data
   * @param {number} start @param {number} size
   */
  write(id, offset, data, start, size) {
    const target = /** @type {GPUBuffer} */ (this.buffers.get(id));
    const held = "getBuffer" in data && typeof data.getBuffer === "function" ? data.getBuffer("u8") : null;
    const view = held ? held.data : /** @type {ArrayBufferView} */ (data);
    try {
      const bytes = new Uint8Array(view.buffer, view.byteOffset + start, Math.min(size, view.byteLength - start));
      const whole = bytes.byteLength & ~3;
      void this.scoped(
        () => {
          if (whole) this.device.queue.writeBuffer(target, offset, bytes, 0, whole);
          if (whole < bytes.byteLength) {
            const last = new Uint8Array(4);
            last.set(bytes.subarray(whole));
            this.device.queue.writeBuffer(target, offset + whole, last);
          }
        },
        "write",
        id,
      );
    } finally {
      held?.release();
    }
  }

  /**
   * @param {number} count @param {number} writes bit mask @param {string} space
   */
  layout(count, writes, space) {
    const key = `${count} ${writes} ${space}`;
    let found = this.layouts.get(key);
    if (!found) {
      const visibility = GPUShaderStage.COMPUTE;
      const entries = Array.from({ length: count }, (_, binding) => ({
        binding,
        visibility,
        buffer: {
          type: /** @type {GPUBufferBindingType} */ ((writes >> binding) & 1 ? "storage" : "read-only-storage"),
        },
      }));
      const group = this.device.createBindGroupLayout({ entries });
      const bindGroupLayouts = space === "uniform" ? [group, this.uniform()] : [group];
      const immediateSize = space === "immediate" ? 64 : 0;
      const pipeline = this.device.createPipelineLayout(
        /** @type {GPUPipelineLayoutDescriptor} */ ({ bindGroupLayouts, ...(immediateSize ? { immediateSize } : {}) }),
      );
      found = { group, pipeline };
      this.layouts.set(key, found);
    }
    return found;
  }

  uniform() {
    this.uniformLayout ??= this.device.createBindGroupLayout({
      entries: [
        {
          binding: 0,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: "uniform", hasDynamicOffset: true },
        },
      ],
    });
    return this.uniformLayout;
  }

  /**
   * Compile a pipeline; with `now` by the synchronous form, which does not block (the GPU process
   * compiles), for work that must go out without a turn of the event loop.
   * Resolves to "" or to what the compiler said.
   * @param {number} id @param {string} code @param {string} entryPoint @param {string} label
   * @param {number} count @param {number} writes @param {string} space
   * @param {string} constants JSON of override constants @param {boolean} now
   * @returns {Promise<string>}
   */
  async compile(id, code, entryPoint, label, count, writes, space, constants, now) {
    const device = this.device;
    const kept = { pipeline: null, layout: /** @type {any} */ (null), space, groups: new Map() };
    this.pipelines.set(id, kept);
    /** @type {GPUShaderModule | undefined} */ let module;
    /** @type {Promise<GPUComputePipeline> | undefined} */ let later;
    const scope = this.scoped(
      () => {
        const layout = this.layout(count, writes, space);
        kept.layout = layout.group;
        module = device.createShaderModule({ code, label });
        const descriptor = {
          label,
          layout: layout.pipeline,
          compute: { module, entryPoint, constants: JSON.parse(constants) },
        };
        if (now) kept.pipeline = /** @type {any} */ (device.createComputePipeline(descriptor));
        else later = device.createComputePipelineAsync(descriptor);
      },
      "pipeline",
      id,
    );
    let said = "";
    try {
      if (later) kept.pipeline = /** @type {any} */ (await this.waiter.settle(later));
    } catch (error) {
      if (this.waiter.lost) throw error;
      said = error instanceof Error ? error.message : String(error);
    }
    await this.waiter.settle(scope);
    const mine = this.failed.filter((f) => f.kind === "pipeline" && f.id === id);
    if (!said && !mine.length) return "";
    this.failed = this.failed.filter((f) => !mine.includes(f));
    kept.pipeline = null;
    const info = await module?.getCompilationInfo();
    const lines = (info?.messages ?? [])
      .filter((m) => m.type === "error")
      .map((m) => `${m.lineNum}:${m.linePos} ${m.message}`);
    said = lines.length ? lines.join("\n") : said || mine.map((f) => f.message).join("\n");
    if (now) this.failed.push({ kind: "pipeline", id, type: "GPUPipelineError", message: said });
    return said;
  }

  /** @param {Pipeline} pipeline @param {Uint32Array} words @param {number} at @param {number} count */
  group(pipeline, words, at, count) {
    let key = "";
    for (let i = 0; i < count; i++) key += `${words[at + i]},`;
    let group = pipeline.groups.get(key);
    if (!group) {
      const entries = [];
      for (let i = 0; i < count; i++) {
        const id = /** @type {number} */ (words[at + i]);
        entries.push({ binding: i, resource: { buffer: /** @type {GPUBuffer} */ (this.buffers.get(id)) } });
        let users = this.users.get(id);
        if (!users) this.users.set(id, (users = new Set()));
        users.add([pipeline.groups, key]);
      }
      group = this.device.createBindGroup({ layout: pipeline.layout, entries });
      pipeline.groups.set(key, group);
    }
    return group;
  }

  /**
   * Encode and submit the first `nwords` of `commands`.
   * Returns `status()`.
   * @param {number} nwords
   */
  submit(nwords) {
    const serial = ++this.serial;
    /** @type {[number, Read][]} */ const reads = [];
    this.inflight++;
    this.draws = [];
    const scope = this.scoped(() => this.encode(nwords, reads), "submit", serial);
    // A canvas texture lives for this task only, and a bad one must not void the computing.
    for (const [surface = 0, buffer = 0, width = 0, height = 0, format = 0] of this.draws)
      void this.scoped(
        () => this.surfaces.draw(surface, this.buffer(buffer), width, height, format),
        "draw",
        surface,
      );
    for (const [ticket, read] of reads) {
      read.mapped = read.buffer.mapAsync(GPUMapMode.READ, 0, read.size);
      read.mapped.catch(() => {});
      this.reads.set(ticket, read);
    }
    const done = this.device.queue.onSubmittedWorkDone();
    void Promise.allSettled([scope, done]).then(() => {
      this.inflight--;
      this.waiter.notify();
    });
    return this.status();
  }

  /** Unfinished submits, plus 65536 when something failed, plus 131072 when the device is lost. */
  status() {
    return this.inflight + (this.failed.length ? 65536 : 0) + (this.waiter.lost === null ? 0 : 131072);
  }

  /** @param {number} nwords @param {[number, Read][]} reads */
  encode(nwords, reads) {
    const words = this.commands;
    const encoder = this.device.createCommandEncoder();
    /** @type {GPUComputePassEncoder | null} */ let pass = null;
    const end = () => {
      pass?.end();
      pass = null;
    };
    const w = (/** @type {number} */ i) => /** @type {number} */ (words[i]);
    let slot = 0;
    let current = -1;
    for (let at = 0; at < nwords; ) {
      const op = w(at);
      if (op === DISPATCH) {
        const nbuffers = w(at + 5);
        const nparams = w(at + 6 + nbuffers);
        const first = at + 7 + nbuffers;
        const pipeline = /** @type {Pipeline} */ (this.pipelines.get(w(at + 1)));
        if (!pipeline.pipeline) throw new Error("the pipeline is not compiled");
        if (!pass) {
          pass = encoder.beginComputePass();
          current = -1;
        }
        if (current !== w(at + 1)) pass.setPipeline(pipeline.pipeline);
        current = w(at + 1);
        pass.setBindGroup(0, this.group(pipeline, words, at + 6, nbuffers));
        if (pipeline.space === "immediate")
          /** @type {any} */ (pass).setImmediates(0, words, first, nparams);
        else if (pipeline.space === "uniform") slot = this.setUniforms(pass, words, first, nparams, slot);
        pass.dispatchWorkgroups(w(at + 2), w(at + 3), w(at + 4));
        at = first + nparams;
      } else if (op === COPY) {
        end();
        encoder.copyBufferToBuffer(this.buffer(w(at + 1)), w(at + 2), this.buffer(w(at + 3)), w(at + 4), w(at + 5));
        at += 6;
      } else if (op === READ) {
        end();
        const size = w(at + 4);
        const read = { buffer: this.acquire(size), size, mapped: Promise.resolve() };
        encoder.copyBufferToBuffer(this.buffer(w(at + 2)), w(at + 3), read.buffer, 0, size);
        reads.push([w(at + 1), read]);
        at += 5;
      } else if (op === DRAW) {
        this.draws.push([...words.subarray(at + 1, at + 6)]);
        at += 6;
      } else throw new Error(`unknown command ${op}`);
    }
    end();
    for (let ring = 0; ring * SLOTS < slot; ring++) {
      const used = Math.min(slot - ring * SLOTS, SLOTS) * SLOT;
      const target = /** @type {{ buffer: GPUBuffer }} */ (this.rings[ring]);
      this.device.queue.writeBuffer(target.buffer, 0, this.ring, (ring * SLOTS * SLOT) / 4, used / 4);
    }
    this.device.queue.submit([encoder.finish()]);
  }

  /** @param {number} id */
  buffer(id) {
    return /** @type {GPUBuffer} */ (this.buffers.get(id));
  }

  /**
   * Parameters where the browser has no immediate data: slots of uniform buffers, all written once
   * before the submit. Queue order makes the same buffers safe for the next submit.
   * @param {GPUComputePassEncoder} pass @param {Uint32Array} words @param {number} first
   * @param {number} count @param {number} slot
   */
  setUniforms(pass, words, first, count, slot) {
    const ring = Math.floor(slot / SLOTS);
    if (this.ring.length * 4 < (slot + 1) * SLOT) {
      const larger = new Uint32Array(this.ring.length * 2);
      larger.set(this.ring);
      this.ring = larger;
    }
    if (ring === this.rings.length) {
      const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
      const buffer = this.device.createBuffer({ size: SLOT * SLOTS, usage, label: "aiogpu params" });
      const entries = [{ binding: 0, resource: { buffer, size: SLOT } }];
      this.rings.push({ buffer, group: this.device.createBindGroup({ layout: this.uniform(), entries }) });
    }
    this.ring.set(words.subarray(first, first + count), (slot * SLOT) / 4);
    const { group } = /** @type {{ group: GPUBindGroup }} */ (this.rings[ring]);
    pass.setBindGroup(1, group, [(slot % SLOTS) * SLOT]);
    return slot + 1;
  }

  /** A staging buffer of the size class of `size`. @param {number} size */
  acquire(size) {
    const bytes = sizeClass(size);
    const free = this.staging.get(bytes)?.pop();
    if (free) {
      this.stagingBytes -= bytes;
      return free;
    }
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return this.device.createBuffer({ size: bytes, usage, label: "aiogpu staging" });
  }

  /**
   * Resolves when the read under `ticket` can be viewed, and the fate of all that it depends on is known.
   * @param {number} ticket
   */
  async wait(ticket) {
    await this.waiter.settle(Promise.all([...this.scopes]));
    if (this.failed.length) return this.status();
    const read = this.reads.get(ticket);
    if (!read) throw new Error("the read was not submitted");
    await this.waiter.settle(read.mapped);
    return this.status();
  }

  /** The bytes of a finished read. @param {number} ticket */
  view(ticket) {
    const { buffer, size } = /** @type {Read} */ (this.reads.get(ticket));
    return new Uint8Array(buffer.getMappedRange(0, size));
  }

  /** The first `size` bytes of a finished read in a buffer of their own. @param {number} ticket @param {number} size */
  copyOut(ticket, size) {
    return this.view(ticket).slice(0, size).buffer;
  }

  /** Give the staging buffer of a read back, now or once it is unmapped. @param {number} ticket */
  release(ticket) {
    const read = this.reads.get(ticket);
    if (!read) return;
    this.reads.delete(ticket);
    read.mapped.then(
      () => {
        read.buffer.unmap();
        const bytes = read.buffer.size;
        const kept = this.staging.get(bytes) ?? [];
        if (this.stagingBytes + bytes > 256 * 1024 * 1024) return read.buffer.destroy();
        this.stagingBytes += bytes;
        kept.push(read.buffer);
        this.staging.set(bytes, kept);
      },
      () => read.buffer.destroy(),
    );
  }

  /** Resolves when at most `most` submits are unfinished. @param {number} most */
  async drain(most) {
    if (most === 0) await this.waiter.settle(Promise.all([...this.scopes]));
    await this.waiter.until(() => this.inflight <= most);
    return this.status();
  }

  /** What failed since the last call, as JSON: kind, id, type, message. */
  failures() {
    const failed = this.failed;
    this.failed = [];
    return JSON.stringify(failed);
  }

  destroy() {
    this.surfaces.destroy();
    this.device.destroy();
  }
}

/** @param {unknown} error */
function describe(error) {
  const name = /** @type {any} */ (error)?.constructor?.name ?? "Error";
  return { type: String(name), message: String(/** @type {any} */ (error)?.message ?? error) };
}

/** Powers of two and their three-quarters, from 256 bytes. @param {number} size */
function sizeClass(size) {
  let bytes = 256;
  while (bytes < size) bytes *= 2;
  const less = (bytes / 4) * 3;
  return bytes > 256 && size <= less ? less : bytes;
}
