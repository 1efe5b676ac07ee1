import numpy as np
import pytest

import aiogpu as gpu
from aiogpu.graph import orders


def unknown():
    return gpu.unique_values(gpu.asarray([3, 1, 3]))


def test_what_is_known_before_it_is_evaluated(host):
    x = gpu.asarray(np.zeros((4, 3), "u1"))
    y = x[gpu.asarray([True, False, True, True])]
    assert (y.shape, y.ndim, y.size, y.dtype) == ((None, 3), 2, None, gpu.uint8)
    assert "(None, 3)" in repr(y)
    assert host.recorders == []


@pytest.mark.parametrize(
    ("name", "misuse"),
    [
        ("add", lambda y: y + 1),
        ("add", lambda y: gpu.ones(3) + y),
        ("radd", lambda y: 1 + y),
        ("sort", gpu.sort),
        ("len", len),
        ("iter", list),
        ("getitem", lambda y: y[0]),
        ("getitem", lambda _: gpu.ones(2)[gpu.unique_values(gpu.asarray([True, False]))]),
        ("expand_dims", gpu.expand_dims),
        ("ones_like", gpu.ones_like),
        ("squeeze", lambda y: gpu.squeeze(y, 0)),
        ("nbytes", lambda y: y.nbytes),
    ],
)
def test_what_needs_the_length_names_itself_and_the_way_out(name, misuse):
    with pytest.raises(gpu.errors.UsageError, match=rf"^{name}: .*`await x\.evaluate\(\)`.*size="):
        misuse(unknown())


async def test_evaluating_makes_an_ordinary_array(host):
    y = unknown()
    node = y._found.node
    assert await y.evaluate() is y
    assert type(y) is gpu.Array
    assert y.shape == (0,), "the recording device has zeros everywhere"
    assert (node.holders, y._node.holders) == (0, 1)
    assert host.recorder is not None


async def test_reading_cuts_and_leaves_the_length_unknown(host):
    y = unknown()
    assert (await y.numpy()).shape == (0,)
    assert await y.tolist() == []
    assert y.shape == (None,)
    with pytest.raises(gpu.errors.UsageError, match=r"item: shape \(0,\)"):
        await y.item()
    assert host.recorder is not None


def test_dropping_one_lets_go_of_both_nodes():
    y = unknown()
    found = y._found
    assert (found.node.holders, found.length.holders) == (1, 1)
    del y
    assert (found.node.holders, found.length.holders) == (0, 0)


def test_masks_must_fit():
    x = gpu.zeros((3, 2))
    with pytest.raises(gpu.errors.AxisError, match=r"shape \(2,\): the array has shape \(3, 2\)"):
        x[gpu.asarray([True, False])]
    with pytest.raises(gpu.errors.ShapeError, match=r"broadcast to \(2,\), or to \(None, 2\)"):
        x[gpu.asarray([True, False, True])] = gpu.zeros((1, 3, 2))


def test_a_size_makes_the_shape_known():
    x = gpu.asarray([3, 1, 3])
    assert gpu.unique_values(x, size=2).shape == (2,)
    assert [each.shape for each in gpu.nonzero(x, size=7)] == [(7,)]
    for wrong in (-1, 1.5, True):
        with pytest.raises(gpu.errors.UsageError, match="must be None or a number of elements"):
            orders.check_size(wrong, "nonzero")
