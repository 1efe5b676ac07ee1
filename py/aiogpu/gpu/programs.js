/**
 * Pipelines, their layouts and bind groups, and the parameters of launches.
 */

/** @typedef {import("./waiter.js").Waiter} Waiter */
/** @typedef {import("./scopes.js").Scopes} Scopes */
/** @typedef {{ group: GPUBindGroupLayout, pipeline: GPUPipelineLayout }} Layout */
/** @typedef {{ pipeline: GPUComputePipeline | null, layout: GPUBindGroupLayout | null, space: string, groups: Map<string, GPUBindGroup> }} Program */
/** @typedef {GPUComputePassEncoder & { setImmediates(offset: number, data: Uint32Array, first: number, count: number): void }} ImmediatePass */

const SLOT = 256; // bytes of a uniform slot: minUniformBufferOffsetAlignment
const SLOTS = 256; // slots of one uniform buffer
const SIZED = 65536; // flag in a number of buffers: their sizes follow them
const IMMEDIATE = 64; // bytes of immediate data
const MAX_GROUPS = 1024; // bind groups that one pipeline keeps

export class Programs {
  /** @param {GPUDevice} device @param {Waiter} waiter @param {Scopes} scopes */
  constructor(device, waiter, scopes) {
    this.device = device;
    this.waiter = waiter;
    this.scopes = scopes;
    /** @type {Map<number, Program>} */ this.programs = new Map();
    /** @type {Map<string, Layout>} */ this.layouts = new Map();
    /** @type {{ buffer: GPUBuffer, group: GPUBindGroup }[]} */ this.rings = [];
    this.params = new Uint32Array((SLOT * SLOTS) / 4);
    this.slot = 0;
    /** @type {GPUBindGroupLayout | null} */ this.uniformLayout = null;
  }

