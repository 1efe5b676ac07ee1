"""Convolutions, attention, softmax and normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiogpu.backend.handles import Handles, count
from aiogpu.errors import UsageError
from aiogpu.graph import blocks, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiogpu.shapes import Shape


class Networks(Handles):
    """Methods 10 to 13 and 15, and layer normalisation."""

    def conv2d_forward(
        self, x: int, filters: int, y: int, x_shape: Sequence[int], filter_shape: Sequence[int],
        stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1), groups: int = 1,
    ) -> Shape:  # fmt: skip
        """``y`` = convolution of ``x`` (n, c, h, w) with ``filters`` (k, c / groups, r, s).

        Returns:
            The shape of ``y``, (n, k, height, width).

        Raises:
            HandleError: A handle is unknown or freed.
            ShapeError: The shapes do not fit.
        """
        how = (stride, padding, dilation, groups)
        return self._conv("conv2d", (x, filters, y), x_shape, filter_shape, how)

    def conv2d_backward_data(
        self, dy: int, filters: int, dx: int, x_shape: Sequence[int], filter_shape: Sequence[int],
        stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1), groups: int = 1,
    ) -> Shape:  # fmt: skip
        """``dx`` = the gradient of `conv2d_forward` for its data, given that of its output.

        Raises:
            HandleError: A handle is unknown or freed.
            ShapeError: The shapes do not fit.
        """
        how = (stride, padding, dilation, groups)
        return self._conv("conv2d_data", (dy, filters, dx), x_shape, filter_shape, how)

    def conv2d_backward_filter(
        self, x: int, dy: int, dfilters: int, x_shape: Sequence[int], filter_shape: Sequence[int],
        stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1), groups: int = 1,
    ) -> Shape:  # fmt: skip
        """``dfilters`` = the gradient of `conv2d_forward` for its filters, given its output's.

        Raises:
            HandleError: A handle is unknown or freed.
            ShapeError: The shapes do not fit.
        """
        how = (stride, padding, dilation, groups)
        return self._conv("conv2d_filter", (x, dy, dfilters), x_shape, filter_shape, how)

    def _conv(
        self, name: str, handles: tuple[int, int, int], x_shape: Sequence[int],
        filter_shape: Sequence[int], how: tuple[Sequence[int], Sequence[int], Sequence[int], int],
    ) -> Shape:  # fmt: skip
        image, filters = tuple(x_shape), tuple(filter_shape)
        stride, padding, dilation, groups = how
        conv = blocks.Conv(tuple(stride), tuple(padding), tuple(dilation), groups)  # type: ignore[arg-type]
        output = conv.output(image, filters)
        first, second = {
            "conv2d": (image, filters),
            "conv2d_data": (output, filters),
            "conv2d_filter": (image, output),
        }[name]
        left, right = self._input(name, handles[0], first), self._input(name, handles[1], second)
        node = blocks.conv2d(name, left, right, image, filters, conv)
        self._output(name, handles[2], node)
        return node.shape

    def attention(
        self, q: int, k: int, v: int, out: int, batch: int, heads: int, seq_q: int, seq_kv: int,
        head_dim: int, scale: float, causal: bool, mask: int | None = None,
        mask_shape: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """``out`` = softmax(scale * q @ k^T + mask) @ v, without the whole matrix of scores.

        Args:
            q: (batch, heads, seq_q, head_dim).
            k: (batch, heads, seq_kv, head_dim).
            v: As ``k``.
            out: As ``q``; overwritten. Rows that are wholly masked are zeros.
            batch: Number of sequences.
            heads: Heads of each.
            seq_q: Queries of each.
            seq_kv: Keys of each.
            head_dim: Width of a head.
            scale: What the scores are multiplied by.
            causal: Query i sees the keys up to i + seq_kv - seq_q.
            mask: Added to the scores.
            mask_shape: (batch or 1, heads or 1, seq_q, seq_kv); by default the largest of these
                that the handle's bytes hold, one for each batch before one for each head.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: A size is negative, or the bytes of a handle do not suffice.
        """
        for size in (batch, heads, seq_q, seq_kv, head_dim):
            count("attention", size)
        queries, keys = (batch, heads, seq_q, head_dim), (batch, heads, seq_kv, head_dim)
        nodes = [
            self._input("attention", q, queries),
            self._input("attention", k, keys),
            self._input("attention", v, keys),
        ]
        masked = None
        if mask is not None:
            sizes = (batch, heads, seq_q, seq_kv)
            shape = tuple(mask_shape) if mask_shape else self._mask_shape(mask, sizes)
            masked = self._input("attention", mask, shape)
        self._output(
            "attention", out, blocks.attention(nodes, masked, float(scale), causal=bool(causal))
        )

    def _mask_shape(self, mask: int, sizes: tuple[int, int, int, int]) -> Shape:
        """The largest shape of a mask that a handle's bytes hold."""
        batch, heads, queries, keys = sizes
        nbytes = self._buffer("attention", mask).nbytes
        for leading in ((batch, heads), (batch, 1), (1, heads)):
            if 4 * leading[0] * leading[1] * queries * keys <= nbytes:
                return (*leading, queries, keys)
        return 1, 1, queries, keys

    def softmax(self, src: int, dst: int, shape: Sequence[int], axis: int) -> None:
        """``dst`` = softmax of ``src`` along ``axis``; NaN in a row of -infinities.

        Raises:
            HandleError: A handle is unknown or freed.
            AxisError: There is no such axis.
        """
        node = self._input("softmax", src, tuple(shape))
        self._output("softmax", dst, blocks.along("softmax", node, axis))

    def layer_norm(
        self, src: int, dst: int, shape: Sequence[int], weight: int | None = None,
        bias: int | None = None, epsilon: float = 1e-5,
    ) -> None:  # fmt: skip
        """``dst`` = ``src`` of mean 0 and variance 1 along its last axis, times weight, plus bias.

        Raises:
            HandleError: A handle is unknown or freed.
            UsageError: The shape has no axes, or the bytes do not suffice.
        """
        if not shape:
            raise UsageError("layer_norm: shape (): needs at least one axis")
        node = self._input("layer_norm", src, tuple(shape))
        node = blocks.along("standardize", node, -1, epsilon=float(epsilon))
        for name, handle in (("multiply", weight), ("add", bias)):
            if handle is not None:
                row = self._input("layer_norm", handle, (shape[-1],))
                node = build.elementwise(name, node, row)
        self._output("layer_norm", dst, node)
