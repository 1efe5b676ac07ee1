"""Layers of neural networks; the elementwise ones are with the elementwise functions."""

import numpy as np
from hypothesis import strategies as st
from operands import FLOATS, ORDERED, axes_of, broadcasting, operands, shapes
from rows import cast, floating, meeting, row
from verdict import Within


@st.composite
def along(draw):
    shape = draw(shapes(1))
    return (draw(operands(ORDERED, shape, "mild")),), {"axis": draw(axes_of(len(shape)))}


def logits(x, axis):
    """The logarithm of softmax."""
    x = x.astype("f8")
    x = x - x.max(axis, keepdims=True, initial=-1e30)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def softmax(x, axis):
    dtype = floating(x.dtype.name)
    value = np.exp(logits(x, axis))
    return Within(value, 1e-6 * value, dtype)


def log_softmax(x, axis):
    value = logits(x, axis)
    return Within(value, 1e-6 * (1 + np.abs(value)), floating(x.dtype.name))


row("nn.softmax", along(), softmax)
row("nn.log_softmax", along(), log_softmax)


@st.composite
def normed(draw):
    x = draw(operands(ORDERED, shapes(1), "mild"))
    how = {}
    for name in ("weight", "bias"):
        if draw(st.booleans()):
            how[name] = draw(operands(FLOATS, broadcasting(x.host.shape), "mild"))
    return (x,), {**how, "epsilon": draw(st.sampled_from([1e-5, 0.5]))}


def layer_norm(x, epsilon, weight=None, bias=None):
    dtype = floating(x.dtype.name)
    wide = x.astype("f8")
    mean, var = (
        wide.mean(-1, keepdims=True) if x.size else 0,
        wide.var(-1, keepdims=True) if x.size else 0,
    )
    value = (wide - mean) / np.sqrt(var + epsilon)
    # The rounding of x - mean stands beside the rest, enlarged as that is.
    error = 4e-6 * np.abs(value) + 2e-6 * (1 + np.abs(mean)) / np.sqrt(var + epsilon)
    if weight is not None:
        value, error = value * weight, error * np.abs(weight.astype("f8"))
    if bias is not None:
        value = value + bias
    return Within(value, error + 1e-6 * (1 + np.abs(value)), dtype)


row("nn.layer_norm", normed(), layer_norm)


@st.composite
def convolved(draw):
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    channels, filters = (draw(st.integers(1, 3)) * groups for _ in range(2))
    two = st.integers(1, 3)
    either = two | st.tuples(two, two)
    r, s = draw(two), draw(two)
    how = {"stride": draw(either), "dilation": draw(either), "groups": groups}
    how["padding"] = draw(st.integers(0, 3) | st.tuples(st.integers(0, 3), st.integers(0, 3)))
    high, wide = (
        draw(st.integers(1, 5)) + d * (k - 1)
        for d, k in zip(pair(how["dilation"]), (r, s), strict=True)
    )
    if draw(st.integers(0, 4)) == 0:
        wide += draw(st.sampled_from([16, 30, 63]))
    dtypes = [draw(st.sampled_from(FLOATS)) for _ in range(3)]
    n = draw(st.sampled_from([1, 2, 3, 0]))
    x = draw(operands(dtypes[0], (n, channels, high, wide), "mild"))
    w = draw(operands(dtypes[1], (filters, channels // groups, r, s), "mild"))
    bias = draw(st.none() | operands(dtypes[2], (filters,), "mild"))
    return (x, w, bias), how


def pair(given):
    return (given, given) if isinstance(given, int) else given


def conv2d(x, w, bias, stride, padding, dilation, groups):
    dtype = meeting(x, w) if bias is None else meeting(x, w, bias)
    x, w = (cast(each, dtype).astype("f8") for each in (x, w))
    value = convolution(x, w, pair(stride), pair(padding), pair(dilation), groups)
    error = convolution(np.abs(x), np.abs(w), pair(stride), pair(padding), pair(dilation), groups)
    error *= (w[0].size + 2) * 2.0**-23
    if bias is not None:
        value = value + cast(bias, dtype).astype("f8").reshape(1, -1, 1, 1)
    return Within(value, error + 2.0**-23 * np.abs(value), dtype)


def convolution(x, w, stride, padding, dilation, groups):
    (sy, sx), (py, px), (dy, dx) = stride, padding, dilation
    x = np.pad(x, ((0, 0), (0, 0), (py, py), (px, px)))
    k, per_group, r, s = w.shape
    high = (x.shape[2] - dy * (r - 1) - 1) // sy + 1
    wide = (x.shape[3] - dx * (s - 1) - 1) // sx + 1
    y = np.zeros((x.shape[0], k, high, wide))
    for o in range(k):
        first = o // (k // groups) * per_group
        for i in range(r):
            for j in range(s):
                part = x[:, first : first + per_group, i * dy :, j * dx :]
                part = part[:, :, : sy * (high - 1) + 1 : sy, : sx * (wide - 1) + 1 : sx]
                y[:, o] += np.einsum("nchw,c->nhw", part, w[o, :, i, j])
    return y


row("nn.conv2d", convolved(), conv2d)


@st.composite
def attended(draw):
    batch = draw(shapes(0, 3, nelems=6))
    sq, skv = (draw(st.sampled_from([3, 1, 5, 16, 33, 0])) for _ in range(2))
    d = draw(st.sampled_from([4, 1, 3, 8, 16]))
    dtype = draw(st.sampled_from(FLOATS))
    q, k, v = (draw(operands(dtype, (*batch, s, d), (-2, 2))) for s in (sq, skv, skv))
    how = {"causal": draw(st.booleans()), "scale": draw(st.sampled_from([None, 0.5, 1.0]))}
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["bool", dtype]))
        how["mask"] = draw(
            operands(kind, broadcasting((*batch, sq, skv)), "mild" if kind == "bool" else (-4, 4))
        )
    return (q, k, v), how


def attention(q, k, v, causal, scale, mask=None):
    dtype = q.dtype.name
    q, k, v = (x.astype("f8") for x in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    seen = np.ones(scores.shape, bool)
    if causal:
        seen = np.broadcast_to(
            np.tri(*scores.shape[-2:], scores.shape[-1] - scores.shape[-2], dtype=bool),
            scores.shape,
        )
    if mask is not None and mask.dtype.kind == "f":
        scores = scores + mask
    elif mask is not None:
        seen = seen & mask
    scores = np.where(seen, scores, -np.inf)
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(most), 0, most))
    total = weights.sum(-1, keepdims=True)
    value = weights / np.where(total == 0, 1, total) @ v
    # Scores up to 70 are off by some units each, and so are their exponentials.
    size = 1 + np.abs(np.where(seen, scores, 0)).max(-1, keepdims=True, initial=0)
    return Within(value, 4e-6 * size * (1 + np.abs(v).max(initial=0)), dtype)


row("nn.attention", attended(), attention)
