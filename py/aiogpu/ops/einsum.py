"""Sums of products over named axes, after Einstein."""

from __future__ import annotations

import itertools
from collections import Counter
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aiogpu import dtypes, shapes
from aiogpu.array import Array
from aiogpu.errors import ShapeError, UsageError
from aiogpu.graph import build, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiogpu.graph.node import Node

_DOTS = "..."


class _Term(NamedTuple):
    """An operand, and the name of each of its axes: a letter, or a number counted from the back."""

    labels: tuple[str, ...]
    node: Node


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """Products of arrays, summed over axes that are named and not asked for.

    ``einsum("ij,jk->ik", a, b)`` is a matrix product, ``einsum("ii", a)`` a trace. Pairs of
    operands are contracted one after another, those first that leave the least behind (the greedy
    order of Smith and Gray, "opt_einsum", 2018): by `matmul` where an axis is summed over, by
    products where none is. Repeated letters of an operand take its diagonal, as a view.

    Args:
        subscripts: The letters of each operand's axes, separated by commas; then ``->`` and the
            letters of the result, by default those that occur once, in alphabetical order. ``...``
            stands for all other axes, which broadcast.
        operands: Numeric; the dtypes promote. Axes of one name are of one size, or of size 1.

    Returns:
        The axes that ``subscripts`` names, in the dtype to which the operands promote: integers
        wrap to its width, float16 accumulates in float32.

    Raises:
        UsageError: ``subscripts`` cannot be read, or names another number of operands or axes.
        ShapeError: Axes of one name differ in size.
        DTypeError: The dtypes do not promote, or are bool.
    """
    if not operands:
        raise UsageError("einsum: no arrays: needs at least one")
    nodes = [x._node for x in operands]
    named, wanted = _parse(subscripts, [node.shape for node in nodes])
    dtype = build.promotion(nodes, "einsum")
    build.check_kind(table.MATMUL, dtype)
    sizes = _sizes(subscripts, named, [node.shape for node in nodes])
    wide = dtypes.FLOAT if dtype is dtypes.float16 else dtype
    terms = [
        _diagonal(_Term(labels, build.cast(node, wide)), sizes)
        for labels, node in zip(named, nodes, strict=True)
    ]
    result = _finish(_contract(terms, wanted, sizes), wanted, sizes)
    return Array(build.cast(result, dtype))


# Reading the subscripts


