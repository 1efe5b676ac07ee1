/**
 * Validates WGSL with Tint, without a GPU and without a browser.
 *
 * Reads JSON Lines `{"label": ..., "wgsl": ...}` on stdin. Makes a shader module of each and, where
 * it has an entry point `main`, a compute pipeline with layout auto. Prints a JSON line
 * `{"label": ..., "messages": [...]}` for each that fails, and the count on stderr; exits with 1
 * when any failed.
 */
import { createInterface } from "node:readline";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);

// At module level: promises of devices whose GPU object was collected never settle.
const gpu = create(["backend=null"]);

const MAIN = /\bfn\s+main\s*\(/;

/**
 * @param {GPUDevice} device
 * @param {string} wgsl
 * @returns {Promise<string[]>} The errors; empty when the shader is valid.
 */
async function errorsOf(device, wgsl) {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: wgsl });
  if (MAIN.test(wgsl)) {
    device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  }
  const scope = device.popErrorScope();
  const info = await module.getCompilationInfo();
  const error = await scope;
  const messages = info.messages
    .filter(({ type }) => type === "error")
    .map(({ lineNum, linePos, message }) => `${lineNum}:${linePos}: ${message}`);
  return messages.length > 0 || !error ? messages : [error.message];
}

async function validate() {
  const adapter = await gpu.requestAdapter();
  if (!adapter) {
    throw new Error("validate: no adapter for Dawn's null backend");
  }
  const requiredFeatures = [...adapter.features];
  const device = await adapter.requestDevice({ requiredFeatures });
  let count = 0;
  let failures = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    const { label, wgsl } = JSON.parse(line);
    const messages = await errorsOf(device, wgsl);
    count += 1;
    if (messages.length > 0) {
      failures += 1;
      process.stdout.write(`${JSON.stringify({ label, messages })}\n`);
    }
  }
  process.stderr.write(`${count} shaders, ${failures} failures\n`);
  return failures;
}

process.exitCode = (await validate()) > 0 ? 1 : 0;
process.exit();
