import { connect } from "aiogpu";

const canvas = document.querySelector("canvas");
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The number c of z * z + c, and where it is going. */
const c = { x: -0.4, y: 0.6 };
let target = { ...c };
let isHeld = false;

canvas.addEventListener("pointermove", ({ clientX, clientY }) => {
  isHeld = true;
  target = { x: (clientX / innerWidth) * 2.2 - 1.4, y: 0.9 - (clientY / innerHeight) * 1.8 };
});
canvas.addEventListener("pointerleave", () => (isHeld = false));

const show = (id, text) => (document.getElementById(id).textContent = text);
const shown = (state) => (document.body.dataset.state = state);

const STAGES = { pyodide: "Python", packages: "packages", wheel: "aiogpu", server: "aiogpu" };
function loading({ stage, loaded }) {
  const bytes = loaded > 0 ? `, ${(loaded / 1e6).toFixed(1)} MB` : "";
  show("stage", `Loading ${STAGES[stage]}${bytes}`);
}

/** Where c is at a time in milliseconds. */
function move(now, elapsed) {
  if (!isHeld && !still) {
    // A walk along the numbers whose sets are about to fall apart: the finest ones.
    const angle = 2.16 + now / 9000;
    target = { x: 0.7885 * Math.cos(angle), y: 0.7885 * Math.sin(angle) };
  }
  const part = 1 - Math.exp(-elapsed / 150);
  c.x += (target.x - c.x) * part;
  c.y += (target.y - c.y) * part;
}

function describe(inside, milliseconds) {
  const sign = (number) => (number < 0 ? "−" : "+");
  const [x, y] = [c.x, c.y].map((number) => Math.abs(number).toFixed(3));
  show("c", `${sign(c.x)}${x} ${sign(c.y)} ${y} i`);
  show("inside", `${(inside * 100).toFixed(1)} %`);
  show("time", `${milliseconds.toFixed(0)} ms`);
}

async function main() {
  // Vite, like other bundlers, makes the file's address of this.
  const modules = { julia: new URL("./julia.py", import.meta.url) };
  const gpu = await connect({ canvas, modules, onProgress: loading });
  const { adapter } = await gpu.report();
  const isSoftware = adapter.kind.startsWith("software");
  show("adapter", isSoftware ? "software" : adapter.vendor);
  // A processor that plays GPU gets fewer pixels.
  const ratio = isSoftware ? 0.5 : Math.min(devicePixelRatio, 2);
  let before = performance.now();
  let drawn = "";
  for (;;) {
    const now = await new Promise(requestAnimationFrame);
    move(now, now - before);
    before = now;
    const size = [innerWidth, innerHeight].map((side) => Math.round(side * ratio));
    const wanted = [c.x.toFixed(4), c.y.toFixed(4), ...size].join();
    if (wanted !== drawn) {
      const started = performance.now();
      const inside = await gpu.call("julia:draw", [c.x, c.y, ...size]);
      describe(inside, performance.now() - started);
      drawn = wanted;
      shown("running");
    }
  }
}

main().catch((error) => {
  shown("failed");
  show("stage", error.traceback ?? error.message);
  throw error;
});
