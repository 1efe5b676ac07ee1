"""Random numbers, made on the GPU where they are used.

::

    rng = gpu.random.default_rng(2024)
    noise = rng.normal(size=(512, 512))    # enqueued; fused into what reads it

The generator is counter-based (Philox4x32-10): it holds a key and a position, which a draw moves on
by as many words as it has elements, on the host. Nothing is read back, and the same seed and the
same calls give the same numbers: integers, random, uniform, permutation and choice to the bit on
every adapter, normal within 4 units in the last place.
"""

from __future__ import annotations

import secrets
from array import array as words_of
from bisect import bisect_left
from itertools import accumulate
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Final, NoReturn

from aiogpu import dtypes, shapes, spellings
from aiogpu.array import Array, as_node
from aiogpu.errors import DTypeError, UsageError
from aiogpu.graph import blocks, build, draws, orders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.shapes import Shape

    Size = int | Sequence[int] | None
    Seed = int | Sequence[int | Sequence[int]] | None

__all__ = ["Generator", "default_rng"]

_MASK: Final = (1 << 64) - 1
_SUM_TOLERANCE: Final = 3.5e-4  # of probabilities: what NumPy allows those of float32

_SPELLINGS: Final = {
    "standard_normal": "normal(size=size)", "randn": "normal(size=size)", "rand": "random(size)",
    "random_sample": "random(size)", "randint": "integers", "random_integers": "integers",
    "shuffle": "permutation, which gives a new array", "permuted": "permutation",
    "exponential": "-gpu.log1p(-rng.random(size))",
    "lognormal": "gpu.exp(rng.normal(mean, sigma, size))",
    "bytes": "integers(256, size=n, dtype='uint8')",
}  # fmt: skip


