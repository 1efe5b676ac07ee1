"""Testing kernels without a GPU: on CPython with NumPy, under pytest or whatever runs tests.

::

    from aiogpu import testing

    def test_saxpy():
        x, y = np.random.rand(2, 100).astype("f4")
        testing.assert_ulp(testing.simulate(saxpy, 2.0, x, y), 2 * x + y, 1)

`simulate` runs a kernel once, `orders` in several orders of its invocations, `assert_ulp` compares.
docs/kernels.md says what the simulator shows and what only a GPU does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aiogpu.array import Array
from aiogpu.errors import UsageError
from aiogpu.limits import Limits
from aiogpu.ops.authored import Elementwise, Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from aiogpu.ops.folding import ReduceKernel

    Authored = Kernel | Elementwise[Any] | ReduceKernel

__all__ = ["assert_ulp", "orders", "simulate"]

_GRID: Final = ("out_shape", "threads", "workgroups")
_GUARANTEED: Final = Limits()
_SEEDS: Final = (-1, 1, 2)  # backwards, and two orders by chance


def simulate(kernel: Authored, /, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - NumPy arrays and numbers
    """What ``kernel.simulate`` gives, if every device that has WebGPU would run it.

    Args:
        kernel: What `aiogpu.kernel`, `aiogpu.elementwise` or `aiogpu.reduce_kernel` made.
        args: NumPy arrays and numbers; they keep their values.
        more: Arguments by name, and ``out_shape``, ``threads`` and ``workgroups`` of kernels.

    Returns:
        A NumPy array, or a tuple of them.

    Raises:
        LimitError: The kernel takes more arrays, invocations or shared memory than WebGPU
            guarantees: 8, 256 and 16 KiB.
        AxisError: An index is out of range, under ``bounds="debug"``.
        UsageError: The arguments do not fit, or some invocations ended where others wait.
        KernelError: The function does what kernels cannot; the message shows the line.
    """
    _check(args, more)
    if not isinstance(kernel, Kernel):
        return kernel.simulate(*args, **more)
    grid, named = _split(more)
    return kernel._simulated(args, named, grid, limits=_GUARANTEED)


def orders(kernel: Kernel, /, *args: Any, **more: Any) -> Iterator[Any]:  # noqa: ANN401 - NumPy arrays and numbers
    """The same in several orders: a kernel whose results depend on the order has a race.

    Between barriers nobody says which invocation, and in the whole grid which workgroup, is first.
    The results are those of the orders by number, of the reverse, and of two drawn by chance, the
    same at every run. All must be right; sums of floats by atomics differ in their last places. ::

        for made in testing.orders(histogram, data, zeros, workgroups=4):
            testing.assert_ulp(made, wanted)

    Raises:
        As `simulate`.
    """
    _check(args, more)
    grid, named = _split(more)
    for seed in (None, *_SEEDS):
        yield kernel._simulated(args, named, grid, seed=seed, limits=_GUARANTEED)


def _check(args: tuple[Any, ...], more: dict[str, Any]) -> None:
    for value in (*args, *more.values()):
        if isinstance(value, Array):
            raise UsageError(
                "simulate: Array: lies on a GPU: the simulator takes NumPy arrays and numbers"
            )


def _split(more: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What says the grid, and the arguments by name."""
    return (
        {name: more.get(name) for name in _GRID},
        {name: value for name, value in more.items() if name not in _GRID},
    )


def assert_ulp(actual: Any, expected: Any, ulp: float = 0, *, atol: float = 0.0) -> None:  # noqa: ANN401 - arrays
    """Check that two arrays are equal up to some units in the last place.

    The unit is that of the expected number in the dtype of ``actual``, to which it is not rounded:
    a reference in float64 counts as it is. A NaN is expected where there is one, infinities are
    equal to themselves, and -0.0 to 0.0. Integers and bools count in ones. docs/accuracy.md says
    how many units aiogpu's own functions are off.

    Args:
        actual: A NumPy array, or a tuple of them.
        expected: Of the same shape; a tuple of as many.
        ulp: How many units are allowed.
        atol: What difference is allowed however many units it is.

    Raises:
        AssertionError: They differ by more; the message shows the worst place.
    """
    if isinstance(actual, tuple):
        assert isinstance(expected, (tuple, list)), "assert_ulp: a tuple: takes a tuple to compare"
        assert len(actual) == len(expected), (
            f"assert_ulp: {len(actual)} arrays, not {len(expected)}"
        )
        for one, other in zip(actual, expected, strict=True):
            assert_ulp(one, other, ulp, atol=atol)
        return
    import numpy as np  # only tests need it

    one, other = np.asarray(actual), np.asarray(expected)
    assert one.shape == other.shape, f"assert_ulp: the shape is {one.shape}, not {other.shape}"
    off = _distances(one, other, atol)
    is_wrong = ~(off <= ulp)
    if not is_wrong.any():
        return
    place = np.unravel_index(int(np.argmax(np.where(is_wrong, off, -1))), off.shape)
    at = list(map(int, place))
    found = off[place]
    raise AssertionError(
        f"assert_ulp: {int(is_wrong.sum())} of {off.size} elements are more than {ulp:g} units "
        f"off, the worst {'beyond any' if np.isinf(found) else f'by {found:.4g}'}: "
        f"{at} is {one[place]!r}, not {other[place]!r}"
    )


def _distances(
    one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], atol: float
) -> np.ndarray[Any, Any]:
    """How many units two arrays are apart, element by element; infinity where no number says it."""
    import numpy as np

    if one.dtype.kind != "f":
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        return np.where(apart <= atol, 0.0, apart)
    info = np.finfo(one.dtype)
    with np.errstate(all="ignore"):
        a, b = one.astype(np.float64), other.astype(np.float64)
        _, exponents = np.frexp(np.where(np.isfinite(b) & (b != 0), b, float(info.tiny)))
        least = int(np.log2(float(info.tiny))) - info.nmant
        units = np.exp2(np.maximum(exponents - 1 - info.nmant, least).astype(np.float64))
        apart = np.abs(a - b)
        off = np.where(apart <= atol, 0.0, apart / units)
    off = np.where(np.isfinite(a) & np.isfinite(b), off, np.inf)
    return np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, off)
