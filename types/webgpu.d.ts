// WebGPU's constants, which TypeScript's own libraries (6.0) leave out.

interface GPUBufferUsage {
  readonly MAP_READ: 0x0001;
  readonly MAP_WRITE: 0x0002;
  readonly COPY_SRC: 0x0004;
  readonly COPY_DST: 0x0008;
  readonly INDEX: 0x0010;
  readonly VERTEX: 0x0020;
  readonly UNIFORM: 0x0040;
  readonly STORAGE: 0x0080;
  readonly INDIRECT: 0x0100;
  readonly QUERY_RESOLVE: 0x0200;
}
declare var GPUBufferUsage: GPUBufferUsage;

interface GPUMapMode {
  readonly READ: 0x0001;
  readonly WRITE: 0x0002;
}
declare var GPUMapMode: GPUMapMode;

interface GPUShaderStage {
  readonly VERTEX: 0x1;
  readonly FRAGMENT: 0x2;
  readonly COMPUTE: 0x4;
}
declare var GPUShaderStage: GPUShaderStage;

interface GPUTextureUsage {
  readonly COPY_SRC: 0x01;
  readonly COPY_DST: 0x02;
  readonly TEXTURE_BINDING: 0x04;
  readonly STORAGE_BINDING: 0x08;
  readonly RENDER_ATTACHMENT: 0x10;
}
declare var GPUTextureUsage: GPUTextureUsage;
