"""Which nodes are computed on the way to another, and which get a launch of their own.

Nodes are met consumers first, so that when a node's turn comes, everybody who reads it has a
group. It joins that group (is fused) when all its consumers are in one and the group stays within
the device's storage buffers and `MAX_MEMBERS`; else it begins a group of its own:

- an elementwise node joins at any place of its consumer, also behind views, unless that would
  compute a long expression many times over (`CHEAP`): what a live array shows will be computed
  again for its next reader, and what is broadcast again for each element;
- a reduction, row operation, matrix product or the like joins as the core of a group of
  elementwise nodes, which then follow it; what comes before it joins too where its kernel walks
  over elements (`table.PROLOGUE`).

Numbers, ranges and views cost nothing and belong to whoever reads them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from aiogpu.graph import table
from aiogpu.shapes import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiogpu.graph.node import Node
    from aiogpu.limits import Limits
    from aiogpu.shapes import Shape

MAX_MEMBERS: Final = 64
CHEAP: Final = 8  # operations that may be repeated
FREE: Final = frozenset({"constant", "iota", "view"})
CORES: Final = table.PROLOGUE | {"matmul", "conv", "attention", "gather", "along", "bisect"}


def resolve(node: Node, space: Shape) -> tuple[Node, View | None]:
    """Who owns the elements of ``node``, and where they lie in it for each element of ``space``.

    The view is None where each lies at its own number.
    """
    if node.op is table.VIEW and not node.is_done:
        assert node.attrs is not None
        how: View = node.attrs["view"]
        owner = node.inputs[0]
        if node.shape != space:
            how = how.broadcast_to(space, node.op.name)
        return owner, how
    if node.shape == space:
        return node, None
    return node, View.contiguous(node.shape).broadcast_to(space, node.op.name)


def is_number(node: Node) -> bool:
    """Whether ``node`` is a constant that lies nowhere."""
    return node.op is table.CONSTANT and not node.is_done


def reinterprets(node: Node) -> bool:
    """Whether ``node`` is a view that takes its owner's bits as another dtype."""
    return node.op is table.VIEW and not node.is_done and node.inputs[0].dtype is not node.dtype


def in_memory(node: Node) -> tuple[Node, ...]:
    """The operands of a core that it reads as they lie: a kernel's numbers are none of them."""
    if node.op.family != "kernel":
        return node.inputs
    assert node.attrs is not None
    return node.inputs[: node.attrs["narrays"]]


def _is_read(operand: Node, owner: Node) -> bool:
    """Whether an operand is read from memory or computed from what is: not so for numbers."""
    return owner.is_done or owner.op.family not in {"constant", "iota"} or reinterprets(operand)


class Zone:
    """A part of a group that runs over one space: what comes before its core, or all else.

    Attributes:
        spaces: The shape at each place; place 0 is the space itself.
        is_direct: Whether each place has the space's elements in the space's own order.
    """

    __slots__ = ("_numbers", "is_direct", "spaces")

    def __init__(self, space: Shape) -> None:
        self.spaces = [space]
        self.is_direct = [True]
        self._numbers: dict[tuple[int, View, Shape], int] = {}

    def place(self, parent: int, how: View, shape: Shape) -> int:
        """The number of the place that a view leads to from another."""
        number = self._numbers.get((parent, how, shape))
        if number is None:
            number = self._numbers[parent, how, shape] = len(self.spaces)
            self.spaces.append(shape)
            self.is_direct.append(
                self.is_direct[parent]
                and how.is_contiguous
                and how.offset == 0
                and prod(how.shape) == prod(shape)
            )
        return number


class Spot(NamedTuple):
    """Where a group reads a node."""

    group: Group
    zone: Zone
    place: int


class Group:
    """One launch, or one program of several: a root and the nodes that are computed for it.

    Attributes:
        root: Whose value it computes.
        core: The member whose family's kernel does the work, if it is not the root.
        members: The elementwise nodes that are computed on the way.
        reads: The nodes that it reads from memory.
        base: The one among its operands whose memory it takes over.
        zone: Its elements.
    """

    __slots__ = ("base", "core", "members", "reads", "root", "zone")

    def __init__(self, root: Node, space: Shape) -> None:
        self.root = root
        self.core: Node | None = None
        self.members: set[Node] = set()
        self.reads: set[Node] = set()
        self.base: Node | None = None
        self.zone = Zone(space)