  /** @param {number} count @param {number} writes a bit for each binding @param {string} space */
  layout(count, writes, space) {
    const key = `${count} ${writes} ${space}`;
    const known = this.layouts.get(key);
    if (known) return known;
    const visibility = GPUShaderStage.COMPUTE;
    /** @type {GPUBindGroupLayoutEntry[]} */
    const entries = Array.from({ length: count }, (_, binding) => ({
      binding,
      visibility,
      buffer: { type: (writes >> binding) & 1 ? "storage" : "read-only-storage" },
    }));
    const group = this.device.createBindGroupLayout({ entries });
    const bindGroupLayouts = space === "uniform" ? [group, this.uniform()] : [group];
    const immediate = space === "immediate" ? { immediateSize: IMMEDIATE } : {};
    const pipeline = this.device.createPipelineLayout({ bindGroupLayouts, ...immediate });
    const made = { group, pipeline };
    this.layouts.set(key, made);
    return made;
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
   * Compile a pipeline. Resolves to "" or to what the compiler said.
   *
   * With `now`, by the synchronous form, for work that must go out without a turn of the event
   * loop. It does not block: the GPU process compiles (Chromium 156: the call took 0.02 ms, the
   * compiling 140 ms).
   * @param {number} id @param {string} code @param {string} entryPoint @param {string} label
   * @param {number} count @param {number} writes @param {string} space
   * @param {string} constants JSON of override constants @param {boolean} now
   * @returns {Promise<string>}
   */
  compile(id, code, entryPoint, label, count, writes, space, constants, now) {
    const said = this.build(id, code, entryPoint, label, count, writes, space, constants, now);
    if (now) this.scopes.hold(said); // else a submit's failure would come before its cause
    return said;
  }

  /**
   * @param {number} id @param {string} code @param {string} entryPoint @param {string} label
   * @param {number} count @param {number} writes @param {string} space
   * @param {string} constants @param {boolean} now @returns {Promise<string>}
   */
  async build(id, code, entryPoint, label, count, writes, space, constants, now) {
    /** @type {Program} */
    const program = { pipeline: null, layout: null, space, groups: new Map() };
    this.programs.set(id, program);
    /** @type {GPUShaderModule | undefined} */ let module;
    /** @type {Promise<GPUComputePipeline> | undefined} */ let later;
    const scope = this.scopes.run("pipeline", id, () => {
      const layout = this.layout(count, writes, space);
      program.layout = layout.group;
      module = this.device.createShaderModule({ code, label });
      /** @type {unknown} */
      const values = JSON.parse(constants);
      const overrides = /** @type {Record<string, number>} */ (values);
      const compute = { module, entryPoint, constants: overrides };
      const descriptor = { label, layout: layout.pipeline, compute };
      if (now) program.pipeline = this.device.createComputePipeline(descriptor);
      else later = this.device.createComputePipelineAsync(descriptor);
    });
    let said = "";
    try {
      if (later) program.pipeline = await this.waiter.settle(later);
      await this.waiter.settle(scope);
    } catch (error) {
      if (this.waiter.lost !== null) {
        if (now) return "";
        throw error;
      }
      said = error instanceof Error ? error.message : String(error);
    }
    const mine = this.scopes.take((failure) => failure.kind === "pipeline" && failure.id === id);
    said ||= mine.map((failure) => failure.message).join("\n");
    if (!said) return "";
    program.pipeline = null;
    said = (await compilerLines(module)) || said;
    if (now) this.scopes.fail("pipeline", id, new Error(said));
    return said;
  }

  /**
   * @param {ImmediatePass} pass @param {number} id @param {boolean} isCurrent the pass has this pipeline
   * @param {Uint32Array} words @param {number} at where the buffers' numbers stand
   * @param {number} count of buffers, plus SIZED @param {Map<number, GPUBuffer>} buffers
   */
  set(pass, id, isCurrent, words, at, count, buffers) {
    const program = this.programs.get(id);
    if (!program?.pipeline) throw new Error("the shader does not compile");
    if (!isCurrent) pass.setPipeline(program.pipeline);
    pass.setBindGroup(0, this.group(program, words, at, count, buffers));
    const nbuffers = count % SIZED;
    const first = at + (count < SIZED ? nbuffers : 2 * nbuffers) + 1;
    const nparams = words[first - 1] ?? 0;
    if (program.space === "immediate") pass.setImmediates(0, words, first, nparams);
    else if (program.space === "uniform") this.setUniforms(pass, words, first, nparams);
    return first + nparams;
  }

  /**
   * @param {Program} program @param {Uint32Array} words @param {number} at
   * @param {number} count of buffers, plus SIZED @param {Map<number, GPUBuffer>} buffers
   */
  group(program, words, at, count, buffers) {
    const nbuffers = count % SIZED;
    const isSized = count >= SIZED;
    const key = words.subarray(at, at + (isSized ? 2 * nbuffers : nbuffers)).join();
    const known = program.groups.get(key);
    if (known) return known;
    /** @type {GPUBindGroupEntry[]} */ const entries = [];
    for (let binding = 0; binding < nbuffers; binding++) {
      const buffer = buffers.get(words[at + binding] ?? 0);
      if (!buffer) throw new Error("a buffer that is not there");
      const size = isSized ? words[at + nbuffers + binding] : undefined;
      entries.push({ binding, resource: { buffer, size } });
    }
    const layout = /** @type {GPUBindGroupLayout} */ (program.layout);
    const made = this.device.createBindGroup({ layout, entries });
    if (program.groups.size >= MAX_GROUPS) program.groups.clear();
    program.groups.set(key, made);
    return made;
  }

  /** Forget bind groups that may hold a buffer that is gone; numbers are never used again. */
  forget() {
    for (const program of this.programs.values()) program.groups.clear();
  }

  /**
   * Parameters where there is no immediate data, or not enough: slots of uniform buffers, all
   * written once before the submit. The queue's order makes them free again for the next submit.
   * @param {GPUComputePassEncoder} pass @param {Uint32Array} words @param {number} first @param {number} count
   */
  setUniforms(pass, words, first, count) {
    const slot = this.slot++;
    if (this.params.byteLength < (slot + 1) * SLOT) {
      const larger = new Uint32Array(this.params.length * 2);
      larger.set(this.params);
      this.params = larger;
    }
    this.params.set(words.subarray(first, first + count), (slot * SLOT) / 4);
    const ring = this.rings[Math.floor(slot / SLOTS)] ?? this.addRing();
    pass.setBindGroup(1, ring.group, [(slot % SLOTS) * SLOT]);
  }

  addRing() {
    const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
    const buffer = this.device.createBuffer({ size: SLOT * SLOTS, usage, label: "aiogpu params" });
    const entries = [{ binding: 0, resource: { buffer, size: SLOT } }];
    const group = this.device.createBindGroup({ layout: this.uniform(), entries });
    const made = { buffer, group };
    this.rings.push(made);
    return made;
  }

  /** Write the parameters of the commands that are about to be submitted. */
  flush() {
    const perRing = (SLOT * SLOTS) / 4;
    for (const [at, { buffer }] of this.rings.entries()) {
      const used = Math.min(this.slot - at * SLOTS, SLOTS);
      if (used <= 0) break;
      this.device.queue.writeBuffer(buffer, 0, this.params, at * perRing, (used * SLOT) / 4);
    }
    this.slot = 0;
  }
}

/** The compiler's errors, a line each: line:column text. @param {GPUShaderModule | undefined} module */
async function compilerLines(module) {
  const info = await module?.getCompilationInfo();
  const errors = (info?.messages ?? []).filter((message) => message.type === "error");
  return errors.map((error) => `${error.lineNum}:${error.linePos} ${error.message}`).join("\n");
}
