"""aiogpu.testing: what it takes, what it finds, and that it needs no GPU."""

import numpy as np
import pytest

import aiogpu as gpu
import aiogpu.lang as gl
from aiogpu import testing
from gallery import example


@gpu.kernel(workgroup=32)
def races(x: gl.In[gl.f32], y: gl.Out[gl.f32]) -> None:
    s = gl.shared(33, gl.f32)
    at = gl.local_index()
    s[at] = x[at]
    y[at] = s[at + 1]  # without a barrier


@gpu.kernel(workgroup=32)
def waits(x: gl.In[gl.f32], y: gl.Out[gl.f32]) -> None:
    s = gl.shared(33, gl.f32)
    at = gl.local_index()
    s[at] = x[at]
    gl.barrier()
    y[at] = s[at + 1] + gl.subgroup_shuffle(x[at], at ^ 1)


@gpu.kernel
def last(y: gl.Out[gl.i32]) -> None:
    y[0] = gl.group_id(1)


def test_a_kernel_an_elementwise_function_and_a_reduction():
    x = np.arange(32, dtype="f4")
    wanted = np.append(x[1:], 0) + x[np.arange(32) ^ 1]
    testing.assert_ulp(testing.simulate(waits, x), wanted)
    testing.assert_ulp(testing.simulate(waits, x=x, threads=32), wanted)
    half = gpu.elementwise(lambda x, k: x / k)
    testing.assert_ulp(testing.simulate(half, x, k=2), x / 2)
    assert testing.simulate(gpu.reduce_kernel(half, lambda a, b: a + b, 0.0), x, 2) == x.sum() / 2


def test_orders_find_races():
    x = np.arange(32, dtype="f4")
    assert len({made.tobytes() for made in testing.orders(races, x)}) > 1
    assert len({made.tobytes() for made in testing.orders(waits, x)}) == 1
    found = [int(made[0]) for made in testing.orders(last, out_shape=1, workgroups=5)]
    assert found[:2] == [4, 0]
    data = np.arange(999).astype("u1")
    m = example("histogram")
    counted = testing.orders(m.histogram, data, np.zeros(256, "u4"), workgroups=3)
    for made in counted:
        testing.assert_ulp(made, m.reference(data))


def test_what_not_every_device_runs_is_refused():
    large = gpu.kernel(
        source="def k(y: gl.Out[gl.f32]):\n    y[0] = 1.0", workgroup=512, namespace={"gl": gl}
    )
    assert large.simulate(out_shape=1).tolist() == [1]
    with pytest.raises(gpu.errors.LimitError, match="a workgroup of 512 invocations"):
        testing.simulate(large, out_shape=1)
    with pytest.raises(gpu.errors.LimitError, match="a workgroup of 512 invocations"):
        next(testing.orders(large, out_shape=1))
    for run in (testing.simulate, lambda *args: next(testing.orders(*args))):
        with pytest.raises(gpu.errors.UsageError, match="lies on a GPU"):
            run(waits, gpu.ones(32))


F4 = np.float32


@pytest.mark.parametrize(
    ("actual", "expected", "units"),
    [
        (F4(1), 1.0, 0),
        (np.nextafter(F4(1), F4(2)), 1.0, 1),
        (np.nextafter(F4(1), F4(0)), 1.0, 0.5),
        (F4(1), 1 + 2.0**-24, 0.5),  # the reference is not rounded
        (F4(1e-45), 0.0, 1),
        (F4(-0.0), 0.0, 0),
        (F4("nan"), float("nan"), 0),
        (F4("inf"), float("inf"), 0),
        (F4(3.4e38), float("inf"), np.inf),
        (F4("nan"), 1.0, np.inf),
        (F4(1), float("nan"), np.inf),
        (np.float16(1.001), 1.0, 1),
        (np.int32(5), 7, 2),
        (np.uint32(2**32 - 1), 2**32 - 2, 1),
        (np.bool_(True), False, 1),
    ],
)
def test_units_in_the_last_place(actual, expected, units):
    one, other = np.array([[0, actual]], actual.dtype), np.array([[0, expected]])
    if np.isfinite(units):
        testing.assert_ulp(one, other, units)
    if units:
        with pytest.raises(AssertionError, match=r"1 of 2 elements .* \[0, 1\] is "):
            testing.assert_ulp(one, other, min(units * 0.99, 1e9))
        assert not np.isfinite(units) or testing.assert_ulp(one, other, atol=2.5) is None


def test_shapes_and_tuples_are_compared():
    x = np.ones(3, "f4")
    testing.assert_ulp((x, x), (x, x))
    for actual, expected, said in (
        (x, x[:2], r"shape is \(3,\), not \(2,\)"),
        ((x, x), (x,), "2 arrays, not 1"),
        ((x, x), x, "takes a tuple"),
        ((x, x), (x, x + 1), "3 of 3"),
    ):
        with pytest.raises(AssertionError, match=said):
            testing.assert_ulp(actual, expected)
