"""What the functions of the numerics library are tried with: a kernel and arguments for each.

Runs wherever NumPy runs: on CPython for tests and `make accuracy`, in Pyodide for
`bench/accuracy.html`. The arguments are the same everywhere.
"""

import math
import re

import numpy as np
from numpy.typing import NDArray

from aiogpu.kernels.numerics import ACCURACY, FUNCTIONS, sources

Floats = NDArray[np.float32]

POINTS = 1 << 17  # for the tests
MEASURED = 1 << 20  # for the figures of the documentation
BINARY = frozenset({"ag_div_f32", "ag_hypot", "ag_logaddexp", "ag_pow_f32", "ag_atan2"})
SPECIALS: Floats = np.array(
    [
        *[0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, 2.5, -8, 1 / 3, np.inf, -np.inf, np.nan],
        *[2.0**-149, -(2.0**-149), 2.0**-126, -(2.0**-126), 3.4028234663852886e38],
        *[-3.4028234663852886e38, 2.0**24, -(2.0**24), 2.0**24 - 1, 2.0**23 + 1],
        *[1 - 2.0**-24, 2.0**-24 - 1, 1 + 2.0**-23, 88.72283, 88.72284, -87.33654, -87.33655],
        *[-104, 89.415985, 89.41599, 9.02, 9.2, 9.4, 44, 127.99999, 128, -126, -126.00001, -150],
        *[13.3, -13.3, -13.4, 0.625, 1e6, 3e3, 1e10, -1e30],
    ],
    np.float32,
)
# The worst that were found by trying every float of the worst binades: of gelu, erfc, atan, log2,
# tan, asin, acosh, sinh, cosh, rsqrt, silu, softplus, log10, log1p and expm1.
HARD: Floats = np.array(
    [
        *[1.83628547, 1.86079729, 1.85287488, 1.31859195, 1.32366097, 1.31774306, 1.09308994],
        *[1.12042272, 1.39790452, 1.40438688, 2.38174796, 5.67065552e15, 0.500245988, 1.00772917],
        *[1.42102897, 1.41824055, 4.53182173, 7.30794191, 0.251546472, 5.17610312, 0.57199055],
        *[0.734882653, 1.32637596, 0.442780286, 0.384717345],
    ],
    np.float32,
)

_SIGNATURE = re.compile(r"fn \w+\((?P<parameters>[^)]*)\) -> (?P<result>\w+) \{")
_DTYPES = {
    "f32": np.float32,
    "i32": np.int32,
    "u32": np.uint32,
    "bool": np.uint32,
    "vec2f": np.complex64,
}
# 2/pi to 224 bits.
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB


def kernel(name: str) -> tuple[str, type[np.generic]]:
    """A kernel that applies a function to arrays, an invocation an element, 64 a workgroup.

    Returns:
        The WGSL text, whose bindings are the arguments in order and then the result's bits, and the
        dtype of the result; a bool comes as 0 or 1.
    """
    signature = _SIGNATURE.match(FUNCTIONS[name].source)
    assert signature, name
    types = re.findall(r": (\w+)", signature["parameters"])
    bindings = "".join(
        f"@group(0) @binding({place}) var<storage, read> x{place}: array<{wgsl}>;\n"
        for place, wgsl in enumerate(types)
    )
    call = f"{name}({', '.join(f'x{place}[i]' for place in range(len(types)))})"
    bits = "vec2u" if signature["result"] == "vec2f" else "u32"
    is_bool = signature["result"] == "bool"
    element = f"select(0u, 1u, {call})" if is_bool else f"bitcast<{bits}>({call})"
    main = f"""
@group(0) @binding({len(types)}) var<storage, read_write> out: array<{bits}>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = id.x;
  if (i < arrayLength(&out)) {{
    out[i] = {element};
  }}
}}
"""
    return sources([name]) + bindings + main, _DTYPES[signature["result"]]


def floats_between(least: float, greatest: float, count: int) -> Floats:
    """Floats of the range, as many from each binade as from the next, in order."""
    low, high = _order(np.array([least, greatest], np.float32))
    return _floats(np.linspace(low, high, count).astype(np.int64))


