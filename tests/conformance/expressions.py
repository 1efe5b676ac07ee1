"""Random expressions as plain data, computed by NumPy or by aiogpu; shipped to the worker as text.

An expression is a list: the operation's name, then its operands. tests/browser makes them.
"""

import numpy as np

import aiogpu as gpu


def run(expression, xp):
    """The value of an expression by ``xp``: NumPy, or aiogpu."""
    kind, *rest = expression
    return FORMS.get(kind, _operation)(xp, kind, *rest)


def _leaf(xp, _, dtype, shape, seed):
    values = np.random.default_rng(seed).integers(0, 7, tuple(shape))
    host = (values if dtype == "uint8" else values - 3).astype(dtype)
    return host if xp is np else gpu.asarray(host)


def _view(xp, kind, operand):
    x = run(operand, xp)
    return VIEWS[kind](x, xp) if x.ndim and 0 not in x.shape else x


def _transpose(x, xp):
    axes = tuple(reversed(range(x.ndim)))
    return x.transpose(axes) if xp is np else gpu.permute_dims(x, axes)


VIEWS = {
    "flip": lambda x, _: x[::-1],
    "transpose": _transpose,
    "first": lambda x, _: x[0],
    "every_other": lambda x, _: x[..., ::2],
    "new_axis": lambda x, _: x[None] if x.ndim < 4 else x,
    "flat": lambda x, _: x.reshape(-1),
}


def _cast(xp, _, operand, dtype):
    return run(operand, xp).astype(dtype)


def _reduce(xp, kind, operand, axis, keepdims):
    x = run(operand, xp)
    axis = axis if axis < x.ndim else None
    if xp is gpu:
        made = getattr(gpu, kind)(x, axis=axis, keepdims=keepdims)
        return made.astype("int32") if made.dtype is gpu.uint32 else made
    if kind == "sum" and x.dtype == np.uint8:  # uint32 in both, and no further promotion here
        return np.asarray(np.sum(x, axis, dtype="u4", keepdims=keepdims)).astype("i4")
    extra = {"dtype": x.dtype} if kind == "sum" else {}
    return np.asarray(getattr(np, kind)(x, axis, keepdims=keepdims, **extra))


def _where(xp, _, comparison, *operands):
    first, second, third = (run(operand, xp) for operand in operands)
    first, second = _meet(first, second)
    chosen = _meet(second, third)
    return xp.where(getattr(xp, comparison)(first, second), *chosen)


def _assign(xp, _, target, value):
    x, y = run(target, xp).copy(), run(value, xp)
    if x.ndim:
        x[0] = y.reshape(-1)[:1].astype(x.dtype).reshape(())
    return x


def _operation(xp, kind, operand, *rest):
    x = run(operand, xp)
    if not rest:
        return getattr(xp, kind)(x)
    if rest[0][0] != "number":
        return getattr(xp, kind)(*_meet(x, run(rest[0], xp)))
    number = abs(rest[0][1]) if _name(x) == "uint8" else rest[0][1]
    return getattr(xp, kind)(x, x.dtype.type(number) if xp is np else number)


def _name(x):
    return str(getattr(x.dtype, "name", x.dtype))


def _meet(*values):
    """All in one dtype, so that NumPy's wider promotions do not come in."""
    kinds = {_name(value) for value in values}
    if len(kinds) == 1:
        return values
    return [value.astype("float32" if "float32" in kinds else "int32") for value in values]


FORMS = {
    "leaf": _leaf,
    "cast": _cast,
    "where": _where,
    "assign": _assign,
    **dict.fromkeys(VIEWS, _view),
    **dict.fromkeys(("sum", "max", "min"), _reduce),
}


def wanted(expression):
    """NumPy's value; None where the shapes do not fit, and aiogpu must refuse as well."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(run(expression, np))
        except ValueError:
            return None


def is_refused(expression):
    """Whether aiogpu says that the shapes do not fit."""
    try:
        run(expression, gpu)
    except gpu.errors.ShapeError:
        return True
    return False


async def check(expressions):
    """Compute all of them; how many had a value, and those of which it was another than NumPy's."""
    values = [wanted(expression) for expression in expressions]
    pairs = [(e, v) for e, v in zip(expressions, values, strict=True) if v is not None]
    failed = [
        (e, "not refused")
        for e, v in zip(expressions, values, strict=True)
        if v is None and not is_refused(e)
    ]
    reads = await gpu.read(*(run(expression, gpu) for expression, _ in pairs))
    for (expression, value), read in zip(pairs, reads, strict=True):
        is_same = (read.dtype, read.shape) == (value.dtype, value.shape)
        if not is_same or not np.array_equal(read, value):
            failed.append((expression, f"{read!r} is not {value!r}"))
    return len(pairs), failed
