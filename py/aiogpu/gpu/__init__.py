"""WebGPU: the interface that the run half uses, the browser's, and a recording fake."""
