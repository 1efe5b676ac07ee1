"""From steps to programs: WGSL text, parameters, grids. Pure; runs on CPython in milliseconds."""
