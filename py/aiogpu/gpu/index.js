/** The JavaScript of the run half, in one module: what our worker.js imports and registers. */
export { Programs } from "./programs.js";
export { Recorder, assemble } from "./recorder.js";
export { Scopes } from "./scopes.js";
export { Staging } from "./staging.js";
export { Surfaces } from "./surfaces.js";
export { Waiter } from "./waiter.js";
