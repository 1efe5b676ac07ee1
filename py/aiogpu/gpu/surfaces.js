/**
 * Canvases: draws an array's buffer to a canvas by a render pass, without a read or a copy.
 */
const SHADER = `
struct Params { width: u32, height: u32, format: u32, columns: u32, rows: u32 }
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<uniform> p: Params;

@vertex fn corners(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32((i << 1u) & 2u) * 2.0 - 1.0, f32(i & 2u) * 2.0 - 1.0, 0.0, 1.0);
}

fn channel(at: u32) -> f32 {
  if (p.format % 2u == 0u) { return bitcast<f32>(data[at]); }
  return f32(extractBits(data[at / 4u], at % 4u * 8u, 8u)) / 255.0;
}

@fragment fn colour(@builtin(position) place: vec4f) -> @location(0) vec4f {
  let x = min(u32(place.x) * p.width / p.columns, p.width - 1u);
  let y = min(u32(place.y) * p.height / p.rows, p.height - 1u);
  let pixel = y * p.width + x;
  let channels = array<u32, 3>(1u, 3u, 4u)[p.format / 2u];
  let at = pixel * channels;
  let first = channel(at);
  if (channels == 1u) { return vec4f(first, first, first, 1.0); }
  let rgb = vec3f(first, channel(at + 1u), channel(at + 2u));
  return vec4f(rgb, 1.0);
}
`;

/** @typedef {{ canvas: OffscreenCanvas | HTMLCanvasElement, context: GPUCanvasContext, params: GPUBuffer, pipeline: GPURenderPipeline }} Surface */

export class Surfaces {
  /** @param {GPUDevice} device @param {GPU} gpu */
  constructor(device, gpu) {
    this.device = device;
    this.gpu = gpu;
    /** @type {Map<number, Surface>} */ this.surfaces = new Map();
    /** @type {GPURenderPipeline | null} */ this.pipeline = null;
  }

  /**
   * Take a canvas. Returns "" or why it cannot be drawn to.
   * @param {number} id @param {OffscreenCanvas | HTMLCanvasElement} canvas
   */
  attach(id, canvas) {
    // Both kinds of canvas have it; TypeScript does not merge their overloads.
    const context = /** @type {HTMLCanvasElement} */ (canvas).getContext("webgpu");
    if (!context) return "the canvas already has a context of another kind";
    const format = this.gpu.getPreferredCanvasFormat();
    context.configure({ device: this.device, format, alphaMode: "opaque" });
    this.pipeline ??= this.compile(format);
    const usage = GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
    const params = this.device.createBuffer({ size: 32, usage, label: "aiogpu canvas" });
    this.surfaces.set(id, { canvas, context, params, pipeline: this.pipeline });
    return "";
  }

  /** @param {GPUTextureFormat} format */
  compile(format) {
    const module = this.device.createShaderModule({ code: SHADER, label: "aiogpu canvas" });
    return this.device.createRenderPipeline({
      label: "aiogpu canvas",
      layout: "auto",
      vertex: { module, entryPoint: "corners" },
      fragment: { module, entryPoint: "colour", targets: [{ format }] },
    });
  }

  /**
   * Draw and submit, in an encoder of its own: the texture lives for this task only.
   * @param {number} id @param {GPUBuffer} buffer @param {number} width @param {number} height
   * @param {number} format 2 x (0 grey, 1 RGB, 2 RGBA) + (0 float32 in 0..1, 1 uint8)
   */
  draw(id, buffer, width, height, format) {
    const { canvas, context, params, pipeline } = /** @type {Surface} */ (this.surfaces.get(id));
    const most = this.device.limits.maxTextureDimension2D;
    const columns = Math.min(width, most);
    const rows = Math.min(height, most);
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
    const values = new Uint32Array([width, height, format, columns, rows, 0, 0, 0]);
    this.device.queue.writeBuffer(params, 0, values);
    const encoder = this.device.createCommandEncoder();
    const view = context.getCurrentTexture().createView();
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view, loadOp: "clear", storeOp: "store", clearValue: [0, 0, 0, 1] }],
    });
    pass.setPipeline(pipeline);
    const entries = [
      { binding: 0, resource: { buffer } },
      { binding: 1, resource: { buffer: params } },
    ];
    pass.setBindGroup(
      0,
      this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }),
    );
    pass.draw(3);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }

  destroy() {
    for (const { context, params } of this.surfaces.values()) {
      context.unconfigure();
      params.destroy();
    }
    this.surfaces.clear();
  }
}
