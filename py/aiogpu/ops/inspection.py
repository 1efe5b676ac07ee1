"""Inspection of the namespace, of the Array API standard; and devices, of which there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu import dtypes, shapes
from aiogpu.errors import UsageError
from aiogpu.ops.data_types import isdtype

if TYPE_CHECKING:
    from aiogpu.dtypes import DType

DEVICE: Final = "webgpu"


def check_device(device: object, operation: str) -> None:
    """Raise UsageError for a device that is not None and not ours."""
    if device is not None and device != DEVICE:
        raise UsageError(f"{operation}: device {device!r}: there is only {DEVICE!r}")


class Info:
    """What ``__array_namespace_info__`` gives: facts about the namespace."""

    def capabilities(self) -> dict[str, bool | int]:
        """What the namespace can do of what the standard leaves open."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": shapes.MAX_RANK,
        }

    def default_device(self) -> str:
        """The device on which arrays are made."""
        return DEVICE

    def devices(self) -> list[str]:
        """All devices."""
        return [DEVICE]

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """The dtypes that are taken where none is given.

        Raises:
            UsageError: There is no such device.
        """
        check_device(device, "default_dtypes")
        return {
            "real floating": dtypes.FLOAT,
            "complex floating": dtypes.COMPLEX,
            "integral": dtypes.INT,
            "indexing": dtypes.INT,
        }

    def dtypes(self, *, device: object = None, kind: object = None) -> dict[str, DType]:
        """The standard's dtypes by name; those of a kind, as in `isdtype`, or of one of several.

        Raises:
            UsageError: There is no such device, or no such kind.
        """
        check_device(device, "dtypes")
        every = {each.name: each for each in dtypes.ALL if each is not dtypes.float16}
        if kind is None:
            return every
        return {name: dtype for name, dtype in every.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:  # noqa: N807 - the standard's name
    """Facts about the namespace: its dtypes, defaults, devices and capabilities."""
    return Info()
