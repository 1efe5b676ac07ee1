/**
 * Runs WGSL kernels over arrays on the Vulkan adapter that VK_ICD_FILENAMES names, outside a browser.
 *
 * Reads JSON Lines `{"label", "wgsl", "inputs": [path, ...], "output": path, "count": n}` on stdin.
 * The kernel's entry point is `main`, one invocation an element, 64 a workgroup; bindings 0 and up
 * of group 0 are the input files as read-only storage, the next is the output, `count` words of 32
 * bits, written to its file. Prints the JSON line `{"adapter": description}`, then one
 * `{"label", "messages": [...]}` for each that fails; exits with 1 when any failed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);

// At module level: promises of devices whose GPU object was collected never settle.
const gpu = create(["backend=vulkan"]);

const WORKGROUP = 64;
const MAX_GROUPS = 65535;

/**
 * @param {GPUDevice} device
 * @param {{ wgsl: string, inputs: string[], output: string, count: number }} job
 */
async function encode(device, { wgsl, inputs, output, count }) {
  const groups = Math.ceil(count / WORKGROUP);
  if (groups > MAX_GROUPS) {
    throw new Error(`count: ${count}: at most ${MAX_GROUPS * WORKGROUP} elements`);
  }
  const module = device.createShaderModule({ code: wgsl });
  const pipeline = await device.createComputePipelineAsync({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  });
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const buffers = inputs.map((path) => {
    const data = readFileSync(path);
    const buffer = device.createBuffer({ size: data.byteLength, usage: STORAGE | COPY_DST });
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  });
  const size = count * 4;
  const result = device.createBuffer({ size, usage: STORAGE | COPY_SRC });
  const staging = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
  const entries = [...buffers, result].map((buffer, binding) => ({
    binding,
    resource: { buffer },
  }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(groups);
  pass.end();
  encoder.copyBufferToBuffer(result, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  writeFileSync(output, new Uint8Array(staging.getMappedRange()));
  for (const buffer of [...buffers, result, staging]) buffer.destroy();
}

async function apply() {
  const adapter = await gpu.requestAdapter();
  if (!adapter) {
    throw new Error(`apply: no Vulkan adapter (VK_ICD_FILENAMES=${process.env.VK_ICD_FILENAMES})`);
  }
  process.stdout.write(`${JSON.stringify({ adapter: adapter.info.description })}\n`);
  const device = await adapter.requestDevice();
  let failures = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    try {
      await encode(device, job);
    } catch (error) {
      failures += 1;
      process.stdout.write(`${JSON.stringify({ label: job.label, messages: [String(error)] })}\n`);
    }
  }
  return failures;
}

process.exitCode = (await apply()) > 0 ? 1 : 0;
process.exit();
