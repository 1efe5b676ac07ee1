"""Functions of neural networks: inference only, no gradients."""

from aiogpu.nn.functional import (
    attention,
    conv2d,
    gelu,
    layer_norm,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
)

__all__ = [
    "attention",
    "conv2d",
    "gelu",
    "layer_norm",
    "log_softmax",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
]
