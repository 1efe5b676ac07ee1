"""What functions give, without a GPU: shapes and dtypes are known before anything is computed."""

import pytest

import aiogpu as gpu
from aiogpu import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_dtypes_of_reductions(dtype):
    x = gpu.zeros((2, 3), dtype=dtype)
    wide = {"bool": gpu.int32, "int": gpu.int32, "uint": gpu.uint32}.get(dtype.kind, dtype)
    single = dtype if dtype.kind in {"float", "complex"} else gpu.float32
    assert (gpu.sum(x).dtype, gpu.prod(x).dtype, gpu.mean(x).dtype) == (wide, wide, single)
    assert gpu.count_nonzero(x, axis=0).dtype is gpu.int32
    if dtype.kind != "complex":
        assert (gpu.max(x).dtype, gpu.var(x).dtype, gpu.argmax(x).dtype) == (
            dtype,
            single,
            gpu.int32,
        )


def test_shapes_of_reductions():
    x = gpu.zeros((2, 3, 4))
    assert gpu.var(x, axis=(0, -1), keepdims=True).shape == (1, 3, 1)
    assert gpu.std(x, axis=()).shape == (2, 3, 4)
    assert gpu.argmin(x, keepdims=True).shape == (1, 1, 1)
    assert gpu.count_nonzero(x, axis=-2).shape == (2, 4)
    with pytest.raises(gpu.errors.UsageError, match="twice"):
        gpu.var(x, axis=(0, -3))


def test_shapes_of_products():
    assert gpu.tensordot(gpu.zeros((2, 3, 4)), gpu.zeros((3, 4, 5))).shape == (2, 5)
    assert gpu.tensordot(gpu.zeros((2, 3)), gpu.zeros(4), axes=0).shape == (2, 3, 4)
    assert gpu.vecdot(gpu.zeros((3, 1, 4)), gpu.zeros((5, 4))).shape == (3, 5)
    assert gpu.vecdot(gpu.zeros((4, 1)), gpu.zeros((2, 4, 3)), axis=-2).shape == (2, 3)


def test_shapes_of_pads_and_takes():
    x = gpu.zeros((2, 3))
    assert gpu.pad(x, ((1, 0), (2, 3))).shape == (3, 8)
    assert gpu.pad(x, 0)._node is x._node
    assert gpu.take(x, [[0, 1], [1, 0]], axis=1).shape == (2, 2, 2)
    assert gpu.take(x, 1, axis=0).shape == (3,)


def test_astype_copies_unless_told():
    x = gpu.zeros(3)
    assert gpu.astype(x, "float32", copy=False) is not None
    assert gpu.astype(x, "float32", copy=False)._node is x._node
    assert gpu.astype(x, "float32")._node is not x._node
    assert gpu.astype(x, gpu.int8).dtype is gpu.int8
