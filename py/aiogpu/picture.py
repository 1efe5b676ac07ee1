"""Arrays as PNG pictures, read from the GPU as bytes and encoded here: works in every host."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

from aiogpu import dtypes, evaluate
from aiogpu.errors import UsageError
from aiogpu.graph import build, select, table

if TYPE_CHECKING:
    from aiogpu.graph.node import Node

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOURS: Final = {1: 0, 3: 2}  # PNG's colour types by channels: grey, and RGB


class Picture(bytes):
    """The bytes of a PNG file, which a notebook shows as an image."""

    __slots__ = ()

    def __repr__(self) -> str:
        width, height = struct.unpack(">II", self[16:24])
        return f"<aiogpu.Picture {width} x {height}, {len(self)} bytes of PNG>"

    def _repr_png_(self) -> bytes:
        return bytes(self)


def check(shape: tuple[int, ...], dtype: dtypes.DType, operation: str) -> int:
    """How many channels an array has as a picture.

    Raises:
        UsageError: Another shape than (h, w), (h, w, 3) or (h, w, 4), or empty; another dtype than
            float32 and uint8.
    """
    channels = (shape[2] if len(shape) == 3 else 1) if len(shape) in {2, 3} else 0
    if channels not in {1, 3, 4} or (len(shape) == 3 and channels == 1) or 0 in shape:
        raise UsageError(
            f"{operation}: shape {shape}: takes (h, w), (h, w, 3) or (h, w, 4), not empty"
        )
    if dtype not in {dtypes.float32, dtypes.uint8}:
        raise UsageError(
            f"{operation}: {dtype.name}: takes float32 from 0 to 1, or uint8; cast with astype"
        )
    return channels


async def read(node: Node) -> Picture:
    """The picture of a node that `check` has passed; alpha is ignored, as on a canvas.

    Raises:
        AioGpuError: The work that makes the value failed.
    """
    if len(node.shape) == 3:
        node = select.cut(node, (Ellipsis, slice(3)))
    if node.dtype is not dtypes.uint8:
        scaled = build.binary(table.MULTIPLY, node, 255.0, 1)
        # The cast truncates, and saturates at both ends.
        node = build.cast(build.binary(table.ADD, scaled, 0.5, 1), dtypes.uint8)
    (data,) = await evaluate.DEFAULT.read([node])
    height, width = node.shape[:2]
    return encode(bytes(data), width, height, node.nelems // (height * width))


def encode(data: bytes, width: int, height: int, channels: int) -> Picture:
    """The PNG (ISO/IEC 15948) of rows of 8-bit grey or RGB pixels."""
    row = width * channels
    lines = b"".join(b"\0" + data[at : at + row] for at in range(0, height * row, row))
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return Picture(_SIGNATURE + b"".join(_chunk(name, content) for name, content in parts))


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)
