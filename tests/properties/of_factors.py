"""Factorisations of matrices, and what is made of them.

They are judged as in tests/browser/test_linalg.py: they are backward stable, so what counts is the
residual against the norm of the operand; 1e-6 times the root of n for LU, QR and Cholesky, twice
that for Jacobi's rotations, which meet each element more often.
"""

import numpy as np
from hypothesis import strategies as st
from of_products import numbers
from operands import Operand, broadcasting, data, shapes
from rows import call, floating, meeting, met, row, wide
from verdict import Judged, RefusedError, Same, Together, Within, within

import aiogpu as gpu


@st.composite
def matrices(draw, square=True, kind=None, least=0):
    """Matrices that are no harder than their size: a few drawn values, or normal deviates."""
    size = st.sampled_from([n for n in (3, 2, 1, 4, 5, 8, 16, 31, 33, 0) if n >= least])
    m = draw(size)
    n = m if square else draw(size)
    shape = (*draw(shapes(0, 2, nelems=6, empty=False)), m, n)
    dtype = draw(st.sampled_from(["float32", "complex64", "float16", "int32", "uint8", "int8"]))
    if np.dtype(dtype).kind in "iu" and kind is None:
        return draw(numbers(dtype, shape))
    if kind is None and draw(st.integers(0, 3)) == 0:
        return draw(numbers(dtype, shape))
    dtype = dtype if np.dtype(dtype).kind in "fc" else "float32"
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    host = rng.normal(size=shape)
    if dtype == "complex64":
        host = host + 1j * rng.normal(size=shape)
    if kind == "regular":
        host = host + 2 * max(1, m) ** 0.5 * np.eye(m)
    if kind == "positive":
        host = host @ adjoint(host) + max(1, m) * np.eye(m)
    return Operand(host.astype(dtype))


@st.composite
def normed(draw):
    x = draw(matrices(square=False))
    how = {"ord": draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]))}
    return (x,), {**how, "keepdims": draw(st.booleans())}


def matrix_norm(x, ord, keepdims):
    if 0 in x.shape[-2:] and ord not in {"fro", "nuc"}:
        columns = x.shape[-1] if ord in {1, -1} else x.shape[-2] if ord in {np.inf, -np.inf} else 0
        if not columns and 0 not in x.shape[:-2]:
            raise RefusedError(gpu.errors.UsageError)
        return Same(np.zeros((*x.shape[:-2], *((1, 1) if keepdims else ())), "f4"))
    value = (
        np.linalg.norm(wide(x), ord, (-2, -1), keepdims)
        if 0 not in x.shape
        else np.zeros((*x.shape[:-2], *((1, 1) if keepdims else ())))
    )
    size = np.linalg.norm(wide(x), axis=(-2, -1), keepdims=keepdims)
    return Within(value, 4e-6 * max(x.shape[-2:]) ** 1.5 * size, "float32")


row("linalg.matrix_norm", normed(), matrix_norm)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def norm(x):
    """Of all matrices together."""
    return float(np.linalg.norm(np.asarray(x).ravel()))


def kept(x):
    """What is computed with: float32 or complex64, seen in twice the width."""
    return wide(x.astype(floating(x.dtype.name)) if x.dtype.kind != "f" else x.astype("f4"))


def kind_of(x):
    return "complex64" if x.dtype.kind == "c" else "float32"


def small(residual, bound, what):
    """A complaint about a residual that is too large, or not a number."""
    off = norm(residual)
    return "" if off <= bound else f"{what} is off by {off:.3g}, {bound:.3g} allowed"


def typed(got, shape, dtype):
    return (
        ""
        if (got.shape, got.dtype) == (shape, dtype)
        else f"{got.dtype} {got.shape}, not {dtype} {shape}"
    )


def judged(x, shape, residual):
    """One result of a shape, and what of it must be small."""

    def judge(got):
        return typed(got, shape, kind_of(x)) or (small(*residual(wide(got))) if got.size else "")

    return Judged(judge)


def bound_of(x, factor=1e-6):
    return factor * max(1, *x.shape[-2:]) ** 0.5


