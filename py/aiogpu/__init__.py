"""asyncio-native GPU arrays and kernels for Python in the browser.

::

    import aiogpu as gpu

    x = gpu.asarray([1.0, 2.0, 3.0])
    y = gpu.tanh(x * 2 + 1).sum()      # enqueued; returns at once
    print(await y.item())              # only reading waits

Nothing blocks, nothing reads back unasked. `docs/layout.md` follows an expression to its launch.
"""

from math import e, inf, nan, pi

from aiogpu import errors, nn, random, spellings
from aiogpu.array import Array
from aiogpu.awaited import Read
from aiogpu.backend import Backend
from aiogpu.device import Adapter, Device, is_available, open_device, request_adapter

# fmt: off
from aiogpu.dtypes import (
    DType, complex64, float16, float32, int8, int16, int32, uint8, uint16, uint32,
)
# fmt: on
from aiogpu.dtypes import bool_ as bool
from aiogpu.showing import display
from aiogpu.eager import eager, explain
from aiogpu.ops import fft
from aiogpu.ops import linear_algebra as linalg

# fmt: off
from aiogpu.ops.creation import (
    arange, array, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace,
    meshgrid, ones, ones_like, tril, triu, zeros, zeros_like,
)
from aiogpu.ops.cumulative import cumulative_prod, cumulative_sum, diff
from aiogpu.ops.data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from aiogpu.ops.elementwise import (
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert,
    bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign,
    cos, cosh, divide, equal, erf, exp, expm1, floor, floor_divide, greater, greater_equal, hypot,
    imag, isfinite, isinf, isnan, less, less_equal, log, log1p, log2, log10, logaddexp, logical_and,
    logical_not, logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter,
    not_equal, positive, pow, real, reciprocal, remainder, round, sign, signbit, sin, sinh, sqrt,
    square, subtract, tan, tanh, trunc,
)
# fmt: on
from aiogpu.ops.einsum import einsum
from aiogpu.ops.authored import elementwise, func, kernel
from aiogpu.ops.compiled import compile
from aiogpu.ops.folding import reduce_kernel
from aiogpu.ops.indexing import take_along_axis
from aiogpu.ops.inspection import __array_namespace_info__
from aiogpu.ops.kernels import wgsl
from aiogpu.ops.linalg import matmul, matrix_transpose, tensordot, vecdot

# fmt: off
from aiogpu.ops.manipulation import (
    broadcast_arrays, broadcast_to, concat, expand_dims, flip, moveaxis, pad, permute_dims,
    reshape, squeeze, stack, take,
)
# fmt: on
from aiogpu.ops.precision import fast_math
from aiogpu.ops.rearranging import broadcast_shapes, repeat, roll, tile, unstack
from aiogpu.ops.searching import argmax, argmin, count_nonzero, nonzero, searchsorted, where
from aiogpu.ops.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from aiogpu.ops.sorting import argsort, sort, top_k
from aiogpu.ops.statistical import all, any, max, mean, min, prod, std, sum, var
from aiogpu.reading import read
from aiogpu.report import close, counters, environment, memory, pace, report, version
from aiogpu.server import expose, progress, track
from aiogpu.switch import sync_reads
from aiogpu.surface import Canvas, canvas, synchronize

newaxis = None
__version__ = version()
__array_api_version__ = "2024.12"
__getattr__ = spellings.refuse  # names that are only NumPy's

# fmt: off
__all__ = [
    "Adapter", "Array", "Backend", "Canvas", "DType", "Device", "Read", "__array_namespace_info__",
    "abs", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "argsort", "array",
    "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "canvas", "ceil", "clip",
    "close", "compile", "complex64", "concat", "conj", "copysign", "cos", "cosh",
    "count_nonzero", "counters",
    "cumulative_prod", "cumulative_sum", "diff", "display", "divide", "e", "eager", "einsum",
    "elementwise",
    "empty", "empty_like", "environment", "equal", "erf", "errors", "exp", "expand_dims", "explain",
    "expm1", "expose", "eye", "fast_math", "fft", "finfo", "flip", "float16", "float32", "floor",
    "floor_divide", "from_dlpack", "full", "full_like", "func", "greater", "greater_equal", "hypot",
    "iinfo", "imag", "inf", "int16", "int32", "int8", "is_available", "isdtype", "isfinite", "isin",
    "isinf", "isnan", "kernel", "less", "less_equal", "linalg", "linspace", "log", "log10", "log1p",
    "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "memory", "meshgrid", "min", "minimum",
    "moveaxis", "multiply", "nan", "negative", "newaxis", "nextafter", "nn", "nonzero", "not_equal",
    "ones", "ones_like", "open_device", "pace", "pad", "permute_dims", "pi", "positive", "pow",
    "prod", "progress", "random", "read", "real", "reciprocal", "reduce_kernel", "remainder",
    "repeat", "report", "request_adapter", "reshape", "result_type", "roll", "round",
    "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "sync_reads", "synchronize", "take", "take_along_axis", "tan", "tanh",
    "tensordot", "tile", "top_k", "track", "tril", "triu", "trunc", "uint16", "uint32", "uint8",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot",
    "wgsl", "where", "zeros", "zeros_like",
]
# fmt: on