def arguments(name: str, points: int = POINTS) -> tuple[Floats, ...]:
    """The arguments at which a function is tried.

    Args:
        name: A function of the table of accuracy.
        points: How many are spread over its domain, half of them by binades; up to 60000 more lie
            next to the ends, to powers of two and to where ranges are reduced, or are special.

    Returns:
        An array for each argument.
    """
    least, greatest, _ = ACCURACY[name]
    rng = np.random.default_rng(len(name))
    near = rng.uniform(max(least, -20), min(greatest, 20), points // 4)
    even = rng.uniform(least, greatest, points // 4)
    spread = np.concatenate([near, even]).astype(np.float32)
    binades = floats_between(least, greatest, points // 2)
    x = np.concatenate([binades, spread, _knees(least, greatest)])
    if name not in BINARY:
        return (np.concatenate([x, SPECIALS]),)
    with np.errstate(all="ignore"):
        first, second = _exponents(rng, x) if name == "ag_pow_f32" else _pairs(rng, x)
    left, right = (grid.ravel() for grid in np.meshgrid(SPECIALS, SPECIALS))
    return np.concatenate([first, left]), np.concatenate([second, right])


def inside(name: str, given: tuple[Floats, ...]) -> NDArray[np.bool_]:
    """Where the arguments are in the domain of the table."""
    low, high = (np.float32(end) for end in ACCURACY[name][:2])
    bounded = given[:1] if name == "ag_pow_f32" else given
    where: NDArray[np.bool_] = np.logical_and.reduce([(low <= x) & (x <= high) for x in bounded])
    return where


def _pairs(rng: np.random.Generator, x: Floats) -> tuple[Floats, Floats]:
    """Unrelated pairs, pairs of one magnitude, and pairs of neighbours."""
    size = len(x) // 4
    ratio = np.exp2(rng.uniform(-12, 12, size)).astype(np.float32)
    close = _floats(_order(x[1::4][:size]) + rng.integers(-8, 9, size))
    alike = np.clip(x[::4][:size] * ratio, -3e38, 3e38)
    first = np.concatenate([x, x[::4][:size], x[1::4][:size]])
    return first, np.concatenate([rng.permutation(x), alike, close])


def _exponents(rng: np.random.Generator, x: Floats) -> tuple[Floats, Floats]:
    """Bases with exponents that give results over the whole range, and with small whole ones."""
    y = rng.uniform(-125, 127.9, len(x)) / np.log2(x.astype(np.float64))
    y = np.clip(np.nan_to_num(y, nan=1.0), -3e38, 3e38).astype(np.float32)
    bases = x[:: len(x) // 4096]
    halves = rng.integers(-16, 17, len(bases)).astype(np.float32) / 2
    return np.concatenate([x, bases]), np.concatenate([y, halves])


def _knees(least: float, greatest: float) -> Floats:
    """Floats of the range, and their neighbours, where some function changes its way.

    The ends; powers of two; what is known to be hard; multiples of ln 2 / 2 and of pi / 4; and from
    each binade what lies next to a multiple of pi / 2, where the reduction cancels most.
    """
    twos = np.exp2(np.arange(-149.0, 128))
    halves = np.arange(260) * (math.log(2) / 2)
    eighths = np.arange(1100) * (math.pi / 4)
    sizes = np.concatenate([twos, HARD, halves, eighths, _quadrants()]).astype(np.float32)
    centres = np.concatenate([sizes, -sizes, np.array([least, greatest], np.float32)])
    order = (_order(centres)[:, None] + np.arange(-4, 5)).ravel()
    low, high = _order(np.array([least, greatest], np.float32))
    return _floats(np.unique(order[(low <= order) & (order <= high)]))


def _quadrants() -> NDArray[np.float64]:
    """Floats next to multiples of pi/2: denominators of the convergents of 2^e * 2/pi.

    W. Kahan, "Minimizing q*m - n" (1983).
    """
    found = []
    for exponent in range(-23, 105):
        upper = _TWO_OVER_PI << max(exponent, 0)
        lower = 1 << (224 + max(-exponent, 0))
        last, this = 1, 0
        while this < 1 << 24 and lower:
            whole, rest = divmod(upper, lower)
            upper, lower = lower, rest
            if this:
                found.append(math.ldexp(this << (24 - this.bit_length()), exponent))
            last, this = this, whole * this + last
    return np.unique(np.array(found))


def _order(values: Floats) -> NDArray[np.int64]:
    """Integers that are ordered as the floats, one for each; 0 for both zeros."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(2**31) - bits, bits)


def _floats(order: NDArray[np.int64]) -> Floats:
    bits = np.where(order < 0, -(2**31) - order, order)
    return bits.astype(np.int32).view(np.float32)
