/**
 * Pyodide in Node, with WebGPU by npm's `webgpu` (Dawn): runs Python files there.
 *
 *     node tools/node_host.mjs WHEEL [NAME=]FILE.py [...] 'module:function'
 *
 * Prints what the function returns, as JSON, on a last line.
 */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const [wheel, ...rest] = process.argv.slice(2);
const [module, name] = rest.pop().split(":");

const gpu = create(["backend=vulkan"]);
const adapter = await gpu.requestAdapter();
if (!adapter) throw new Error("Dawn finds no adapter");
const device = await adapter.requestDevice();

const indexURL = fileURLToPath(new URL("../build/pyodide/", import.meta.url));
const pyodide = await loadPyodide({ indexURL, stdout: () => {}, stderr: console.error });
await pyodide.loadPackage(["numpy"]);
// Pyodide knows no Buffer of Node.
pyodide.unpackArchive(new Uint8Array(await readFile(wheel)), "wheel");
for (const file of rest) {
  const [path, named] = file.split("=").reverse();
  const module = named ?? basename(path, ".py");
  pyodide.FS.writeFile(`/home/pyodide/${module}.py`, await readFile(path));
}
pyodide.globals.set("device", device);
const source = `
import json
import aiogpu as gpu
await gpu.open_device(gpu_device=device)
import ${module}
json.dumps(await ${module}.${name}())
`;
try {
  const result = await pyodide.runPythonAsync(source);
  console.log(`\n${result}`); // Dawn's own warnings come without an end of line
} catch (error) {
  // Without the stack: Node would print the whole of Pyodide's one long line with it.
  console.error(error.message);
  process.exitCode = 1;
}
device.destroy();
process.exit();
