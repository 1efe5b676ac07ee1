import pytest

from aiogpu.errors import DeviceError, KernelError, OutOfMemoryError
from aiogpu.gpu.protocol import Failure
from aiogpu.program import Launch


def submit(runtime, *launches):
    """One submit of (label, reads, writes) each."""
    for label, reads, writes in launches:
        buffers = [*reads, *writes]
        mask = sum(1 << (len(reads) + at) for at in range(len(writes)))
        made = Launch("text", label, tuple(range(len(buffers))), mask, (0,), "immediate", 1)
        pipeline = runtime.pipelines.now(made)
        runtime.stream.dispatch(pipeline, made, made.params, buffers, None, (submit.__code__, 0))
    runtime.stream.flush()


@pytest.fixture
def made(runtime):
    return [runtime.pool.allocate(100, "test") for _ in range(6)]


@pytest.fixture
def unfinished(runtime, monkeypatch):
    """Nothing is known of any submit."""
    monkeypatch.setattr(type(runtime.recorder), "_status", lambda self: 99)


def test_a_bad_submit_spoils_what_it_wrote_and_what_stands_on_it(runtime, made, unfinished):
    x, good, bad, child, grandchild, other = made
    submit(runtime, ("fine", [x], [good]))
    submit(runtime, ("broken", [x], [bad]))
    submit(
        runtime,
        ("next", [bad], [child]),
        ("last", [child], [grandchild]),
        ("else", [good], [other]),
    )
    runtime.ledger.blame([Failure("submit", 2, "GPUValidationError", "no such thing")])
    assert [b.error is None for b in made] == [True, True, False, False, False, True]
    assert bad.error is child.error is grandchild.error
    assert isinstance(bad.error, KernelError)
    line = f"{__file__}:{submit.__code__.co_firstlineno}"
    assert str(bad.error) == f"broken (line {line}): the device refused the submit: no such thing"


def test_later_versions_in_the_same_memory_are_not_spoiled(runtime, made, unfinished):
    x, *_ = made
    bad = runtime.pool.allocate(5000, "test")
    submit(runtime, ("broken", [x], [bad]))
    number = bad.id
    del bad
    fresh = runtime.pool.allocate(5000, "test")
    assert fresh.id == number
    submit(runtime, ("fine", [x], [fresh]))
    runtime.ledger.blame([Failure("submit", 1, "GPUValidationError", "no")])
    assert fresh.error is None


def test_a_shader_that_does_not_compile_explains_its_submit(runtime, made, unfinished):
    x, bad, *_ = made
    submit(runtime, ("broken", [x], [bad]))
    runtime.ledger.blame(
        [Failure("submit", 1, "GPUValidationError", "invalid pipeline"),
         Failure("pipeline", 1, "GPUPipelineError", "3:4 unknown name")]
    )  # fmt: skip
    assert str(bad.error) == "broken: the shader does not compile: 3:4 unknown name"


def test_a_buffer_that_could_not_be_made_explains_its_submit(runtime, made, unfinished):
    x, bad, *_ = made
    submit(runtime, ("broken", [x], [bad]))
    runtime.ledger.blame(
        [Failure("submit", 1, "GPUValidationError", "invalid buffer"),
         Failure("buffer", bad.id, "GPUOutOfMemoryError", "too large")]
    )  # fmt: skip
    assert isinstance(bad.error, OutOfMemoryError)
    assert "too large" in str(bad.error)


def test_errors_that_nobody_saw_are_handed_out_once(runtime, made, unfinished):
    x, bad, *_ = made
    submit(runtime, ("broken", [x], [bad]))
    runtime.ledger.blame([Failure("submit", 1, "GPUValidationError", "no")])
    assert runtime.ledger.take_unseen() is bad.error
    assert runtime.ledger.take_unseen() is None


def test_errors_that_somebody_saw_are_not(runtime, made, unfinished):
    x, bad, *_ = made
    submit(runtime, ("broken", [x], [bad]))
    runtime.ledger.blame([Failure("submit", 1, "GPUValidationError", "no")])
    runtime.ledger.seen(bad.error)
    assert runtime.ledger.take_unseen() is None


def test_what_belongs_to_no_value_is_kept_for_synchronize(runtime):
    runtime.ledger.blame([Failure("uncaptured", 0, "GPUInternalError", "odd")])
    assert isinstance(runtime.ledger.take_unseen(), DeviceError)


def test_submits_that_succeeded_are_forgotten(runtime, made):
    x, fine, *_ = made
    submit(runtime, ("fine", [x], [fine]))
    assert not runtime.ledger._submits
