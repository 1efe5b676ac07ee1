"""The op table: one row an operation.

An elementwise row carries its WGSL by compute type (``f32``, ``i32``, ``u32``, ``bool``, ``vec2f``
for complex numbers; ``*`` for all others), with ``{0}``, ``{1}``, ``{2}`` for the operands. Names
that begin with ``ag_`` are functions of `aiogpu.kernels.numerics`. Adding an elementwise function
is adding a row here and a public function in `aiogpu.ops.elementwise`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiogpu.dtypes import DType
    from aiogpu.program import Origin

Family = Literal[
    "leaf",
    "empty",
    "constant",
    "iota",
    "view",
    "elementwise",
    "reduce",
    "search",
    "row",
    "scan",
    "matmul",
    "conv",
    "attention",
    "fft",
    "linalg",
    "gather",
    "scatter",
    "sort",
    "along",
    "bisect",
    "store",
    "user",
    "kernel",
    "pick",
]

# Families whose operand may be computed on the way, element by element; and those that read their
# operands as they lie in memory.
PROLOGUE: Final = frozenset({"reduce", "search", "row", "scan", "sort", "fft"})
# fmt: off
WHOLE: Final = frozenset({
    "empty", "matmul", "conv", "attention", "linalg", "gather", "scatter", "along", "bisect",
    "user", "kernel", "pick",
})
# fmt: on

# How the dtype of the result and the dtype of computing follow from the operands:
#   same       they promote, and so is the result
#   bool       they promote, the result is bool
#   float      they promote, integers and bools become float32
#   test       no promotion beyond float32's: the result is bool (isnan and its kin)
#   logical    every operand is taken as bool, the result is bool
#   where      the second and third promote; the first is bool
#   component  as same, but what is complex gives the dtype of its parts
#   cast       one operand, the result's dtype is given
DTypeRule = Literal["same", "bool", "float", "logical", "where", "component", "cast", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """A row: an operation's name, number of operands, and what it makes of their dtypes."""

    name: str
    family: Family
    arity: int = 0
    rule: DTypeRule = "none"
    kinds: str = "buif"  # first letters of the kinds it takes: bool, uint, int, float, complex
    wgsl: Mapping[str, str] = field(default_factory=dict)
    # Functions that its WGSL calls, where they are not of `aiogpu.kernels.numerics`: a user's own.
    functions: str = ""
    origin: Origin | None = None  # where these come from
    # Pairs of operands, dtypes or types of Python numbers, that were met before and that need no
    # cast: the dtype in which Python numbers join, and the result's.
    pairs: dict[tuple[object, object], tuple[DType, DType]] = field(default_factory=dict)
    length: int = 1  # how many operations it counts for, where computing it again is weighed
    fast: Op | None = None  # the row that takes this one's place inside `aiogpu.fast_math`


TABLE: Final[dict[str, Op]] = {}

# What `aiogpu.fast_math` computes float32 by: WGSL's own, as exact and as fast as the adapter has
# them. expm1, log1p, hypot and logaddexp are there for the digits that these would lose, and stay.
_FAST: Final = {
    "divide": "({0} / {1})",
    "reciprocal": "(1.0 / {0})",
    "pow": "pow({0}, {1})",
    "atan2": "atan2({0}, {1})",
    "log10": "(log2({0}) * 0.30103)",
    # Adapters may take the quotient of two exponentials, which overflow.
    "tanh": "tanh(clamp({0}, -9.1, 9.1))",
    "sigmoid": "(1.0 / (1.0 + exp(-{0})))",
    "silu": "({0} / (1.0 + exp(-{0})))",
    # D. Hendrycks and K. Gimpel, "Gaussian Error Linear Units" (2016): off by 5e-4 at most.
    "gelu": "({0} * (1.0 - 1.0 / (exp({0} * (1.5957691 + 0.07135481 * {0} * {0})) + 1.0)))",
    **{
        name: f"{name}({{0}})"
        for name in (
            "exp", "log", "log2", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
            "cosh", "asinh", "acosh", "atanh",
        )
    },
}  # fmt: skip