class Plan:
    """The groups of some nodes, which are in order, operands first.

    Attributes:
        groups: The groups, each after those that it reads.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        asked: Iterable[Node],
        noutside: int,
        limits: Limits,
        *,
        fuse: bool,
    ) -> None:
        self._most = limits.max_storage_buffers - 1  # one is the output
        self._fuse = fuse
        self._standing = set(asked)  # what must lie in memory
        self._spots: dict[Node, dict[Spot, None]] = {}
        self._length = self._lengths(nodes[noutside:])
        self.groups: list[Group] = []
        for at in range(len(nodes) - 1, -1, -1):
            node = nodes[at]
            if node.is_done or (at < noutside and node.op.family not in FREE):
                continue
            if node in self._standing or (node.op.family not in FREE and not self._joins(node)):
                self._begin(node)
        self.groups.reverse()

    def _lengths(self, nodes: Sequence[Node]) -> dict[Node, int]:
        """How many operations computing each node takes, from what will lie in memory."""
        lengths: dict[Node, int] = {}
        for node in nodes:
            family = node.op.family
            length = 0
            if not node.is_done and family in {"elementwise", "view"}:
                length = sum([lengths.get(operand, 0) for operand in node.inputs])
                if family == "elementwise":
                    length += node.op.length
                if length > CHEAP and node.holders:
                    length = 0
            lengths[node] = length
        return lengths

    # A group of its own

    def _begin(self, node: Node) -> None:
        family = node.op.family
        space = node.inputs[1].shape if family == "store" else node.shape
        group = Group(node, space)
        self.groups.append(group)
        if family == "store":
            self._stand(node.inputs[0])
            self._use(Spot(group, group.zone, 0), node.inputs[1])
        elif family == "view":
            self._begin_view(group, node)
        elif family == "elementwise":
            for operand in node.inputs:
                self._use(Spot(group, group.zone, 0), operand)
        else:
            self._begin_core(group, node)

    def _begin_view(self, group: Group, node: Node) -> None:
        """A view that must lie in memory: the owner's own memory serves where it is all of it."""
        assert node.attrs is not None
        how: View = node.attrs["view"]
        owner = node.inputs[0]
        if how.is_contiguous and how.offset == 0 and owner.op is not table.IOTA:
            self._stand(owner)
            group.reads.add(owner)
        else:
            self._use(Spot(group, group.zone, 0), node)

    def _begin_core(self, group: Group, node: Node) -> None:
        if node.op.family in table.PROLOGUE:
            zone = Zone(node.inputs[0].shape)
            self._use(Spot(group, zone, 0), node.inputs[0])
        else:
            for operand in in_memory(node):
                owner = resolve(operand, operand.shape)[0]
                self._stand(owner)
                group.reads.add(owner)

    def _stand(self, node: Node) -> None:
        if not node.is_done:
            self._standing.add(node)

    def _use(self, spot: Spot, operand: Node) -> None:
        """A group needs the value of ``operand`` at a place."""
        owner, how = resolve(operand, spot.zone.spaces[spot.place])
        if not _is_read(operand, owner) or owner is spot.group.base:
            return
        spot.group.reads.add(owner)
        if owner.is_done:
            return
        if reinterprets(operand):
            self._stand(owner)
            return
        if how is not None:
            spot = spot._replace(place=spot.zone.place(spot.place, how, owner.shape))
        self._spots.setdefault(owner, {})[spot] = None

    # Joining

    def _joins(self, node: Node) -> bool:
        """Let ``node`` join its consumers' group, if it can."""
        spots = self._spots.get(node)
        if not self._fuse or not spots:
            return False
        if node.op.family == "elementwise":
            return self._joins_elements(node, list(spots))
        if node.op.family in CORES and len(spots) == 1 and not node.holders:
            return self._joins_core(node, next(iter(spots)))
        return False

    def _joins_elements(self, node: Node, spots: Sequence[Spot]) -> bool:
        length = self._length[node]
        if node.holders and length == 0:  # long, and shown by an array
            return False
        if len(spots) > 1 and not self._repeats(node):
            return False
        if length > CHEAP and any(
            node.nelems < prod(spot.zone.spaces[0]) for spot in spots
        ):  # broadcast: computed again for each element
            return False
        if not all(self._fits(spot, node) for spot in spots):
            return False
        for spot in spots:
            spot.group.members.add(node)
            spot.group.reads.discard(node)
            for operand in node.inputs:
                self._use(spot, operand)
        return True

    def _repeats(self, node: Node) -> bool:
        """Whether computing ``node`` for each reader costs no more than reading it would."""
        operands = [operand for operand in node.inputs if not is_number(operand)]
        return self._length[node] <= 1 and len(operands) <= 1

    def _fits(self, spot: Spot, node: Node) -> bool:
        group = spot.group
        if len(group.members) >= MAX_MEMBERS:
            return False
        space = spot.zone.spaces[spot.place]
        new = {
            owner
            for operand in node.inputs
            for owner in (resolve(operand, space)[0],)
            if owner not in group.reads and _is_read(operand, owner)
        }
        most = self._most - (group.core is not None or group.root.op.family in table.PROLOGUE)
        over = len(group.reads) - (node in group.reads) + len(new) - most
        if over <= 0:
            return True
        return over == 1 and self._takes_over(spot, node)

    def _takes_over(self, spot: Spot, node: Node) -> bool:
        """Make the group compute into the memory of an operand of ``node``: one binding less."""
        group = spot.group
        root = group.root
        if group.base is not None or group.core is not None or root.op.family != "elementwise":
            return False
        if spot.place != 0 or spot.zone is not group.zone or len(self._spots[node]) > 1:
            return False
        for operand in node.inputs:
            if (
                not operand.is_done
                and operand.op.family not in FREE
                and operand.dtype is root.dtype
                and operand.shape == root.shape
                and operand.consumers == 1
                and not operand.holders
            ):
                group.base = operand
                self._standing.add(operand)
                return True
        return False

    def _joins_core(self, node: Node, spot: Spot) -> bool:
        """Make ``node`` the core of a group of elementwise nodes, which follow it."""
        group = spot.group
        if (
            group.core is not None
            or group.base is not None
            or group.root.op.family not in {"elementwise", "store"}
            or spot.zone is not group.zone
            or not group.zone.is_direct[spot.place]
            or node.nelems != prod(group.zone.spaces[0])
        ):
            return False
        reads = group.reads - {node}
        if len(reads) + len(node.inputs) + 1 > self._most:
            return False
        group.core = node
        group.reads = reads
        self._begin_core(group, node)
        return True
