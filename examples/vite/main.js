import { connect } from "aiogpu";

/** @param {string} id */
const element = (id) => document.getElementById(id);
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

try {
  const gpu = await connect({
    canvas,
    // Vite, like other bundlers, makes the file's address of this.
    modules: { julia: new URL("./julia.py", import.meta.url) },
    onProgress: ({ stage, loaded }) => {
      element("stage").textContent = `Loading ${stage}, ${(loaded / 1e6).toFixed(1)} MB`;
    },
  });
  const { adapter } = await gpu.report();
  const isSoftware = adapter.kind.startsWith("software");
  element("adapter").textContent = isSoftware ? "none: software" : adapter.vendor;
  // A processor that plays GPU gets a quarter of the pixels.
  const ratio = isSoftware ? 0.5 : Math.min(devicePixelRatio, 2);

  const draw = async (now) => {
    if (!isHeld && !still) {
      // A walk along the numbers whose sets are about to fall apart: the finest ones.
      const angle = 2.16 + now / 9000;
      target = { x: 0.7885 * Math.cos(angle), y: 0.7885 * Math.sin(angle) };
    }
    c.x += (target.x - c.x) * 0.1;
    c.y += (target.y - c.y) * 0.1;
    const size = [Math.round(innerWidth * ratio), Math.round(innerHeight * ratio)];
    const started = performance.now();
    const inside = await gpu.call("julia:draw", [c.x, c.y, ...size]);
    element("time").textContent = `${(performance.now() - started).toFixed(0)} ms`;
    element("inside").textContent = `${(inside * 100).toFixed(1)} %`;
    element("c").textContent =
      `${c.x.toFixed(3)} ${c.y < 0 ? "−" : "+"} ${Math.abs(c.y).toFixed(3)} i`;
    document.body.dataset.state = "running";
  };
  for (;;) {
    await draw(await new Promise(requestAnimationFrame));
  }
} catch (error) {
  document.body.dataset.state = "failed";
  element("stage").textContent = error.traceback ?? error.message;
  throw error;
}