def _row(
    name: str,
    family: Family,
    arity: int = 0,
    rule: DTypeRule = "none",
    kinds: str = "buif",
    wgsl: Mapping[str, str] | None = None,
    length: int = 1,
) -> Op:
    fast = None
    if name in _FAST:
        text = {**(wgsl or {}), "f32": _FAST[name]}
        fast = TABLE[f"fast_{name}"] = Op(f"fast_{name}", family, arity, rule, kinds, text)
    op = TABLE[name] = Op(name, family, arity, rule, kinds, wgsl or {}, length=length, fast=fast)
    return op


LEAF: Final = _row("array", "leaf")
EMPTY: Final = _row("empty", "empty")  # memory of undefined content, to be stored into
CONSTANT: Final = _row("full", "constant")
IOTA: Final = _row("arange", "iota")
VIEW: Final = _row("view", "view", 1)
CAST: Final = _row("astype", "elementwise", 1, "cast")
COPY: Final = _row("copy", "elementwise", 1, "same", wgsl={"*": "{0}"})
STORE: Final = _row("store", "store", 2)
MATMUL: Final = _row("matmul", "matmul", 2, "same", "uifc")
USER: Final = _row("wgsl", "user")
PICK: Final = _row("pick", "pick", 1)  # one of the outputs of a user's kernel


def _unary(name: str, rule: DTypeRule, kinds: str, **wgsl: str) -> None:
    _row(
        name,
        "elementwise",
        1,
        rule,
        kinds,
        {("*" if key == "rest" else key): text for key, text in wgsl.items()},
    )


def _binary(name: str, rule: DTypeRule, kinds: str, **wgsl: str) -> None:
    _row(
        name,
        "elementwise",
        2,
        rule,
        kinds,
        {("*" if key == "rest" else key): text for key, text in wgsl.items()},
    )


# Arithmetic. WGSL integer arithmetic wraps, as NumPy's does.
_binary("add", "same", "uifc", rest="({0} + {1})")
_binary("subtract", "same", "uifc", rest="({0} - {1})")
_binary("multiply", "same", "uifc", vec2f="ag_cmul({0}, {1})", rest="({0} * {1})")
_binary("divide", "float", "buifc", f32="ag_div_f32({0}, {1})", vec2f="ag_cdiv({0}, {1})")
_binary(
    "floor_divide",
    "same",
    "uif",
    f32="ag_floordiv_f32({0}, {1})",
    i32="ag_floordiv_i32({0}, {1})",
    u32="ag_floordiv_u32({0}, {1})",
)
_binary(
    "remainder",
    "same",
    "uif",
    f32="ag_mod_f32({0}, {1})",
    i32="ag_mod_i32({0}, {1})",
    u32="ag_mod_u32({0}, {1})",
)
_binary(
    "pow",
    "same",
    "uifc",
    f32="ag_pow_f32({0}, {1})",
    vec2f="ag_cpow({0}, {1})",
    i32="ag_pow_i32({0}, {1})",
    u32="ag_pow_u32({0}, {1})",
)
_binary(
    "maximum", "same", "buif", f32="ag_max_f32({0}, {1})", bool="({0} || {1})", rest="max({0}, {1})"
)
_binary(
    "minimum", "same", "buif", f32="ag_min_f32({0}, {1})", bool="({0} && {1})", rest="min({0}, {1})"
)
_binary("atan2", "float", "uif", f32="ag_atan2({0}, {1})")
_binary("hypot", "float", "uif", f32="ag_hypot({0}, {1})")
_binary("copysign", "float", "f", f32="ag_copysign({0}, {1})")
_binary(
    "nextafter", "float", "f", f32="ag_nextafter({0}, {1})", float16="ag_nextafter_f16({0}, {1})"
)
_binary("logaddexp", "float", "uif", f32="ag_logaddexp({0}, {1})")
_unary("negative", "same", "uifc", u32="(0u - {0})", rest="(-{0})")
_unary("positive", "same", "uifc", rest="{0}")
_unary("abs", "component", "uifc", u32="{0}", vec2f="ag_cabs({0})", rest="abs({0})")
_unary(
    "sign",
    "same",
    "uifc",
    f32="ag_sign_f32({0})",
    i32="ag_sign_i32({0})",
    u32="min({0}, 1u)",
    vec2f="ag_csign({0})",
)
_unary("square", "same", "uifc", vec2f="ag_csquare({0})", rest="({0} * {0})")
_unary("reciprocal", "float", "uifc", f32="ag_reciprocal({0})", vec2f="ag_creciprocal({0})")

