"""Random kernels, and what they are run on."""
