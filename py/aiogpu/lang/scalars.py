"""What the simulator's text calls: the arithmetic of kernels on NumPy's scalars.

NumPy is imported when a kernel is simulated, not before: the package does not need it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiogpu.lang.types import BOOL, F16, F32, I32, U32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiogpu.dtypes import DType

_INT_MAX = 0x7FFFFFFF


def namespace() -> dict[str, Any]:  # noqa: C901 - a set of small functions
    """The names that simulated kernels use."""
    import numpy as np  # only the simulator needs it

    kinds = {F32: np.float32, F16: np.float16, I32: np.int32, U32: np.uint32, BOOL: np.bool_}

    def wrap(value: int, kind: Any) -> Any:  # noqa: ANN401 - a NumPy type
        value &= 0xFFFFFFFF
        return kind(value - (1 << 32) if kind is np.int32 and value > _INT_MAX else value)

    def cast(value: Any, kind: Any) -> Any:  # noqa: ANN401 - NumPy scalars
        """Floats truncate and saturate, NaN gives 0; integers wrap."""
        if kind not in (np.int32, np.uint32):
            return kind(value)
        if isinstance(value, np.floating):
            if math.isnan(value):
                return kind(0)
            low, high = (-_INT_MAX - 1, _INT_MAX) if kind is np.int32 else (0, 0xFFFFFFFF)
            if math.isinf(value):
                return kind(low if value < 0 else high)
            return kind(max(low, min(high, int(value))))
        return wrap(int(value), kind)

    def power(base: Any, exponent: Any) -> Any:  # noqa: ANN401 - NumPy scalars
        if isinstance(base, np.floating):
            return base**exponent
        kind = type(base)
        if exponent < 0:  # the truncated inverse
            odd = -1 if exponent % 2 else 1
            return kind(1 if base == 1 else odd if base == -1 else 0)
        return wrap(pow(int(base), int(exponent), 1 << 32), kind)

    def left(value: Any, by: Any) -> Any:  # noqa: ANN401 - NumPy scalars
        return wrap(int(value) << int(by), type(value)) if 0 <= by < 32 else type(value)(0)

    def right(value: Any, by: Any) -> Any:  # noqa: ANN401 - NumPy scalars
        if 0 <= by < 32:
            return type(value)(int(value) >> int(by))
        return type(value)(-1 if value < 0 else 0)

    def bits(value: Any) -> int:  # noqa: ANN401 - a NumPy scalar
        return int(value) & 0xFFFFFFFF

    def bitcast(value: Any, kind: Any) -> Any:  # noqa: ANN401 - NumPy scalars
        return np.array(value).view(kind)[()]

    def turns(start: Any, stop: Any, step: Any) -> Iterator[Any]:  # noqa: ANN401 - NumPy scalars
        if step == 0:
            return iter(())
        return map(np.int32, range(int(start), int(stop), int(step)))

    return {
        "_np": np,
        "_kinds": kinds,
        "_cast": cast,
        "_bitcast": bitcast,
        "_pow": power,
        "_left": left,
        "_right": right,
        "_turns": turns,
        "_rsqrt": lambda x: type(x)(1) / np.sqrt(x),
        "_erf": lambda x: type(x)(math.erf(x)),
        "_erfc": lambda x: type(x)(math.erfc(x)),
        "_dot": lambda a, b: (a * b).sum(dtype=a.dtype),
        "_popcount": lambda x: type(x)(bits(x).bit_count()),
        "_clz": lambda x: type(x)(32 - bits(x).bit_length()),
        "_ctz": lambda x: type(x)((bits(x) & -bits(x)).bit_length() - 1 if bits(x) else 32),
        "_reverse": lambda x: wrap(int(f"{bits(x):032b}"[::-1], 2), type(x)),
        "_pow2": lambda x: x * x,
        "_pow3": lambda x: x * x * x,
        "_pow4": lambda x: (x * x) * (x * x),
    }


def kind_of(dtype: DType) -> str:
    """The NumPy type of a scalar, as simulated kernels name it."""
    return {F32: "_np.float32", F16: "_np.float16", I32: "_np.int32", U32: "_np.uint32"}.get(
        dtype, "_np.bool_"
    )
