"""Methods of arrays that are functions of the namespace under NumPy's spelling, and its protocols.

The functions stand on arrays, so they are looked up when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu import counterparts, shapes
from aiogpu.counterparts import namespace
from aiogpu.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.array import Array


class Methods:
    """What `Array` has beside operators and reading; each is a function of the namespace."""

    __slots__ = ()

    def std(
        self, axis: int | Sequence[int] | None = None, *, correction: float = 0.0,
        keepdims: bool = False,
    ) -> Array:  # fmt: skip
        """See `aiogpu.std`."""
        made: Array = namespace().std(self, axis=axis, correction=correction, keepdims=keepdims)
        return made

    def var(
        self, axis: int | Sequence[int] | None = None, *, correction: float = 0.0,
        keepdims: bool = False,
    ) -> Array:  # fmt: skip
        """See `aiogpu.var`."""
        made: Array = namespace().var(self, axis=axis, correction=correction, keepdims=keepdims)
        return made

    def ravel(self) -> Array:
        """The elements along one axis, in C order."""
        made: Array = namespace().reshape(self, (-1,))
        return made

    def flatten(self) -> Array:
        """The same as `ravel`: arrays are values."""
        return self.ravel()

    def transpose(self, *axes: int | Sequence[int]) -> Array:
        """With its axes in another order, by default the reverse, as a view."""
        order: Any = axes[0] if len(axes) == 1 and not shapes.is_integer(axes[0]) else axes
        rank = self.ndim  # type: ignore[attr-defined]
        made: Array = namespace().permute_dims(self, tuple(order) or tuple(range(rank))[::-1])
        return made

    def swapaxes(self, first: int, second: int) -> Array:
        """With two axes exchanged, as a view."""
        rank = self.ndim  # type: ignore[attr-defined]
        one, two = (shapes.axis_index(axis, rank, "swapaxes") for axis in (first, second))
        order = list(range(rank))
        order[one], order[two] = two, one
        made: Array = namespace().permute_dims(self, order)
        return made

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Array:
        """Without the named axes, or without all, of size 1, as a view."""
        shape = self.shape  # type: ignore[attr-defined]
        dropped = tuple(at for at, size in enumerate(shape) if size == 1) if axis is None else axis
        made: Array = namespace().squeeze(self, dropped)
        return made

    def clip(self, min: object = None, max: object = None) -> Array:
        """See `aiogpu.clip`."""
        made: Array = namespace().clip(self, min, max)
        return made

    def round(self) -> Array:
        """See `aiogpu.round`."""
        made: Array = namespace().round(self)
        return made

    def dot(self, other: Array) -> Array:
        """The matrix product; see `aiogpu.matmul`."""
        made: Array = namespace().matmul(self, other)
        return made

    def cumsum(self, axis: int | None = None) -> Array:
        """See `aiogpu.cumulative_sum`; flattened where ``axis`` is None."""
        x = self.ravel() if axis is None else self
        made: Array = namespace().cumulative_sum(x, axis=0 if axis is None else axis)
        return made

    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> Array:
        """See `aiogpu.repeat`."""
        made: Array = namespace().repeat(self, repeats, axis=axis)
        return made

    def take(self, indices: object, axis: int | None = None) -> Array:
        """See `aiogpu.take`; from the flattened array where ``axis`` is None."""
        x = self.ravel() if axis is None else self
        made: Array = namespace().take(x, indices, axis=0 if axis is None else axis)
        return made

    # The standard

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:  # noqa: ANN401 - a module
        """The namespace that works on this array.

        Raises:
            UsageError: A version of the standard that we do not follow.
        """
        if api_version not in {None, "2022.12", "2023.12", "2024.12"}:
            raise UsageError(f"__array_namespace__: version {api_version!r}: follows 2024.12")
        return namespace()

    @property
    def device(self) -> str:
        """The device: there is one."""
        return "webgpu"

    def to_device(self, device: object, /, *, stream: object = None) -> Array:
        """The array itself, which is there.

        Raises:
            UsageError: Another device, or a stream.
        """
        if device != self.device or stream is not None:
            raise UsageError(f"to_device: {device!r}: there is only {self.device!r}, and no stream")
        return self  # type: ignore[return-value]

    def __dlpack__(
        self, *, stream: object = None, max_version: object = None, dl_device: object = None,
        copy: bool | None = None,
    ) -> None:  # fmt: skip
        """Raises: DLPack exchanges pointers, and WebGPU gives none.

        Raises:
            UsageError: Always.
        """
        raise UsageError("dlpack: the memory of a WebGPU device has no address: await x.numpy()")

    def __dlpack_device__(self) -> None:
        """Raises, as `__dlpack__`.

        Raises:
            UsageError: Always.
        """
        raise UsageError("dlpack: WebGPU is no device of DLPack: await x.numpy()")

    def _ipython_display_(self) -> None:
        """How a notebook shows the array: see `aiogpu.display`."""
        namespace().display(self)

    # NumPy's protocols: np.sin(x) and ndarray + x stay on the GPU, or raise

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Array:  # noqa: ANN401 - NumPy's protocol
        """What NumPy calls for its ufuncs."""
        made: Array = counterparts.ufunc(ufunc, method, inputs, kwargs)
        return made

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 - NumPy's protocol
        """What NumPy calls for its other functions."""
        return counterparts.function(func, args, kwargs)