def default_rng(seed: Seed | Generator = None) -> Generator:
    """A generator of random numbers.

    Args:
        seed: An integer of any size, or a sequence of such; the same one gives the same stream.
            None for one that nobody can foretell. A generator is given back.

    Raises:
        DTypeError: Something else.
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(secrets.randbits(64) if seed is None else _hashed(seed))


def _mixed(word: int) -> int:
    """One output of SplitMix64: G. Steele, D. Lea and C. Flood, "Fast splittable ..." (2014)."""
    word = (word + 0x9E3779B97F4A7C15) & _MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def _hashed(seed: object) -> int:
    state = 0
    for word in _absorbed(seed):
        state = _mixed(state ^ word)
    return state


def _absorbed(seed: Any) -> Iterator[int]:  # noqa: ANN401 - whatever the user gave
    """A seed as words, each part after one that says what and how long it is."""
    given = seed.tolist() if hasattr(seed, "tolist") else seed  # NumPy's
    if isinstance(given, int):
        size = max(1, -(-abs(given).bit_length() // 64))
        yield 4 * size + 2 * (given < 0)
        yield from (abs(given) >> 64 * at & _MASK for at in range(size))
    elif isinstance(given, (list, tuple, range)):
        yield 4 * len(given) + 1
        for each in given:
            yield from _absorbed(each)
    else:
        raise DTypeError(
            f"default_rng: seed {seed!r}: must be None, an integer or a sequence of integers"
        )


class Generator:
    """Draws random numbers from one stream; see `default_rng`."""

    __slots__ = ("_key", "_position")

    def __init__(self, key: int) -> None:
        """The stream of a key of 64 bits, as it is; `default_rng` makes one of a seed."""
        self._key = shapes.integer(key, "Generator") & _MASK
        self._position = 0

    def __repr__(self) -> str:
        return f"<aiogpu.random.Generator key={self._key:#018x} position={self._position}>"

    def __getattr__(self, name: str) -> NoReturn:
        raise spellings.missing("aiogpu.random.Generator", name, _SPELLINGS)

    def _next(self, shape: Shape) -> draws.Place:
        """The place of a draw, after which the next begins."""
        place = draws.Place(self._key, self._position)
        self._position = (self._position + draws.nblocks(shape)) & _MASK
        return place

    def random(self, size: Size = None, dtype: object = dtypes.FLOAT) -> Array:
        """Numbers in [0, 1), each multiple of 2^-24 (float16: of 2^-11) equally likely.

        Args:
            size: The shape; 0-d by default.
            dtype: float32 or float16.

        Raises:
            DTypeError: Another dtype.
        """
        wanted = dtypes.as_dtype(dtype, "random")
        if wanted.kind != "float":
            raise DTypeError(f"random: {wanted.name}: takes float32, float16; see integers")
        shape = _shape(size, "random")
        return Array(draws.unit(self._next(shape), shape, wanted))

    def uniform(
        self, low: Array | float = 0.0, high: Array | float = 1.0, size: Size = None
    ) -> Array:
        """``low + (high - low) * random(size)`` in float32, rounded after every operation.

        Args:
            low: The least; a number or an array.
            high: The end, which rounding may reach.
            size: The shape; by default that of ``low`` and ``high`` together.

        Raises:
            ShapeError: ``low`` or ``high`` does not broadcast to ``size``.
            DTypeError: ``low`` or ``high`` is complex.
        """
        ends = [_float(end, "uniform") for end in (low, high)]
        shape = _shape(size, "uniform", *ends)
        return Array(draws.between(self._next(shape), shape, *ends))

    def normal(
        self, loc: Array | float = 0.0, scale: Array | float = 1.0, size: Size = None
    ) -> Array:
        """Normal deviates in float32, by Box and Muller; none is more than 6.8 deviations off.

        Args:
            loc: The mean; a number or an array.
            scale: The standard deviation; a number or an array.
            size: The shape; by default that of ``loc`` and ``scale`` together.

        Raises:
            UsageError: ``scale`` is a negative number.
            ShapeError: ``loc`` or ``scale`` does not broadcast to ``size``.
            DTypeError: ``loc`` or ``scale`` is complex.
        """
        if not isinstance(scale, Array) and scale < 0:
            raise UsageError(f"normal: scale {scale!r}: must not be negative")
        mean, deviation = (_float(each, "normal") for each in (loc, scale))
        shape = _shape(size, "normal", mean, deviation)
        made = draws.normal(self._next(shape), shape)
        if isinstance(scale, Array) or scale != 1:
            made = build.elementwise("multiply", made, deviation)
        if isinstance(loc, Array) or loc != 0:
            made = build.elementwise("add", made, mean)
        return Array(made)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Size = None,
        *,
        dtype: object = dtypes.INT,
        endpoint: bool = False,
    ) -> Array:
        """Integers from ``low`` up to, not including, ``high``.

        A word's product with their number is cut to its high word: one value is likelier than
        another by 2^-32 at most.

        Args:
            low: The least; with ``high`` left out, the end, and the least is 0.
            high: The end.
            size: The shape; 0-d by default.
            dtype: Any integer dtype.
            endpoint: Whether ``high`` is among them.

        Raises:
            UsageError: There is no integer between the two.
            IntegerOverflowError: One does not fit the dtype.
            DTypeError: The dtype is no integer one, or an end is no integer.
        """
        wanted = dtypes.as_dtype(dtype, "integers")
        if wanted.kind not in {"int", "uint"}:
            raise DTypeError(f"integers: {wanted.name}: must be an integer dtype")
        first, end = (0, low) if high is None else (low, high)
        first, end = shapes.integer(first, "integers"), shapes.integer(end, "integers") + endpoint
        if first >= end:
            raise UsageError(f"integers: from {first} up to, not including, {end}: there is none")
        for value in (first, end - 1):
            dtypes.check_range(value, wanted, "integers")
        shape = _shape(size, "integers")
        return Array(draws.integers(self._next(shape), shape, first, end - first, wanted))

    def permutation(self, x: Array | int, axis: int = 0) -> Array:
        """A new array of the entries of ``x`` along an axis in random order.

        They are sorted by random words of 32 bits. Entries with equal words, about n^2 / 2^33
        pairs, keep their order.

        Args:
            x: An array; or the number of integers from 0 on, which then are int32.
            axis: Along which entries move, whole.

        Raises:
            AxisError: There is no such axis.
            UsageError: A negative number.
        """
        if not isinstance(x, Array):
            return Array(self._order(_count(x, "permutation")))
        at = shapes.axis_index(axis, x.ndim, "permutation")
        return Array(_picked(x._node, self._order(x.shape[at]), at))

    def _order(self, count: int, keep: int | None = None) -> Node:
        """The numbers below ``count`` in random order; the first ``keep`` of them."""
        keys = draws.bits(self._next((count,)), (count,))
        return orders.argsort(keys, 0, keep=keep)

    def choice(
        self,
        a: Array | int,
        size: Size = None,
        replace: bool = True,
        p: object = None,
        axis: int = 0,
    ) -> Array:
        """Random entries of ``a`` along an axis.

        Args:
            a: An array; or the number of integers from 0 on, which then are int32.
            size: The shape of what stands in the axis's place; one entry by default.
            replace: Whether an entry can be chosen again.
            p: The probabilities, on the host, in steps of 2^-32; equal by default.
            axis: Along which entries are chosen, whole.

        Raises:
            AxisError: There is no such axis.
            UsageError: There are too few entries, or ``p`` does not fit.
        """
        shape = _shape(size, "choice")
        if not isinstance(a, Array):
            return Array(self._chosen(_count(a, "choice"), shape, p, replace=replace))
        at = shapes.axis_index(axis, a.ndim, "choice")
        indices = self._chosen(a.shape[at], shape, p, replace=replace)
        flat = build.reshape(indices, (indices.nelems,))
        chosen = _picked(a._node, flat, at)
        return Array(build.reshape(chosen, (*a.shape[:at], *shape, *a.shape[at + 1 :])))

    def _chosen(self, count: int, shape: Shape, p: object, *, replace: bool) -> Node:
        wanted = prod(shape)
        if wanted and (count == 0 or (not replace and wanted > count)):
            how = "" if replace else " without replacing them"
            raise UsageError(f"choice: {wanted} of {count} entries{how}: there are too few")
        if not replace:
            if p is not None:
                raise UsageError("choice: p with replace=False: not here; leave out one of them")
            return build.reshape(self._order(count, wanted), shape)
        if p is None:
            return draws.integers(self._next(shape), shape, 0, max(1, count), dtypes.INT)
        ends = as_node(words_of("I", _ends(p, count)), dtypes.uint32, "choice")
        return orders.searchsorted(ends, draws.bits(self._next(shape), shape), is_right=True)


def _ends(p: object, count: int) -> list[int]:
    """For each entry but the last ones the first word, of 32 bits, that chooses a later entry."""
    if isinstance(p, Array):
        raise UsageError(
            "choice: p on the GPU: must be on the host; or write "
            "gpu.searchsorted(gpu.cumulative_sum(p), rng.random(size))"
        )
    parts = [float(part) for part in p]  # type: ignore[attr-defined]
    if len(parts) != count:
        raise UsageError(f"choice: {len(parts)} probabilities for {count} entries")
    sums = list(accumulate(parts))
    if not all(part >= 0 and isfinite(part) for part in parts):
        raise UsageError("choice: p: a probability is negative, or not finite")
    if not abs(sums[-1] - 1) <= _SUM_TOLERANCE:
        raise UsageError(f"choice: p: adds up to {sums[-1]!r}: must be 1")
    ends = [round(each / sums[-1] * 2**32) for each in sums]
    return ends[: bisect_left(ends, 2**32)]


def _shape(size: Size, name: str, *operands: Node) -> Shape:
    if size is None:
        return shapes.broadcast([node.shape for node in operands], name) if operands else ()
    shape = shapes.check(size, name)
    for node in operands:
        build.broadcast_to(node, shape, name)
    return shape


def _float(value: Any, name: str) -> Node:  # noqa: ANN401 - whatever the user gave
    if isinstance(value, Array):
        return build.cast(value._node, dtypes.FLOAT)
    if isinstance(value, complex):
        raise DTypeError(f"{name}: {value!r}: must be a real number")
    return build.constant(float(value), dtypes.FLOAT)


def _count(value: object, name: str) -> int:
    count = shapes.integer(value, name)
    if count < 0:
        raise UsageError(f"{name}: {count}: must not be negative")
    dtypes.check_range(count, dtypes.INT, name)
    return count


def _picked(data: Node, indices: Node, axis: int) -> Node:
    """Entries of ``data`` along ``axis``; the indices are inside."""
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    if 0 in shape:
        return build.constant(0, data.dtype, shape)
    return blocks.gather(data, indices, axis, raises=False)
