import operator

import numpy as np
import pytest

import aiogpu as gpu


def test_shape_and_dtype_are_known_at_once(host):
    x = gpu.asarray(np.zeros((2, 3, 4), "u1"))
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes) == ((2, 3, 4), gpu.uint8, 3, 24, 24)
    assert len(x) == 2
    assert [row.shape for row in x] == [(3, 4)] * 2
    assert host.recorders == []


@pytest.mark.parametrize(
    "convert", [float, int, bool, complex, np.asarray, lambda x: 1 if x else 0], ids=repr
)
def test_host_conversions_name_the_await_form(convert):
    with pytest.raises(gpu.errors.SyncAccessError, match=r"await x\.\w+\(\)"):
        convert(gpu.ones(()))


def test_only_integers_are_indices():
    with pytest.raises(gpu.errors.SyncAccessError, match="await"):
        operator.index(gpu.full((), 3))
    with pytest.raises(TypeError, match="only an integer"):
        operator.index(gpu.ones(()))


def test_sync_reads_say_where_stacks_cannot_switch():
    with gpu.sync_reads(), pytest.raises(gpu.errors.SyncAccessError, match="stacks"):
        float(gpu.ones(()))
    with pytest.raises(gpu.errors.SyncAccessError, match=r"await x\.item"):
        float(gpu.ones(()))


def test_sync_reads_is_a_switch_and_a_block():
    gpu.sync_reads(True)
    with gpu.sync_reads():
        assert gpu.environment()["sync_reads"]
    assert gpu.environment()["sync_reads"]
    gpu.sync_reads(False)
    assert not gpu.environment()["sync_reads"]


@pytest.mark.parametrize(
    "misuse",
    [
        lambda r: r + 1,
        lambda r: 2 * r,
        len,
        float,
        list,
        bool,
        lambda r: r[0],
        lambda r: r < 1,
        operator.neg,
    ],
)
def test_a_read_that_was_not_awaited_says_so(misuse):
    with pytest.raises(gpu.errors.SyncAccessError, match=r"add await: `await x\.tolist\(\)`"):
        misuse(gpu.ones(3).tolist())


def test_repr_says_shape_dtype_and_state():
    assert repr(gpu.ones((2, 3)) + 1).startswith(
        "<aiogpu.Array shape=(2, 3) dtype=float32 (pending"
    )
    assert "ready" in repr(gpu.asarray([1]))


async def test_reading_gives_each_form(host):
    x = gpu.asarray(np.zeros((2, 3), "i4"))
    assert (await x.numpy()).tolist() == [[0, 0, 0]] * 2
    assert await x.tolist() == [[0, 0, 0]] * 2
    assert (await x.data()).shape == (2, 3)
    assert await x[0, 0].item() == 0
    assert await x.evaluate() is x
    with pytest.raises(gpu.errors.UsageError, match="exactly one element"):
        x.item()


def test_operators_with_what_is_no_number():
    x = gpu.ones(3)
    for other in ("a", None, object(), [1, 2, 3]):
        with pytest.raises(TypeError):
            x + other
        with pytest.raises(TypeError):
            other - x
    assert (x == "a") is False
    with pytest.raises(TypeError):
        hash(x)


def test_numpys_operands_come_to_us():
    host = np.ones(3, "f4")
    x = gpu.ones(3)
    for made in (host + x, x + host, x * np.float32(2)):
        assert isinstance(made, gpu.Array)


def test_assignment_rebinds_this_name_only():
    x = gpu.zeros((2, 3))
    before, row = x._node, x[0]
    x[0, 1] = 5
    assert x._node is not before
    assert row._node is not x[0]._node
    assert (before.holders, x._node.holders) == (0, 1)


@pytest.mark.parametrize(
    ("cut", "spelled"),
    [
        (lambda x: x[0], "x[0, 1] = "), (lambda x: x[1:], "x[1:, 1] = "),
        (lambda x: x[..., None], "x[..., None, 1] = "), (lambda x: x[0][:2], "x[0, :2, 1] = "),
    ],
)  # fmt: skip
def test_assignment_to_a_cut_names_the_right_spelling(cut, spelled):
    x = gpu.zeros((3, 3))
    with pytest.raises(gpu.errors.UsageError) as caught:
        cut(x)[1] = 5
    assert spelled in str(caught.value)
    own = cut(x).copy()
    own[..., 0] = 5


def test_transposed_arrays_are_cuts_too():
    x = gpu.zeros((3, 3))
    for cut in (x.T, x.mT):
        with pytest.raises(gpu.errors.UsageError, match="copy"):
            cut[0] = 1


def test_holders_follow_the_arrays():
    x = gpu.ones(3) + 1
    node = x._node
    assert node.holders == 1
    y = gpu.Array(node)
    assert node.holders == 2
    del x, y
    assert node.holders == 0


def test_the_standards_protocols_answer_or_refuse():
    x = gpu.ones(3)
    assert x.__array_namespace__() is gpu
    assert x.__array_namespace__(api_version="2024.12") is gpu
    with pytest.raises(gpu.errors.UsageError, match="version '1999'"):
        x.__array_namespace__(api_version="1999")
    for refused in (x.__dlpack__, x.__dlpack_device__):
        with pytest.raises(gpu.errors.UsageError, match="dlpack"):
            refused()


@pytest.mark.parametrize("key", [0, [0, 2], gpu.asarray([True, False, True])], ids=repr)
def test_assigned_numbers_must_fit_however_elements_are_named(key):
    for dtype, value in (("int8", 300), ("uint32", -1), ("int32", 2**31)):
        with pytest.raises(gpu.errors.IntegerOverflowError, match=f"setitem: {value}"):
            gpu.zeros(3, dtype=dtype)[key] = value
    for dtype in ("int8", "float32"):
        with pytest.raises(gpu.errors.DTypeError, match="imaginary"):
            gpu.zeros(3, dtype=dtype)[key] = 1j
    for dtype, value in (("uint32", 2**32 - 1), ("float32", 2**70), ("int8", 2.5), ("bool", 2)):
        x = gpu.zeros(3, dtype=dtype)
        x[key] = value
        assert x.dtype.name == dtype


def test_axes_that_are_not_there_are_named():
    x = gpu.zeros((2, 3))
    assert x.swapaxes(-1, 0).shape == (3, 2)
    with pytest.raises(gpu.errors.AxisError, match="swapaxes: axis 2"):
        x.swapaxes(0, 2)
    with pytest.raises(gpu.errors.UsageError, match=r"tensordot: axes \(\[1\],\)"):
        gpu.tensordot(x, x, axes=([1],))
    assert gpu.tensordot(x, x, axes=(1, 1)).shape == (2, 2)


@pytest.mark.parametrize("stop", [float("nan"), float("inf")])
def test_a_range_without_end_is_refused(stop):
    with pytest.raises(gpu.errors.UsageError, match="arange: from 0 to"):
        gpu.arange(stop)


def test_values_of_another_batch_are_refused():
    q, v = gpu.zeros((2, 3, 4, 5)), gpu.zeros((3, 2, 4, 5))
    for values in (v, v[:0]):
        with pytest.raises(gpu.errors.ShapeError, match="attention"):
            gpu.nn.attention(q, q, values)
