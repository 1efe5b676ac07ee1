"""What NumPy's other names are called here: the Array API standard has one name for each thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from aiogpu import dtypes

if TYPE_CHECKING:
    from collections.abc import Mapping

FUNCTIONS: Final = {
    "absolute": "abs", "fabs": "abs", "alltrue": "all", "amax": "max", "amin": "min",
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "around": "round", "rint": "round", "fix": "trunc",
    "bitwise_not": "bitwise_invert", "invert": "bitwise_invert", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift", "concatenate": "concat",
    "hstack": "concat", "vstack": "concat", "conjugate": "conj", "degrees": "x * (180 / gpu.pi)",
    "radians": "x * (gpu.pi / 180)", "deg2rad": "x * (gpu.pi / 180)",
    "rad2deg": "x * (180 / gpu.pi)", "true_divide": "divide", "dot": "matmul", "inner": "vecdot",
    "vdot": "vecdot", "fmod": "remainder", "mod": "remainder", "power": "pow", "float_power": "pow",
    "fmax": "maximum", "fmin": "minimum", "greater_than": "greater", "less_than": "less",
    "identity": "eye", "sometrue": "any", "product": "prod", "ravel": "reshape(x, (-1,))",
    "swapaxes": "moveaxis", "rollaxis": "moveaxis", "transpose": "permute_dims",
    "fliplr": "flip(x, axis=1)", "flipud": "flip(x, axis=0)", "atleast_1d": "expand_dims",
    "bool_": "bool", "half": "float16", "single": "float32", "csingle": "complex64",
    "float64": "float32", "double": "float32", "int64": "int32", "uint64": "uint32",
    "complex128": "complex64", "float_": "float32", "int_": "int32", "ubyte": "uint8",
    "ndarray": "Array", "asanyarray": "asarray", "ascontiguousarray": "asarray",
    "softmax": "nn.softmax", "log_softmax": "nn.log_softmax", "relu": "nn.relu",
    "sigmoid": "nn.sigmoid", "unique": "unique_values", "in1d": "isin", "argwhere": "nonzero",
    "flatnonzero": "nonzero(reshape(x, (-1,)))", "compress": "x[mask]", "extract": "x[mask]",
    "digitize": "searchsorted", "argpartition": "top_k", "partition": "top_k",
}  # fmt: skip

# Those among them that do the same thing for all arguments that ours takes. The others come near:
# hstack is concat along another axis, fmod has another sign.
SAME: Final = frozenset({
    "absolute", "amax", "amin", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "around", "asanyarray", "bitwise_not", "concatenate", "conjugate", "fix", "invert",
    "left_shift", "mod", "power", "right_shift", "rint", "true_divide", "unique",
})  # fmt: skip

METHODS: Final = {
    "get": "await x.numpy()", "cpu": "await x.numpy()", "asnumpy": "await x.numpy()",
    "conj": "gpu.conj(x)", "conjugate": "gpu.conj(x)",
    "imag": "gpu.imag(x)",
    "real": "gpu.real(x)", "ptp": "x.max() - x.min()",


    "tobytes": "(await x.data()).tobytes()",
    "fill": "x[...] = value", "view": "x.astype(dtype)", "to_numpy": "await x.numpy()",
    "sort": "gpu.sort(x)", "argsort": "gpu.argsort(x)", "nonzero": "gpu.nonzero(x)",
    "searchsorted": "gpu.searchsorted(x, values)", "compress": "x[mask]",
    "partition": "gpu.top_k(x, k)", "argpartition": "gpu.top_k(x, k)",
}  # fmt: skip


def missing(owner: str, name: str, spellings: Mapping[str, str]) -> AttributeError:
    """The error for a name that is not there; it names ours where we have the thing."""
    ours = spellings.get(name)
    hint = "" if ours is None else f": the name here is {ours}"
    if name in dtypes.WIDE:
        hint += ", since WebGPU computes in 32 bits at most"
    return AttributeError(f"{owner} has no attribute {name!r}{hint}", name=name)


def refuse(name: str) -> NoReturn:
    """``__getattr__`` of the package.

    Raises:
        AttributeError: Always.
    """
    raise missing("aiogpu", name, FUNCTIONS)