# Parts of complex numbers; reals are their own real part and conjugate.
_unary("real", "component", "uifc", vec2f="{0}.x", rest="{0}")
_unary("imag", "component", "c", vec2f="{0}.y")
_unary("conj", "same", "uifc", vec2f="ag_conj({0})", rest="{0}")

# Comparisons.
_binary("equal", "bool", "buifc", vec2f="ag_ceq({0}, {1})", rest="({0} == {1})")
# WGSL's != is false of NaN on some adapters (SwiftShader among them).
_binary(
    "not_equal",
    "bool",
    "buifc",
    vec2f="ag_cne({0}, {1})",
    f32="({0} != {1} || ag_isnan({0}) || ag_isnan({1}))",
    rest="({0} != {1})",
)
_binary("less", "bool", "buif", rest="({0} < {1})", bool="(!{0} && {1})")
_binary("less_equal", "bool", "buif", rest="({0} <= {1})", bool="(!{0} || {1})")
_binary("greater", "bool", "buif", rest="({0} > {1})", bool="({0} && !{1})")
_binary("greater_equal", "bool", "buif", rest="({0} >= {1})", bool="({0} || !{1})")

# Bits and truth.
_binary("bitwise_and", "same", "bui", bool="({0} && {1})", rest="({0} & {1})")
_binary("bitwise_or", "same", "bui", bool="({0} || {1})", rest="({0} | {1})")
_binary("bitwise_xor", "same", "bui", bool="({0} != {1})", rest="({0} ^ {1})")
_binary("bitwise_left_shift", "same", "ui", i32="ag_shl_i32({0}, {1})", u32="ag_shl_u32({0}, {1})")
_binary("bitwise_right_shift", "same", "ui", i32="ag_shr_i32({0}, {1})", u32="ag_shr_u32({0}, {1})")
_unary("bitwise_invert", "same", "bui", bool="(!{0})", rest="(~{0})")
_binary("logical_and", "logical", "buif", bool="({0} && {1})")
_binary("logical_or", "logical", "buif", bool="({0} || {1})")
_binary("logical_xor", "logical", "buif", bool="({0} != {1})")
_unary("logical_not", "logical", "buif", bool="(!{0})")
_unary("isnan", "bool", "buifc", f32="ag_isnan({0})", vec2f="ag_cisnan({0})", rest="false")
_unary("isinf", "bool", "buifc", f32="ag_isinf({0})", vec2f="ag_cisinf({0})", rest="false")
_unary("isfinite", "bool", "buifc", f32="ag_isfinite({0})", vec2f="ag_cisfinite({0})", rest="true")
_unary("signbit", "bool", "f", f32="ag_signbit({0})")

# Rounding: integers stay as they are.
for _name in ("floor", "ceil", "trunc"):
    _unary(_name, "same", "uif", f32=f"ag_{_name}({{0}})", rest="{0}")
_unary(
    "round", "same", "uifc", f32="ag_round({0})", vec2f="vec2f(ag_round({0}.x), ag_round({0}.y))",
    rest="{0}",
)  # fmt: skip

# Elementary functions: floating-point, by the range reductions and polynomials of kernels/numerics.
for _name in (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
):  # fmt: skip
    _unary(_name, "float", "uifc", f32=f"ag_{_name}({{0}})", vec2f=f"ag_c{_name}({{0}})")
_unary("erf", "float", "uif", f32="ag_erf({0})")

_row("where", "elementwise", 3, "where", "buifc", {"*": "select({2}, {1}, {0})"})

# Reductions: see kernels/reduce.py for what each does.
_row("sum", "reduce", 1, kinds="buifc")
_row("mean", "reduce", 1, kinds="buifc")
_row("max", "reduce", 1, kinds="buif")
_row("min", "reduce", 1, kinds="buif")
_row("prod", "reduce", 1, kinds="buifc")
_row("any", "reduce", 1, kinds="buifc")
_row("all", "reduce", 1, kinds="buifc")
_row("argmax", "search", 1, kinds="buif")
_row("argmin", "search", 1, kinds="buif")

