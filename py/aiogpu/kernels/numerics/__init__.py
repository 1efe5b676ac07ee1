"""The WGSL functions that kernels call: what WGSL's own do not promise, the same on every adapter.

WGSL lets an implementation assume that no NaN and no infinity exists, and its elementary functions
are off by tens to thousands of units in the last place on real drivers. Everything here is told
apart by bits, and computed by range reductions and polynomials of our own; ``ACCURACY`` says how
exactly. The functions are pure text: nothing here touches a GPU.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aiogpu.kernels.numerics import (
    activation,
    arithmetic,
    casts,
    complex_arithmetic,
    complex_exponential,
    complex_trigonometric,
    exponential,
    floating,
    hyperbolic,
    integer,
    power,
    random,
    remainder,
    trigonometric,
)
from aiogpu.kernels.numerics.accuracy import ACCURACY, COMPLEX_ACCURACY, NORMAL_ULP
from aiogpu.kernels.numerics.function import Function

__all__ = ["ACCURACY", "COMPLEX_ACCURACY", "FUNCTIONS", "NORMAL_ULP", "Function", "sources"]

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **floating.FUNCTIONS,
        **arithmetic.FUNCTIONS,
        **remainder.FUNCTIONS,
        **integer.FUNCTIONS,
        **casts.FUNCTIONS,
        **exponential.FUNCTIONS,
        **power.FUNCTIONS,
        **trigonometric.FUNCTIONS,
        **hyperbolic.FUNCTIONS,
        **activation.FUNCTIONS,
        **random.FUNCTIONS,
        **complex_arithmetic.FUNCTIONS,
        **complex_exponential.FUNCTIONS,
        **complex_trigonometric.FUNCTIONS,
    }
)


def sources(names: Iterable[str]) -> str:
    """The WGSL text of the named functions and of all that they need.

    Args:
        names: Names of functions, in any order, repeated or not.

    Returns:
        Each function once, after those that it needs; the text depends only on the set of names.

    Raises:
        KeyError: A name is not in ``FUNCTIONS``.
    """
    ordered: dict[str, str] = {}
    pending = sorted(set(names), reverse=True)
    while pending:
        name = pending[-1]
        function = FUNCTIONS[name]
        missing = [need for need in reversed(function.needs) if need not in ordered]
        if missing:
            pending.extend(missing)
        else:
            pending.pop()
            ordered.setdefault(name, function.source)
    return "\n".join(ordered.values())
