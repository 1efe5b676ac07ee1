"""How far complex results are from the right ones; NumPy in complex128 is right.

An error is a distance in the plane, relative to the right result's modulus, in units of 2^-24. Two
of 2^-126 are allowed besides: an adapter may read parts below that as 0 and flush such results.

Where NumPy deviates from the Array API standard (``expm1`` and ``log1p`` of infinities, ``sign`` of
an infinity beside a NaN) the reference is what the standard, or C99, has. Runs wherever NumPy runs,
as `ulp`.
"""

import numpy as np

UNIT = 2.0**-24
TINY = 2.0**-126
HUGE = 3.4028234663852886e38


def joined(x: np.ndarray, y: np.ndarray, dtype: type = np.complex64) -> np.ndarray:
    """The complex numbers of these parts: x + 1j * y loses zeros' signs, and infinities."""
    z = np.empty(len(x), dtype)
    z.real, z.imag = x, y
    return z


def _expm1(z: np.ndarray) -> np.ndarray:
    """Past 30 NumPy's is NaN where exp overflows beside a zero; of zeros the standard wants +0."""
    far = ~np.isfinite(z) | (z.real > 30)
    value = np.where(far, np.exp(z) - 1, np.expm1(z))
    value.real[z == 0] = 0.0
    return value


def _log1p(z: np.ndarray) -> np.ndarray:
    """NumPy's is the logarithm of 1 + z, which next to 0 has no digit left."""
    x, y = z.real, z.imag
    near = joined(np.log1p(x * (2 + x) + y * y) / 2, np.arctan2(y, 1 + x), complex)
    return np.where((np.abs(z) < 1e6) & (x > -0.5), near, np.log(joined(1 + x, y, complex)))


def _sign(z: np.ndarray) -> np.ndarray:
    """NumPy's gives a number for an infinity beside a NaN, and +0 for all that is beside one."""
    sign = np.where(np.isnan(z), complex(np.nan, np.nan), np.sign(z))
    kept = joined(np.copysign(sign.real, z.real), np.copysign(sign.imag, z.imag), complex)
    return np.where(np.isinf(z), kept, sign)


REFERENCE = {
    "ag_cmul": np.multiply,
    "ag_cdiv": np.divide,
    "ag_csquare": np.square,
    "ag_creciprocal": np.reciprocal,
    "ag_cabs": np.abs,
    "ag_csign": _sign,
    "ag_csqrt": np.sqrt,
    "ag_cexp": np.exp,
    "ag_cexpm1": _expm1,
    "ag_clog": np.log,
    "ag_clog2": np.log2,
    "ag_clog10": np.log10,
    "ag_clog1p": _log1p,
    "ag_cpow": np.power,
    "ag_csin": np.sin,
    "ag_ccos": np.cos,
    "ag_ctan": np.tan,
    "ag_casin": np.arcsin,
    "ag_cacos": np.arccos,
    "ag_catan": np.arctan,
    "ag_csinh": np.sinh,
    "ag_ccosh": np.cosh,
    "ag_ctanh": np.tanh,
    "ag_casinh": np.arcsinh,
    "ag_cacosh": np.arccosh,
    "ag_catanh": np.arctanh,
}


def right(name: str, arguments: tuple[np.ndarray, ...]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return REFERENCE[name](*(each.astype(complex) for each in arguments)).astype(complex)


def overflows(want: np.ndarray) -> np.ndarray:
    return ~(np.maximum(np.abs(want.real), np.abs(want.imag)) < HUGE * (1 - 16 * UNIT))


def units(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Units of the right result's modulus between them; inf for NaN."""
    with np.errstate(all="ignore"):
        distance = np.maximum(np.abs(got.astype(complex) - want) - 2 * TINY, 0)
        error = np.where(distance == 0, 0, distance / np.abs(want) / UNIT)
    return np.where(np.isnan(error), np.inf, error)


def same_parts(got: np.ndarray, want: np.ndarray, other: np.ndarray, size: np.ndarray):
    """Equal but for rounding; beside a NaN the sign of an infinity or a zero is unspecified."""
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        equal = (got == rounded) & ((np.signbit(got) == np.signbit(want)) | np.isnan(other))
        unspecified = np.isnan(other) & np.isinf(got) & np.isinf(rounded)
        distance = np.abs(got - want) <= np.maximum(8 * UNIT * size, 2 * TINY)
    return equal | unspecified | (np.isnan(got) & np.isnan(want)) | (distance & (want != 0))


def differing(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    size = np.where(np.isfinite(want), np.abs(want), 4)
    re = same_parts(got.real, want.real, want.imag, size)
    im = same_parts(got.imag, want.imag, want.real, size)
    return np.flatnonzero(~(re & im))