def cholesky(x, upper):
    a = kept(x)

    def residual(lower):
        again = adjoint(lower) @ lower if upper else lower @ adjoint(lower)
        half = np.tril(lower, -1) if upper else np.triu(lower, 1)
        return again - a + 1e30 * half, bound_of(x) * norm(a), "the product"

    return judged(x, x.shape, residual)


row("linalg.cholesky", call(matrices(kind="positive"), upper=st.booleans()), cholesky)


def solve(x, y):
    a, b = met(x, y)
    a, b = kept(a), kept(b)
    right = b[..., None] if y.ndim == 1 else b
    batch = np.broadcast_shapes(x.shape[:-2], right.shape[:-2])
    shape = (*batch, *(y.shape if y.ndim == 1 else y.shape[-2:]))

    def judge(got):
        if said := typed(
            got, shape, "complex64" if np.dtype(meeting(x, y)).kind == "c" else "float32"
        ):
            return said
        z = wide(got)[..., None] if y.ndim == 1 else wide(got)
        spread = np.broadcast_to(a, (*batch, *a.shape[-2:]))
        return (
            small(spread @ z - right, 2 * bound_of(x) * norm(spread) * norm(z) + 1e-30, "a @ x")
            if z.size
            else ""
        )

    return Judged(judge)


@st.composite
def systems(draw):
    x = draw(matrices(kind="regular"))
    n, dtype = x.host.shape[-1], x.host.dtype.name
    if draw(st.integers(0, 2)) == 0:
        return (x, draw(numbers(dtype, (n,)))), {}
    batch = draw(broadcasting(x.host.shape[:-2]))
    return (x, draw(numbers(dtype, (*batch, n, draw(st.sampled_from([1, 3, 17])))))), {}


row("linalg.solve", systems(), solve)


def inverse(x):
    a = kept(x)
    eye = np.eye(x.shape[-1])
    return judged(
        x, x.shape, lambda z: (a @ z - eye, 2 * bound_of(x) * norm(a) * norm(z), "a @ inv")
    )


row("linalg.inv", call(matrices(kind="regular")), inverse)


def determinant(x):
    a = kept(x)
    value = np.linalg.det(a) if x.size else np.ones(x.shape[:-2])
    # Of matrices that are next to diagonal each pivot is right within some units.
    return within(value, 40 * (x.shape[-1] + 1), kind_of(x))


row("linalg.det", call(matrices(kind="regular")), determinant)


def slogdet(x):
    a = kept(x)
    sign, logs = np.linalg.slogdet(a) if x.size else (np.ones(x.shape[:-2]), np.zeros(x.shape[:-2]))
    off = 40 * (x.shape[-1] + 1) * 2.0**-23
    return [Within(sign, off, kind_of(x)), Within(logs, off + 2.0**-22 * np.abs(logs), "float32")]


row("linalg.slogdet", call(matrices(kind="regular")), slogdet)


def matrix_power(x, n):
    a = kept(x)
    value = np.linalg.matrix_power(a, n)
    steps = (
        np.linalg.matrix_power(np.abs(np.linalg.inv(a) if n < 0 else a), abs(n))
        if x.size
        else value
    )
    largest = np.max(np.abs(steps), (-2, -1), keepdims=True, initial=0)
    return Within(value, 4e-6 * (abs(n) + 1) * max(1, x.shape[-1]) * largest, kind_of(x))


row("linalg.matrix_power", call(matrices(kind="regular"), st.integers(-2, 5)), matrix_power)


def orthonormal(q):
    return (
        adjoint(q) @ q - np.eye(q.shape[-1]),
        1e-6 * max(1, q.shape[-2]) ** 0.5 * max(1, q.shape[-1]),
        "Q* Q",
    )


def qr(x, mode):
    m, n = x.shape[-2:]
    k = min(m, n) if mode == "reduced" else m
    a = kept(x)

    def judge(q, r):
        said = typed(q, (*x.shape[:-2], m, k), kind_of(x)) or typed(
            r, (*x.shape[:-2], k, n), kind_of(x)
        )
        if said or not x.size:
            return said
        q, r = wide(q), wide(r)
        count = q[..., 0, 0].size ** 0.5
        gram, bound, what = orthonormal(q)
        return (
            small(q @ r - a, bound_of(x) * norm(a), "Q R")
            or small(gram, bound * count, what)
            or small(np.tril(r, -1), 0, "the lower half of R")
        )

    return Together(2, judge)


