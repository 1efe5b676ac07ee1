"""The one tree of errors.

::

    AioGpuError
    ├── UsageError(ValueError)            the call is wrong; raised at the call, before the GPU
    │   ├── ShapeError                    shapes do not fit each other
    │   ├── AxisError(IndexError)         no such axis, or an index outside of one
    │   ├── DTypeError(TypeError)         no such dtype, or dtypes that do not promote
    │   ├── IntegerOverflowError(OverflowError)
    │   ├── HandleError                   a handle that is unknown, freed, or of another runtime
    │   └── UnknownFunctionError(LookupError)   a page has called what is not there
    ├── SyncAccessError(TypeError, ValueError)   a host value was asked for without await
    ├── ClosedError(RuntimeError)         the runtime or the connection was closed
    ├── ImportFailedError(ImportError)    what a page wants installed is not to be had
    ├── DeviceError(RuntimeError)         what the GPU or the browser refused
    │   ├── NoWebGPUError                 this browser or page has no WebGPU
    │   ├── NoAdapterError                WebGPU is there, but gave no adapter
    │   ├── FeatureError                  a feature that the adapter lacks
    │   ├── LimitError                    more than a limit of the device allows
    │   ├── OutOfMemoryError(MemoryError)
    │   ├── DeviceLostError
    │   └── KernelError                   a shader that does not compile, or a refused dispatch
    └── ProtocolError                     a malformed message over the bridge
        └── VersionError                  the two sides are of different versions

Every class has a stable ``code``: it crosses the bridge and has its twin in ``web/errors.js``.
A message reads ``operation: what was given: what is wrong``.
"""

from types import CodeType
from typing import ClassVar, NamedTuple, Self


class Origin(NamedTuple):
    """The user's line that made a node: its code, and where in it."""

    code: CodeType
    instruction: int  # byte offset; the line is looked up only when somebody asks

    @property
    def line(self) -> int:
        """The line's number in its file."""
        line = self.code.co_firstlineno
        for start, end, number in self.code.co_lines():
            if start <= self.instruction < end and number is not None:
                line = number
        return line

    def __str__(self) -> str:
        return f"{self.code.co_filename}:{self.line}"


class KernelLine(NamedTuple):
    """A line of a kernel that is written in Python."""

    file: str
    line: int
    text: str


class AioGpuError(Exception):
    """The root of all errors that aiogpu raises by itself.

    Attributes:
        kernel_line: The line of a kernel that is meant, where one is; the message shows it too.
    """

    code: ClassVar[str] = "aiogpu"
    kernel_line: KernelLine | None = None

    def at(self, line: KernelLine | None) -> Self:
        """The same error, said of a line of a kernel."""
        self.kernel_line = line
        return self

    def again(self) -> Self:
        """The same error as a new object: what a value keeps has no traceback.

        A traceback refers to frames, and those to the arrays that keep the error: a cycle that
        would hold memory until a collection.
        """
        copy = type(self)(*self.args).at(self.kernel_line)
        copy.__cause__ = self.__cause__
        return copy


class UsageError(AioGpuError, ValueError):
    """A call that cannot be right, found before the GPU was touched."""

    code = "usage"


class ShapeError(UsageError):
    """Shapes that do not fit each other or the operation."""

    code = "shape"


class AxisError(UsageError, IndexError):
    """An axis that the array has not, or an index outside of its axis."""

    code = "axis"


class DTypeError(UsageError, TypeError):
    """An unknown dtype, or dtypes that the operation or promotion refuses."""

    code = "dtype"


class IntegerOverflowError(UsageError, OverflowError):
    """An integer that the asked dtype cannot hold."""

    code = "integer-overflow"


class HandleError(UsageError):
    """A handle that is unknown, freed, or belongs to another runtime."""

    code = "handle"


class UnknownFunctionError(UsageError, LookupError):
    """A page has called a function that is not there."""

    code = "unknown-function"


class SyncAccessError(AioGpuError, TypeError, ValueError):
    """A host value was asked for where it would need a wait; the message names the await form."""

    code = "sync-access"


class ClosedError(AioGpuError, RuntimeError):
    """The runtime or the connection was closed before."""

    code = "closed"


class ImportFailedError(AioGpuError, ImportError):
    """Packages that could not be installed.

    Python's own ImportError, of a module that is not there, has the same code on the bridge.
    """

    code = "import"


class DeviceError(AioGpuError, RuntimeError):
    """The GPU, its driver or the browser refused or failed."""

    code = "device"


class NoWebGPUError(DeviceError):
    """There is no ``navigator.gpu`` in this browser or context."""

    code = "no-webgpu"


class NoAdapterError(DeviceError):
    """WebGPU is there, but ``requestAdapter`` gave null."""

    code = "no-adapter"


class FeatureError(DeviceError):
    """A WebGPU feature was asked for that the adapter lacks."""

    code = "feature"


class LimitError(DeviceError):
    """More was asked than a limit of the device allows."""

    code = "limit"


class OutOfMemoryError(DeviceError, MemoryError):
    """The device has no room for a buffer, or the memory limit forbids it."""

    code = "out-of-memory"


class DeviceLostError(DeviceError):
    """The device was lost or destroyed; the message carries the browser's reason."""

    code = "device-lost"


class KernelError(DeviceError):
    """A shader that does not compile, or a dispatch that the device refused."""

    code = "kernel"


class ProtocolError(AioGpuError):
    """A message over the bridge that breaks the protocol."""

    code = "protocol"


class VersionError(ProtocolError):
    """The client and the wheel are of different versions."""

    code = "version"