# Along an axis.
_row("softmax", "row", 1, kinds="f")
_row("log_softmax", "row", 1, kinds="f")
_row("standardize", "row", 1, kinds="f")  # to mean 0 and variance 1
_row("cumulative_sum", "scan", 1, kinds="uif")
_row("cumulative_prod", "scan", 1, kinds="uif")
_row("gather", "gather", 2)
_row("scatter", "scatter", 3)

# Neural networks.
_row("conv2d", "conv", 2, kinds="f")
_row("conv2d_data", "conv", 2, kinds="f")
_row("conv2d_filter", "conv", 2, kinds="f")
_row("attention", "attention", 4, kinds="f")
_unary("relu", "same", "uif", f32="ag_max_f32({0}, 0.0)", i32="max({0}, 0)", u32="{0}")
_unary("sigmoid", "float", "uif", f32="ag_sigmoid({0})")
_unary("silu", "float", "uif", f32="ag_silu({0})")
_unary("gelu", "float", "uif", f32="ag_gelu({0})")

# The rows behind Python's operators, by name.
ADD: Final = TABLE["add"]
SUBTRACT: Final = TABLE["subtract"]
MULTIPLY: Final = TABLE["multiply"]
DIVIDE: Final = TABLE["divide"]
FLOOR_DIVIDE: Final = TABLE["floor_divide"]
REMAINDER: Final = TABLE["remainder"]
POW: Final = TABLE["pow"]
BITWISE_AND: Final = TABLE["bitwise_and"]
BITWISE_OR: Final = TABLE["bitwise_or"]
BITWISE_XOR: Final = TABLE["bitwise_xor"]
BITWISE_LEFT_SHIFT: Final = TABLE["bitwise_left_shift"]
BITWISE_RIGHT_SHIFT: Final = TABLE["bitwise_right_shift"]
EQUAL: Final = TABLE["equal"]
NOT_EQUAL: Final = TABLE["not_equal"]
LESS: Final = TABLE["less"]
LESS_EQUAL: Final = TABLE["less_equal"]
GREATER: Final = TABLE["greater"]
GREATER_EQUAL: Final = TABLE["greater_equal"]

# Orders: see kernels/sort.py, along.py and bisect.py.
ARGSORT: Final = _row("argsort", "sort", 1)
TAKE_ALONG: Final = _row("take_along_axis", "along", 2)
SEARCHSORTED: Final = _row("searchsorted", "bisect", 2)
TRUE_PLACES: Final = _row("true_places", "bisect", 1)  # where a running count reaches 1, 2, 3, ...

# Fourier transforms; and factorisations, which read and write whole matrices.
FFT: Final = _row("fft", "fft", 1, kinds="fc")
for _name, _arity in (
    ("lu", 1), ("lu_solve", 3), ("cholesky", 1), ("qr", 1), ("eigh", 1), ("svd", 1),
):  # fmt: skip
    _row(_name, "linalg", _arity, kinds="fc")

# Random numbers: see kernels/numerics/random.py. The operands of the first two are an element's
# number, and the key and position of the stream, two words each.
_STREAM: Final = "{0}, {1}, {2}, {3}, {4}"
RANDOM_BITS: Final = _row(
    "random_bits", "elementwise", 5, kinds="u", wgsl={"*": f"ag_random_bits({_STREAM})"}, length=16
)
RANDOM_NORMAL: Final = _row(
    "random_normal", "elementwise", 5, kinds="u", wgsl={"*": f"ag_random_normal({_STREAM})"},
    length=16,
)  # fmt: skip
RANDOM_UNIT: Final = _row(
    "random_unit", "elementwise", 1, kinds="u", wgsl={"*": "ag_random_unit({0})"}
)
RANDOM_BETWEEN: Final = _row(
    "random_between", "elementwise", 4, wgsl={"*": "ag_random_between({0}, {1}, {2}, {3})"}
)
RANDOM_INTEGER: Final = _row(
    "random_integer", "elementwise", 3, kinds="ui",
    wgsl={
        "i32": "(bitcast<i32>(ag_random_below({0}, {1})) + {2})",
        "u32": "(ag_random_below({0}, {1}) + {2})",
    },
)  # fmt: skip
