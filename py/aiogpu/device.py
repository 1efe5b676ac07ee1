"""Adapters and devices: finding one, opening it once, and opening another when it is lost."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiogpu.errors import DeviceError, NoAdapterError, NoWebGPUError, UsageError
from aiogpu.gpu import browser
from aiogpu.runtime.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiogpu.gpu.protocol import AdapterInfo, Host


# Python prints a warning that no handler takes to standard error, and a page may turn it off.
_LOG = logging.getLogger("aiogpu")


@dataclass(frozen=True, slots=True)
class Adapter:
    """What an adapter says of itself, in WebGPU's terms.

    Attributes:
        vendor: Such as ``nvidia`` or ``google``; empty where the browser hides it.
        architecture: Such as ``hopper`` or ``swiftshader``.
        description: Free text; often empty.
        is_fallback: It is software: right, and slow.
        features: Names of WebGPU features.
        limits: WebGPU limits by name.
    """

    vendor: str
    architecture: str
    description: str
    is_fallback: bool
    features: frozenset[str]
    limits: Mapping[str, int]

    @classmethod
    def of(cls, info: AdapterInfo) -> Adapter:
        """An adapter of the host's data."""
        return cls(
            info.vendor,
            info.architecture,
            info.description,
            info.is_fallback,
            info.features,
            info.limits,
        )


class Device:
    """An open device.

    Attributes:
        adapter: Its adapter.
        runtime: What stands on it.
        gpu_device: The JavaScript GPUDevice.
    """

    def __init__(
        self,
        adapter: Adapter,
        runtime: Runtime,
        gpu_device: Any,  # noqa: ANN401 - a GPUDevice
        wishes: _Wishes,
    ) -> None:
        self.adapter = adapter
        self.runtime = runtime
        self.gpu_device = gpu_device
        self._wishes = wishes

    def __repr__(self) -> str:
        state = "lost" if self.is_lost else "open"
        return f"<aiogpu.Device {self.adapter.vendor} {self.adapter.architecture} ({state})>"

    @property
    def wishes(self) -> _Wishes:
        """What it was opened with."""
        return self._wishes

    @property
    def is_lost(self) -> bool:
        """Whether it was lost or destroyed."""
        return self.runtime.lost_reason is not None

    @property
    def lost_reason(self) -> str | None:
        """The browser's text, or None while it is there."""
        return self.runtime.lost_reason

    def destroy(self) -> None:
        """Destroy it: what is pending raises DeviceLostError, and the next use opens another."""
        self.runtime.recorder.destroy()


@dataclass(frozen=True, slots=True)
class _Wishes:
    features: frozenset[str]
    limits: frozenset[tuple[str, int]]
    memory_limit: int | None
    gpu_device: Any

    def is_met_by(self, other: _Wishes) -> bool:
        """Whether a device that was opened with ``other`` will do."""
        return (
            self.features <= other.features
            and self.limits <= other.limits
            and self.memory_limit in {None, other.memory_limit}
            and (self.gpu_device is None or self.gpu_device is other.gpu_device)
        )


class Opener:
    """The interpreter's default device: opened once, whoever asks first, and anew after a loss."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._has_noted = False
        self._device: Device | None = None
        self._opening: tuple[_Wishes, asyncio.Task[Device]] | None = None

    @property
    def current(self) -> Device | None:
        """The open device; None before it is opened and after it was lost."""
        if self._device is not None and self._device.runtime.stream.is_lost:
            self._device = None
        return self._device

    async def open(
        self,
        features: Sequence[str] = (),
        limits: Mapping[str, int] | None = None,
        memory_limit: int | None = None,
        gpu_device: Any = None,  # noqa: ANN401 - a GPUDevice
    ) -> Device:
        """See `open_device`."""
        wishes = _Wishes(
            frozenset(features), frozenset((limits or {}).items()), memory_limit, gpu_device
        )
        device = self.current
        if device is not None and not device.is_lost:
            self._check(wishes, device.wishes)
            return device
        self._device = None
        if self._opening is None:
            task = asyncio.ensure_future(self._open(wishes))
            self._opening = wishes, task
            task.add_done_callback(self._opened)
        else:
            self._check(wishes, self._opening[0])
        # Shielded: others may wait for the same device.
        return await asyncio.shield(self._opening[1])

    def _check(self, wishes: _Wishes, had: _Wishes) -> None:
        if not wishes.is_met_by(had):
            raise UsageError(
                f"open_device: {wishes}: a device is open with other wishes, {had}; destroy() it"
            )

    def _opened(self, task: asyncio.Task[Device]) -> None:
        self._opening = None
        if not task.cancelled() and task.exception() is None:
            self._device = task.result()

    async def _open(self, wishes: _Wishes) -> Device:
        if wishes.gpu_device is not None:
            recorder, limits, info = await self.host.adopt_device(wishes.gpu_device)
            gpu_device = wishes.gpu_device
        else:
            info, adapter = await self.host.request_adapter("high-performance")
            recorder, limits, gpu_device = await self.host.request_device(
                adapter, sorted(wishes.features), dict(wishes.limits)
            )
        if info.is_fallback and not self._has_noted:
            self._has_noted = True
            _LOG.warning(
                "aiogpu: this browser computes in software (%s %s): right, but slow; if this "
                "machine has a GPU, chrome://gpu or about:support says why it is not used",
                info.vendor,
                info.architecture,
            )
        runtime = Runtime(recorder, limits, info, wishes.memory_limit)
        return Device(Adapter.of(info), runtime, gpu_device, wishes)

    def close(self) -> None:
        """Destroy the device, if one is open."""
        if self._device is not None:
            self._device.destroy()
            self._device = None


DEFAULT = Opener(browser)


async def request_adapter(power_preference: str | None = "high-performance") -> Adapter:
    """What the browser's adapter says of itself; opens nothing.

    Args:
        power_preference: WebGPU's ``"high-performance"`` or ``"low-power"``; None leaves the choice
            to the browser.

    Raises:
        NoWebGPUError: There is no ``navigator.gpu`` here; the message says why.
        NoAdapterError: There is, but it gave no adapter.
    """
    if power_preference not in {None, "high-performance", "low-power"}:
        raise UsageError(
            f"request_adapter: power_preference {power_preference!r}: no such preference of WebGPU"
        )
    info, _ = await DEFAULT.host.request_adapter(power_preference)
    return Adapter.of(info)


async def is_available() -> bool:
    """Whether a device could be opened here. Never raises."""
    try:
        await request_adapter()
    except (NoWebGPUError, NoAdapterError, DeviceError):
        return False
    return True


async def open_device(
    features: Sequence[str] = (),
    limits: Mapping[str, int] | None = None,
    memory_limit: int | None = None,
    gpu_device: Any = None,  # noqa: ANN401 - a GPUDevice
) -> Device:
    """The default device, opened if it is not open yet; without wishes there is no need to call it.

    Args:
        features: WebGPU features that the device must have.
        limits: WebGPU limits, by name, that it must allow; all that the adapter has is asked for.
        memory_limit: Most bytes of arrays in use at a time.
        gpu_device: A JavaScript GPUDevice to use in place of a new one.

    Raises:
        UsageError: A device is open that was opened with other wishes.
        NoWebGPUError: There is no ``navigator.gpu`` here.
        NoAdapterError: There is no adapter.
        FeatureError: The adapter lacks a feature.
        LimitError: The adapter does not allow a limit.
    """
    return await DEFAULT.open(features, limits, memory_limit, gpu_device)