def _parse(
    subscripts: str, given: Sequence[shapes.Shape]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The names of the operands' axes, and those of the result."""
    text = "".join(subscripts.split())
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(given):
        raise UsageError(
            f"einsum: {subscripts!r}: names {len(parts)} operands; {len(given)} were given"
        )
    named = [
        _labels(subscripts, part, len(shape)) for part, shape in zip(parts, given, strict=True)
    ]
    dots = sorted({label for labels in named for label in labels if not label.isalpha()}, key=int)
    if arrow:
        wanted = _labels(subscripts, output, len(output.replace(_DOTS, "")) + len(dots))
    else:
        counts = Counter(label for part in parts for label in part.replace(_DOTS, ""))
        wanted = (*dots, *sorted(label for label, count in counts.items() if count == 1))
    known = {label for labels in named for label in labels}
    if len(set(wanted)) != len(wanted) or not known.issuperset(wanted):
        raise UsageError(
            f"einsum: {subscripts!r}: the result's axes must be among the operands', each once"
        )
    return named, wanted


def _labels(subscripts: str, part: str, rank: int) -> tuple[str, ...]:
    """The names of ``rank`` axes: letters, and numbers from the back for those of an ellipsis."""
    before, dots, after = part.partition(_DOTS)
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise UsageError(f"einsum: {subscripts!r}: {part!r}: takes letters and one ellipsis")
    hidden = rank - len(letters)
    if hidden < 0 or (hidden and not dots):
        raise UsageError(
            f"einsum: {subscripts!r}: {part!r} names {len(letters)} axes of an operand with {rank}"
        )
    return (*before, *(str(at) for at in range(-hidden, 0)), *after)


def _sizes(
    subscripts: str, named: Sequence[Sequence[str]], given: Sequence[shapes.Shape]
) -> dict[str, int]:
    """The size of each named axis; size 1 broadcasts."""
    sizes: dict[str, int] = {}
    for labels, shape in zip(named, given, strict=True):
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in {1, known}:
                raise ShapeError(
                    f"einsum: {subscripts!r}: axis {label!r} of sizes {known} and {size}"
                )
    return sizes


# Contracting


def _diagonal(term: _Term, sizes: Mapping[str, int]) -> _Term:
    """A term whose axes are each named once; those that broadcast are left out."""
    _, how = build.view_of(term.node)
    strides: dict[str, int] = {}
    for label, size, stride in zip(term.labels, how.shape, how.strides, strict=True):
        if size == sizes[label]:
            strides[label] = strides.get(label, 0) + stride
    if len(strides) == len(term.labels):
        return term
    shape = tuple(sizes[label] for label in strides)
    view = how._replace(shape=shape, strides=tuple(strides.values()))
    return _Term(tuple(strides), build.view(term.node, view))


def _contract(terms: list[_Term], wanted: Sequence[str], sizes: Mapping[str, int]) -> _Term:
    """All terms in one, with at least the axes of the result."""
    left = list(terms)
    while len(left) > 1:
        one, two = min(
            itertools.combinations(range(len(left)), 2),
            key=lambda pair: _growth(left, pair, wanted, sizes),
        )
        needed = _needed([t for at, t in enumerate(left) if at not in {one, two}], wanted)
        joined = _join(left[one], left[two], needed, sizes)
        left = [t for at, t in enumerate(left) if at not in {one, two}]
        left.append(joined)
    return left[0]


def _needed(others: Iterable[_Term], wanted: Sequence[str]) -> set[str]:
    return set(wanted).union(*(term.labels for term in others))


def _growth(
    left: Sequence[_Term], pair: tuple[int, int], wanted: Sequence[str], sizes: Mapping[str, int]
) -> int:
    """By how many elements contracting a pair makes the terms larger."""
    one, two = (left[at] for at in pair)
    needed = _needed([term for at, term in enumerate(left) if at not in pair], wanted)
    kept = (set(one.labels) | set(two.labels)) & needed
    return prod(sizes[label] for label in kept) - one.node.nelems - two.node.nelems


def _join(one: _Term, two: _Term, needed: set[str], sizes: Mapping[str, int]) -> _Term:
    """The product of two terms, summed over the axes that nobody needs any more."""
    one = _sum(one, needed | set(two.labels))
    two = _sum(two, needed | set(one.labels))
    shared = [label for label in one.labels if label in two.labels]
    summed = [label for label in shared if label not in needed]
    batch = [label for label in shared if label in needed]
    rows = [label for label in one.labels if label not in shared]
    columns = [label for label in two.labels if label not in shared]
    if summed and (rows or columns):
        left = _matrix(one, [batch, rows, summed], sizes)
        right = _matrix(two, [batch, summed, columns], sizes)
        labels = (*batch, *rows, *columns)
        shape = tuple(sizes[label] for label in labels)
        return _Term(labels, build.reshape(build.matmul(left, right), shape))
    labels = (*batch, *rows, *columns, *summed)
    product = build.elementwise("multiply", _spread(one, labels), _spread(two, labels))
    return _sum(_Term(labels, product), needed)


def _sum(term: _Term, kept: set[str]) -> _Term:
    """A term summed over the axes that are not kept, in its own dtype."""
    axes = tuple(at for at, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    total = build.reduction("sum", term.node, axes, keepdims=False)
    labels = tuple(label for label in term.labels if label in kept)
    return _Term(labels, build.cast(total, term.node.dtype))


def _matrix(term: _Term, groups: Sequence[Sequence[str]], sizes: Mapping[str, int]) -> Node:
    """A term as matrices, one axis for each of the last two groups; the first group stays."""
    order = [term.labels.index(label) for group in groups for label in group]
    batch, *others = groups
    shape = [sizes[label] for label in batch]
    shape += [prod(sizes[label] for label in group) for group in others]
    return build.reshape(build.permute(term.node, order), tuple(shape))


def _spread(term: _Term, labels: Sequence[str]) -> Node:
    """A term with its axes in the order of ``labels``, and size 1 for those that it has not."""
    order = [term.labels.index(label) for label in labels if label in term.labels]
    node = build.permute(term.node, order)
    shape = iter(node.shape)
    return build.reshape(
        node, tuple(next(shape) if label in term.labels else 1 for label in labels)
    )


def _finish(term: _Term, wanted: Sequence[str], sizes: Mapping[str, int]) -> Node:
    """The result: summed over what is left, its axes in the order that is asked for."""
    term = _sum(term, set(wanted))
    node = _spread(term, wanted)
    return build.broadcast_to(node, tuple(sizes[label] for label in wanted), "einsum")
