"""A planned task becomes commands on the stream, and its node gets a value or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiogpu.errors import AioGpuError, DeviceLostError
from aiogpu.graph import table
from aiogpu.plan import output_nbytes
from aiogpu.program import FAULTS
from aiogpu.runtime.pool import Buffer
from aiogpu.runtime.transfer import HostData

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from aiogpu.graph.node import Node
    from aiogpu.plan import Task
    from aiogpu.program import Launch
    from aiogpu.runtime.runtime import Runtime


def is_ready(runtime: Runtime, task: Task) -> bool:
    """Whether nothing is to be uploaded or compiled before a task can run."""
    return all(source.value.__class__ is not HostData for source in task.sources) and all(
        map(runtime.pipelines.has, task.program.launches)
    )


async def upload(runtime: Runtime, node: Node) -> None:
    """Upload a node's value, chunk by chunk, where it is on the host.

    Raises:
        AioGpuError: It cannot be; it stays on the host.
    """
    host = _host(runtime, node)
    if host is not None:
        _keep(node, host, await runtime.transfer.upload_in_chunks(host, "array"))


async def upload_sources(runtime: Runtime, task: Task) -> None:
    """Upload what a task reads from the host; it fails where that is not possible."""
    try:
        for source in task.sources:
            await upload(runtime, source)
    except AioGpuError as error:
        task.node.fail(error)


def buffer(runtime: Runtime, node: Node) -> Buffer:
    """The buffer of a node that has a value; what is on the host is uploaded.

    Raises:
        AioGpuError: Its bytes are spoiled, or its device was lost.
    """
    if node.error is not None:
        raise node.error
    host = _host(runtime, node)
    if host is not None:
        _keep(node, host, runtime.transfer.upload(host, "array"))
    value = node.value
    assert isinstance(value, Buffer)
    runtime.check_owner(value, node.op.name)
    return value


def _host(runtime: Runtime, node: Node) -> HostData | None:
    """The host data that must be uploaded before a node can be bound."""
    value = node.value
    if isinstance(value, Buffer) and value.pool is not runtime.pool and value.host is not None:
        value = value.host  # its device was lost
    return value if isinstance(value, HostData) else None


def _keep(node: Node, host: HostData, value: Buffer) -> None:
    value.host = host if host.is_kept else None
    node.value = value


def run(runtime: Runtime, task: Task) -> Generator[None]:
    """Record a task; afterwards its node has a value or an error.

    To be iterated to the end: what comes are the submits that it fills, each after it went out, so
    that the caller can wait where too many are in flight.
    """
    node = task.node
    try:
        if node.is_done:  # another plan was here meanwhile
            return
        runtime.check_alive()
        slots = [_bound(runtime, source) for source in task.sources]
        value = _outputs(runtime, task, slots)
        for launch, params in zip(task.program.launches, task.params, strict=True):
            yield from _record(runtime, launch, params, slots, node)
        node.resolve(value)
    except AioGpuError as error:
        # An array of a device that was lost before says nothing about this one.
        if isinstance(error, DeviceLostError) and runtime.lost_reason is not None:
            runtime.stream.is_lost = True
        node.fail(error)
    finally:
        task.release()


def _bound(runtime: Runtime, source: Node) -> Any:  # noqa: ANN401 - a buffer, or several
    """The value of ``source``, to be bound.

    Raises:
        AioGpuError: What the source failed with.
    """
    value = source.value
    if value.__class__ is Buffer and value.pool is runtime.pool and value.error is None:
        return value
    return value if value.__class__ is tuple else buffer(runtime, source)


def _outputs(runtime: Runtime, task: Task, slots: list[Any]) -> Any:  # noqa: ANN401 - the same
    """What the task's node will have as its value; appends what the launches bind to ``slots``."""
    node = task.node
    if node.op is table.PICK:
        assert node.attrs is not None
        return slots[0][node.attrs["index"]]
    if task.is_alias:
        slots[0].is_shared = True
        return slots[0]
    pool = runtime.pool
    if task.base is None:
        # A kernel's output may begin with the bytes of an operand, which it changes.
        changed: dict[int, int] = node.attrs.get("changed", {}) if node.attrs else {}
        bases = {at: node.inputs[operand] for at, operand in changed.items()}
        made = [
            _successor(runtime, bases[at], slots[task.inputs.index(bases[at])])
            if at in bases
            else pool.allocate(nbytes, node.op.name)
            for at, nbytes in enumerate(output_nbytes(node))
        ]
    else:
        made = [_successor(runtime, task.base, slots.pop())]
    slots += made
    for nbytes in task.program.temporaries:
        slots.append(pool.allocate(nbytes, node.op.name))
    return made[0] if len(made) == 1 else tuple(made)


def _record(
    runtime: Runtime, launch: Launch, params: tuple[int, ...], slots: list[Buffer], node: Node
) -> Iterable[None]:
    """Record a launch; what comes out of it, one after another, are the submits it filled."""
    if launch.fault_at is None:
        buffers = [slots[at] for at in launch.bindings]
    else:
        faults = runtime.faults
        buffers = [slots[at] if at != FAULTS else faults.buffer() for at in launch.bindings]
        params = faults.arm(launch, params, node.origin)
    return runtime.launch(launch, params, buffers, node.made)


def _successor(runtime: Runtime, base: Node, old: Buffer) -> Buffer:
    """A buffer with the bytes of ``base``, to be changed: its own if nobody else can see it."""
    is_last = base.holders == 0 and base.consumers == 1 and base.readers == 1
    if is_last and not old.is_shared and old.host is None:
        serial = old.serial
        new = runtime.pool.inherit(old)
        runtime.stream.follow(serial, new)
        return new
    new = runtime.pool.allocate(old.nbytes, "store")
    runtime.stream.copy(old, new, -(-old.nbytes // 4) * 4)
    return new
