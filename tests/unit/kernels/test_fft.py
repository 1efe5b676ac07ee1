import itertools
from math import prod

import numpy as np
import pytest

from aiogpu import dtypes
from aiogpu.graph import build
from aiogpu.graph.transforms import transform
from aiogpu.kernels.butterflies import butterfly, radices
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

LIMITS = Limits(immediate_nbytes=64)


def program(n, operand=None, finish=False, **how):
    node = operand or build.leaf(object(), (3, n, 2), dtypes.complex64)
    node = transform("fft", node, 1, n, scale=1.0, **how)
    if finish:
        node = build.elementwise("multiply", node, 2.0)
    made = list(schedule([node], LIMITS))
    assert len(made) == 1, "what comes before and after is computed on the way"
    return render(made[0], LIMITS, TextCache())


class Complex(complex):
    """A complex number with the names of a vec2f."""

    x = property(lambda self: self.real)
    y = property(lambda self: self.imag)


@pytest.mark.parametrize("radix", [1, 2, 3, 4, 5, 7, 8])
def test_butterflies_are_transforms(radix):
    rng = np.random.default_rng(radix)
    z = rng.normal(size=radix) + 1j * rng.normal(size=radix)
    names = [f"v{k}" for k in range(radix)]
    space = {name: Complex(value) for name, value in zip(names, z, strict=True)}
    lines, results = butterfly(names)
    for line in lines:
        name, _, text = line.removeprefix("let ").removesuffix(";").partition(" = ")
        space[name] = Complex(eval(text, {"vec2f": complex}, space))
    np.testing.assert_allclose([space[name] for name in results], np.fft.fft(z), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 12, 1000, 1024, 3 * 5 * 7 * 8, 2**20])
def test_every_small_prime_is_a_pass(n):
    stages = radices(n)
    assert prod(stages) == n
    made = program(n)
    assert len(made.launches) == len(stages)
    assert len(made.temporaries) == min(len(stages) - 1, 2)
    for before, after in itertools.pairwise(made.launches):
        assert after.bindings[0] == before.bindings[-1] != after.bindings[-1]


@pytest.mark.parametrize("n", [11, 13, 17, 1009, 1000003])
def test_other_lengths_are_convolutions_with_a_chirp(n):
    assert radices(n) is None
    made = program(n)
    length = made.temporaries[2] // 8
    assert 2 * n - 1 <= length < 3 * n + 8
    assert radices(length) is not None
    written = set()
    for launch in made.launches:
        *read, target = launch.bindings
        assert target not in read
        assert all(slot == 0 or slot in written for slot in read)
        written.add(target)
    assert made.launches[-1].bindings[-1] == 1


def test_work_before_and_after_is_fused():
    real = build.leaf(object(), (3, 64, 2), dtypes.float32)
    window = build.leaf(object(), (64, 1), dtypes.float32)
    made = program(64, build.elementwise("multiply", real, window), finish=True)
    assert made.launches[0].bindings == (0, 1, 3)
    assert made.launches[-1].bindings == (3, 2)


def test_half_and_hermitian_transforms_have_their_shapes():
    node = build.leaf(object(), (5, 10), dtypes.float32)
    half = transform("rfft", node, 1, 9, scale=1.0, half=True)
    assert (half.shape, half.dtype) == ((5, 5), dtypes.complex64)
    back = transform("irfft", half, 1, 9, scale=1.0, hermitian=True)
    assert (back.shape, back.dtype) == ((5, 9), dtypes.float32)
