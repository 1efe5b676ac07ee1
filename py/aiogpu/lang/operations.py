"""What kernels compute with: each operation's typing rule, its WGSL, and its NumPy.

Names that begin with ``ag_`` are functions of `aiogpu.kernels.numerics`: a kernel's results are
those of the arrays. With fast mathematics the adapter's own functions are taken (`FAST`).

The rules:

- ``same``: the operands meet, and so is the result
- ``float``: the same, but integers become f32
- ``bool``: the operands meet, the result is bool
- ``whole``: as float, and the result is i32 (Python's ``math.floor`` gives an int)
- ``test``: floats, the result is bool
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Row(NamedTuple):
    """An operation.

    Attributes:
        rule: How the result's type follows from the operands'.
        kinds: First letters of the kinds that it takes: bool, uint, int, float.
        wgsl: Text by compute type, ``*`` for all others.
        numpy: Text for the simulator, which has NumPy scalars for operands.
    """

    rule: str
    kinds: str
    wgsl: dict[str, str]
    numpy: str


def _row(rule: str, kinds: str, numpy: str, **wgsl: str) -> Row:
    return Row(rule, kinds, {"*" if k == "rest" else k: v for k, v in wgsl.items()}, numpy)


ROWS: Final[dict[str, Row]] = {
    "add": _row("same", "uif", "({0} + {1})", rest="({0} + {1})"),
    "sub": _row("same", "uif", "({0} - {1})", rest="({0} - {1})"),
    "mul": _row("same", "uif", "({0} * {1})", rest="({0} * {1})"),
    "div": _row("float", "uif", "({0} / {1})", f32="ag_div_f32({0}, {1})"),
    "floordiv": _row(
        "same", "uif", "({0} // {1})",
        f32="ag_floordiv_f32({0}, {1})", i32="ag_floordiv_i32({0}, {1})",
        u32="ag_floordiv_u32({0}, {1})",
    ),
    "mod": _row(
        "same", "uif", "({0} % {1})",
        f32="ag_mod_f32({0}, {1})", i32="ag_mod_i32({0}, {1})", u32="ag_mod_u32({0}, {1})",
    ),
    "pow": _row(
        "same", "uif", "_pow({0}, {1})",
        f32="ag_pow_f32({0}, {1})", i32="ag_pow_i32({0}, {1})", u32="ag_pow_u32({0}, {1})",
    ),
    "neg": _row("same", "uif", "(-{0})", u32="(0u - {0})", rest="(-{0})"),
    "abs": _row("same", "uif", "abs({0})", u32="{0}", i32="ag_abs_i32({0})", f32="abs({0})"),
    "min": _row("same", "uif", "_np.minimum({0}, {1})", f32="ag_min_f32({0}, {1})",
                rest="min({0}, {1})"),
    "max": _row("same", "uif", "_np.maximum({0}, {1})", f32="ag_max_f32({0}, {1})",
                rest="max({0}, {1})"),
    "and": _row("same", "bui", "({0} & {1})", bool="({0} && {1})", rest="({0} & {1})"),
    "or": _row("same", "bui", "({0} | {1})", bool="({0} || {1})", rest="({0} | {1})"),
    "xor": _row("same", "bui", "({0} ^ {1})", bool="({0} != {1})", rest="({0} ^ {1})"),
    "invert": _row("same", "bui", "(~{0})", bool="(!{0})", rest="(~{0})"),
    "shl": _row("same", "ui", "_np.left_shift({0}, {1})", i32="ag_shl_i32({0}, {1})",
                u32="ag_shl_u32({0}, {1})"),
    "shr": _row("same", "ui", "_np.right_shift({0}, {1})", i32="ag_shr_i32({0}, {1})",
                u32="ag_shr_u32({0}, {1})"),
    "lt": _row("bool", "uif", "({0} < {1})", rest="({0} < {1})"),
    "le": _row("bool", "uif", "({0} <= {1})", rest="({0} <= {1})"),
    "gt": _row("bool", "uif", "({0} > {1})", rest="({0} > {1})"),
    "ge": _row("bool", "uif", "({0} >= {1})", rest="({0} >= {1})"),
    "eq": _row("bool", "buif", "({0} == {1})", rest="({0} == {1})"),
    # WGSL's != is false of NaN on some adapters (SwiftShader among them).
    "ne": _row("bool", "buif", "({0} != {1})",
               f32="({0} != {1} || ag_isnan({0}) || ag_isnan({1}))", rest="({0} != {1})"),
    "not": _row("bool", "b", "(not {0})", bool="(!{0})"),
    "land": _row("bool", "b", "({0} and {1})", bool="({0} && {1})"),
    "lor": _row("bool", "b", "({0} or {1})", bool="({0} || {1})"),
    "isnan": _row("test", "f", "_np.isnan({0})", f32="ag_isnan({0})"),
    "isinf": _row("test", "f", "_np.isinf({0})", f32="ag_isinf({0})"),
    "isfinite": _row("test", "f", "_np.isfinite({0})", f32="ag_isfinite({0})"),
    "floor": _row("float", "uif", "_np.floor({0})", f32="ag_floor({0})"),
    "ceil": _row("float", "uif", "_np.ceil({0})", f32="ag_ceil({0})"),
    "trunc": _row("float", "uif", "_np.trunc({0})", f32="ag_trunc({0})"),
    "round": _row("float", "uif", "_np.rint({0})", f32="ag_round({0})"),
    "rsqrt": _row("float", "uif", "_rsqrt({0})", f32="ag_rsqrt({0})"),
    "erf": _row("float", "uif", "_erf({0})", f32="ag_erf({0})"),
    "erfc": _row("float", "uif", "_erfc({0})", f32="ag_erfc({0})"),
    "atan2": _row("float", "uif", "_np.arctan2({0}, {1})", f32="ag_atan2({0}, {1})"),
    "hypot": _row("float", "uif", "_np.hypot({0}, {1})", f32="ag_hypot({0}, {1})"),
    "copysign": _row("float", "uif", "_np.copysign({0}, {1})", f32="ag_copysign({0}, {1})"),
    "fmod": _row("float", "uif", "_np.fmod({0}, {1})", f32="ag_fmod({0}, {1})"),
    # A product and a sum; a device may round once or twice.
    "fma": _row("float", "uif", "({0} * {1} + {2})", f32="fma({0}, {1}, {2})"),
    # Bits of integers.
    "popcount": _row("same", "ui", "_popcount({0})", rest="countOneBits({0})"),
    "clz": _row("same", "ui", "_clz({0})", rest="countLeadingZeros({0})"),
    "ctz": _row("same", "ui", "_ctz({0})", rest="countTrailingZeros({0})"),
    "reverse": _row("same", "ui", "_reverse({0})", rest="reverseBits({0})"),
    # Vectors, always of floats.
    "dot": _row("vector", "f", "_dot({0}, {1})", rest="dot({0}, {1})"),
    "cross": _row("vector", "f", "_np.cross({0}, {1})", rest="cross({0}, {1})"),
}  # fmt: skip

for _name, _numpy in (
    ("exp", "exp"), ("exp2", "exp2"), ("expm1", "expm1"), ("log", "log"), ("log2", "log2"),
    ("log10", "log10"), ("log1p", "log1p"), ("sqrt", "sqrt"), ("sin", "sin"), ("cos", "cos"),
    ("tan", "tan"), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("sinh", "sinh"),
    ("cosh", "cosh"), ("tanh", "tanh"), ("asinh", "arcsinh"), ("acosh", "arccosh"),
    ("atanh", "arctanh"),
):  # fmt: skip
    ROWS[_name] = _row("float", "uif", f"_np.{_numpy}({{0}})", f32=f"ag_{_name}({{0}})")

# The adapter's own functions, for kernels that ask for them: less exact, and less sure of NaN.
FAST: Final[dict[str, str]] = {
    "div": "({0} / {1})", "min": "min({0}, {1})", "max": "max({0}, {1})", "floor": "floor({0})",
    "ceil": "ceil({0})", "trunc": "trunc({0})", "round": "round({0})", "rsqrt": "inverseSqrt({0})",
    "pow": "pow({0}, {1})", "floordiv": "floor({0} / {1})", "mod": "({0} - {1} * floor({0} / {1}))",
    "atan2": "atan2({0}, {1})", "hypot": "length(vec2f({0}, {1}))",
    **{
        name: f"{name}({{0}})"
        for name in (
            "exp", "exp2", "log", "log2", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
            "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        )
    },
}  # fmt: skip

# Sums, differences and products, across which some adapters reassociate.
LINEAR: Final = frozenset({"add", "sub", "mul", "neg"})
