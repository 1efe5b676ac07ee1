"""How exact each function is: for the tests of accuracy and the table in the documentation."""

from collections.abc import Mapping
from types import MappingProxyType

_TINY = 1.1754943508222875e-38
_HUGE = 3.4028234663852886e38

# name: (least argument, greatest argument, most units in the last place from the right value).
# Functions of two have both arguments in that range, powers the base. Outside of it lie only what
# overflows, what is not defined and, for logaddexp, results near 0, which are as exact as a unit of
# the larger argument. Results and arguments below 2^-126 in magnitude may be flushed to 0. The
# bounds hold also where the adapter's own quotients are off by two units, its reciprocals by one.
ACCURACY: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "ag_div_f32": (-_HUGE, _HUGE, 1.0),
        "ag_reciprocal": (-_HUGE, _HUGE, 1.0),
        "ag_sqrt": (0.0, _HUGE, 1.0),
        "ag_rsqrt": (_TINY, _HUGE, 2.0),
        "ag_hypot": (-_HUGE, _HUGE, 2.0),
        "ag_exp": (-87.3, 88.7, 2.0),
        "ag_exp2": (-126.0, 127.99, 2.0),
        "ag_expm1": (-_HUGE, 88.7, 2.0),
        "ag_log": (_TINY, _HUGE, 2.0),
        "ag_log2": (_TINY, _HUGE, 2.0),
        "ag_log10": (_TINY, _HUGE, 3.0),
        "ag_log1p": (-0.99999994, _HUGE, 2.0),
        "ag_logaddexp": (0.0, _HUGE, 3.0),
        "ag_pow_f32": (_TINY, _HUGE, 2.0),
        "ag_sin": (-_HUGE, _HUGE, 3.0),
        "ag_cos": (-_HUGE, _HUGE, 3.0),
        "ag_tan": (-_HUGE, _HUGE, 4.0),
        "ag_asin": (-1.0, 1.0, 3.0),
        "ag_acos": (-1.0, 1.0, 2.0),
        "ag_atan": (-_HUGE, _HUGE, 2.0),
        "ag_atan2": (-_HUGE, _HUGE, 3.0),
        "ag_sinh": (-89.4, 89.4, 2.0),
        "ag_cosh": (-89.4, 89.4, 2.0),
        "ag_tanh": (-_HUGE, _HUGE, 3.0),
        "ag_asinh": (-_HUGE, _HUGE, 3.0),
        "ag_acosh": (1.0, _HUGE, 3.0),
        "ag_atanh": (-0.99999994, 0.99999994, 2.0),
        "ag_erf": (-_HUGE, _HUGE, 2.0),
        "ag_erfc": (-_HUGE, 9.19, 4.0),
        "ag_sigmoid": (-87.3, _HUGE, 4.0),
        "ag_silu": (-91.8, _HUGE, 4.0),
        "ag_softplus": (-87.3, _HUGE, 3.0),
        "ag_gelu": (-13.1, _HUGE, 4.0),
    }
)

# The most units in the last place by which `random.normal` is off what its words stand for.
NORMAL_ULP = 4.0

# name: (greatest magnitude of a part of an argument, most units from the right value). A unit is
# 2^-24 of the right value's modulus: the parts of a result are not each as exact where one is far
# smaller than the other. For a power the magnitude is that of w * log(z).
COMPLEX_ACCURACY: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "ag_cmul": (2.0**63, 3.0),
        "ag_cdiv": (_HUGE, 5.0),
        "ag_csquare": (2.0**63, 3.0),
        "ag_creciprocal": (_HUGE, 4.0),
        "ag_cabs": (_HUGE, 3.0),
        "ag_csign": (_HUGE, 4.0),
        "ag_csqrt": (_HUGE, 4.0),
        "ag_cexp": (_HUGE, 4.0),
        "ag_cexpm1": (_HUGE, 7.0),
        "ag_clog": (_HUGE, 4.0),
        "ag_clog2": (_HUGE, 4.0),
        "ag_clog10": (_HUGE, 5.0),
        "ag_clog1p": (_HUGE, 4.0),
        "ag_cpow": (100.0, 4.0),
        "ag_csin": (_HUGE, 5.0),
        "ag_ccos": (_HUGE, 5.0),
        "ag_ctan": (_HUGE, 7.0),
        "ag_casin": (_HUGE, 6.0),
        "ag_cacos": (_HUGE, 6.0),
        "ag_catan": (_HUGE, 5.0),
        "ag_csinh": (_HUGE, 5.0),
        "ag_ccosh": (_HUGE, 5.0),
        "ag_ctanh": (_HUGE, 7.0),
        "ag_casinh": (_HUGE, 6.0),
        "ag_cacosh": (_HUGE, 6.0),
        "ag_catanh": (_HUGE, 5.0),
    }
)