row("linalg.qr", call(matrices(square=False), mode=st.sampled_from(["reduced", "complete"])), qr)


def half(x):
    """The Hermitian matrix whose lower half is all that is looked at."""
    a = kept(x)
    lower = np.tril(a, -1)
    diagonal = np.real(np.diagonal(a, 0, -2, -1))
    return lower + adjoint(lower) + diagonal[..., None] * np.eye(a.shape[-1])


def eigh(x):
    a = half(x)
    n = x.shape[-1]

    def judge(values, vectors):
        said = typed(values, x.shape[:-1], "float32") or typed(vectors, x.shape, kind_of(x))
        if said or not x.size:
            return said
        v, w = wide(vectors), wide(values)
        count = w[..., 0].size ** 0.5
        bound = 4e-6 * n**0.5 * (norm(a) + 1e-30)
        return (
            small(a @ v - v * w[..., None, :], bound, "A V - V L")
            or small(adjoint(v) @ v - np.eye(n), 4e-6 * n * count, "V* V")
            or ("" if (np.diff(values) >= 0).all() else "eigenvalues are not ascending")
        )

    return Together(2, judge)


def eigenvalues(x):
    a = half(x)
    value = np.linalg.eigvalsh(a) if x.size else np.zeros(x.shape[:-1])
    size = np.linalg.norm(a, axis=(-2, -1))[..., None] if x.size else 0.0
    return Within(value, 2e-6 * max(1, x.shape[-1]) ** 0.5 * size, "float32")


row("linalg.eigh", call(matrices()), eigh)
row("linalg.eigvalsh", call(matrices()), eigenvalues)


def singular_values(x):
    value = np.linalg.svdvals(kept(x)) if x.size else np.zeros((*x.shape[:-2], min(x.shape[-2:])))
    size = value.max(-1, keepdims=True, initial=0)
    return Within(value, 2e-6 * max(1, *x.shape[-2:]) ** 0.5 * size, "float32")


def svd(x, full_matrices):
    m, n = x.shape[-2:]
    k = min(m, n)
    a = kept(x)
    batch = x.shape[:-2]

    def judge(u, s, vh):
        said = (
            typed(u, (*batch, m, m if full_matrices else k), kind_of(x))
            or typed(s, (*batch, k), "float32")
            or typed(vh, (*batch, n if full_matrices else k, n), kind_of(x))
        )
        if said or not x.size:
            return said
        u, vh = wide(u), wide(vh)
        count = s[..., 0].size ** 0.5
        again = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
        size = max(m, n)
        return (
            singular_values(x).complaint(s)
            or small(again - a, 4e-6 * size**0.5 * (norm(a) + 1e-30), "U S Vh")
            or small(adjoint(u) @ u - np.eye(u.shape[-1]), 4e-6 * size * count, "U* U")
            or small(vh @ adjoint(vh) - np.eye(vh.shape[-2]), 4e-6 * size * count, "Vh Vh*")
        )

    return Together(3, judge)


row("linalg.svd", call(matrices(square=False), full_matrices=st.booleans()), svd)
row("linalg.svdvals", call(matrices(square=False)), singular_values)


@st.composite
def ranked(draw):
    """A product of two thin factors of small whole numbers: NumPy knows its rank in float64."""
    m, n = draw(st.sampled_from([3, 2, 5, 9])), draw(st.sampled_from([3, 4, 1, 7]))
    k = draw(st.integers(0, 3))
    a, b = draw(data("int32", (m, k), "mild")), draw(data("int32", (k, n), "mild"))
    return (Operand((a @ b).astype(draw(st.sampled_from(["float32", "int32", "complex64"])))),), {}


row(
    "linalg.matrix_rank",
    ranked(),
    lambda x: np.asarray(np.linalg.matrix_rank(wide(x))).astype("i4"),
)


def pseudo_inverse(x):
    a = kept(x)
    m, n = x.shape[-2:]

    def residual(z):
        return a @ z @ a - a, 40 * bound_of(x) * (norm(a) ** 2 * norm(z) + 1e-30), "a pinv a"

    return judged(x, (*x.shape[:-2], n, m), residual)


row("linalg.pinv", ranked(), pseudo_inverse)
