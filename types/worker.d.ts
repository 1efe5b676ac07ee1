// The wheel's JavaScript runs in workers and on pages. It is checked as worker code, where the page's
// canvas has no type: this is the part of it that is used.

interface HTMLCanvasElement extends EventTarget {
  width: number;
  height: number;
  getContext(kind: "webgpu"): GPUCanvasContext | null;
}
