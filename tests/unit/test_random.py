import numpy as np
import pytest

import aiogpu as gpu
from aiogpu import evaluate, random
from aiogpu.errors import DTypeError, IntegerOverflowError, ShapeError, UsageError
from aiogpu.random import Generator, default_rng


def words(state, count):
    """SplitMix64 as it is published: a counter, and what mixes it."""
    mask = 2**64 - 1
    for _ in range(count):
        z = state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def test_words_are_mixed_as_published():
    assert random._mixed(0) == 0xE220A8397B1DCDAF  # the first output for the seed 0
    assert list(words(0, 1)) == [0xE220A8397B1DCDAF]
    assert [random._mixed(state) for state in range(99)] == [
        next(words(state, 1)) for state in range(99)
    ]


def test_seeds_give_the_keys_that_they_always_gave():
    pinned = {
        0: 0xA0567EF80DEDF5CB,
        1: 0xB9B9DC59300F9A27,
        -1: 0x3B5B26B4ABEDC4AB,
        2024: 0x5C070A02D1972A54,
        2**64: 0x99444C7C99DC5608,
        (): 0x910A2DEC89025CC1,
        (1, 2): 0xEF6034C0F8BED0FA,
        ((1,), 2): 0x06F623E13AEED0FE,
    }
    assert {seed: default_rng(seed)._key for seed in pinned} == pinned


def test_different_seeds_give_different_keys():
    seeds = [*range(-500, 500), 2**64, 2**64 + 1, 2**128, -(2**64), (), (0,), (0, 0), (1, 2)]
    seeds += [(2, 1), (1, (2,)), ((1, 2),), ((1,), 2)]
    assert len({default_rng(seed)._key for seed in seeds}) == len(seeds)
    assert default_rng()._key != default_rng()._key


def test_seeds_of_numpy_are_integers_too():
    key = default_rng(7)._key
    assert default_rng(np.int64(7))._key == default_rng(np.uint8(7))._key == key
    assert default_rng(np.array(7))._key == key
    assert default_rng(np.array([1, 2]))._key == default_rng([1, 2])._key
    for wrong in ("seed", 1.5, [0.5], b"12", {1: 2}.values()):
        with pytest.raises(DTypeError, match="default_rng: seed"):
            default_rng(wrong)


def test_a_generator_is_given_back():
    rng = default_rng(1)
    assert default_rng(rng) is rng


def test_a_draw_moves_on_by_blocks_of_four_words():
    rng = Generator(3)
    positions = []
    for size in (None, 1, 4, 5, (3, 0), (2, 3)):
        rng.random(size)
        positions.append(rng._position)
    assert positions == [1, 2, 3, 5, 5, 7]
    rng.normal(size=6)
    rng.permutation(9)
    rng.choice(5, 2, replace=False)
    assert repr(rng) == "<aiogpu.random.Generator key=0x0000000000000003 position=14>"


def test_shapes_and_dtypes_are_known_at_once():
    rng = default_rng(0)
    x = gpu.zeros((3, 1))
    made = [
        (rng.random(), (), "float32"), (rng.random((2, 3), "float16"), (2, 3), "float16"),
        (rng.uniform(), (), "float32"), (rng.uniform(x, gpu.zeros(4)), (3, 4), "float32"),
        (rng.normal(x), (3, 1), "float32"), (rng.normal(x, size=(2, 3, 4)), (2, 3, 4), "float32"),
        (rng.integers(5), (), "int32"), (rng.integers(-5, 5, 7, dtype="int8"), (7,), "int8"),
        (rng.permutation(5), (5,), "int32"), (rng.permutation(x), (3, 1), "float32"),
        (rng.choice(5), (), "int32"), (rng.choice(x, (2, 5)), (2, 5, 1), "float32"),
        (rng.choice(x, 4, axis=1), (3, 4), "float32"), (rng.choice(x), (1,), "float32"),
        (rng.choice(0, 0), (0,), "int32"), (rng.permutation(0), (0,), "int32"),
    ]  # fmt: skip
    assert [(y.shape, y.dtype.name) for y, *_ in made] == [(s, d) for _, s, d in made]


@pytest.mark.parametrize(
    ("misuse", "error", "message"),
    [
        (lambda r: r.random(3, "int32"), DTypeError, "random: int32: takes float32, float16"),
        (lambda r: r.random(-1), ShapeError, "random: "),
        (lambda r: r.uniform(1j), DTypeError, "uniform: 1j: must be a real number"),
        (lambda r: r.uniform(gpu.zeros(3), 1, 4), ShapeError, "uniform: .*3.*4"),
        (lambda r: r.normal(0, -1), UsageError, "normal: scale -1: must not be negative"),
        (lambda r: r.integers(0), UsageError, "integers: from 0 up to, not including, 0: there"),
        (lambda r: r.integers(1.5), DTypeError, "integers: float 1.5: must be an integer"),
        (lambda r: r.integers(9, dtype="float32"), DTypeError, "must be an integer dtype"),
        (lambda r: r.integers(300, dtype="uint8"), IntegerOverflowError, "299: outside of uint8"),
        (lambda r: r.permutation(-1), UsageError, "permutation: -1: must not be negative"),
        (lambda r: r.permutation(gpu.zeros(3), 1), gpu.errors.AxisError, "permutation: axis 1"),
        (lambda r: r.choice(0, 1), UsageError, "choice: 1 of 0 entries: there are too few"),
        (lambda r: r.choice(3, 4, replace=False), UsageError, "4 of 3 entries without replacing"),
        (lambda r: r.choice(2, 1, replace=False, p=[1, 0]), UsageError, "p with replace=False"),
        (lambda r: r.choice(2, p=[0.5]), UsageError, "1 probabilities for 2 entries"),
        (lambda r: r.choice(2, p=[0.5, 0.6]), UsageError, "adds up to 1.1: must be 1"),
        (lambda r: r.choice(2, p=[-1, 2]), UsageError, "negative, or not finite"),
        (lambda r: r.choice(2, p=[np.nan, 1]), UsageError, "negative, or not finite"),
        (lambda r: r.choice(2, p=gpu.ones(2)), UsageError, "cumulative_sum"),
        (lambda r: r.standard_normal(3), AttributeError, r"the name here is normal\(size=size\)"),
        (lambda r: r.zipf(3), AttributeError, "has no attribute 'zipf'$"),
    ],
)
def test_misuse_says_what_is_wrong(misuse, error, message):
    with pytest.raises(error, match=message):
        misuse(default_rng(0))


def test_probabilities_become_the_first_words_of_the_next():
    assert random._ends([0.25, 0, 0.75], 3) == [2**30, 2**30]
    assert random._ends([0, 1, 0, 0], 4) == [0]
    assert random._ends([1], 1) == []
    thirds = random._ends(np.full(3, 1 / 3, "f4"), 3)
    assert thirds == [1431655765, 2863311531]


async def test_one_plan_and_one_shader_serve_all_draws_of_a_shape(host):
    planned = []
    for seed in range(3):
        rng = default_rng(seed)
        for _ in range(3):
            await (rng.uniform(-1, 1, (5, 6)) * 2 + 1).evaluate()
            planned.append(len(evaluate.DEFAULT._planner._plans))
    assert planned == [1] * 9
    assert gpu.counters()["pipelines"] == 1
    submits = [each for submit in host.recorder.submits for each in submit]
    assert [each.label for each in submits] == ["add"] * 9
    assert len({each.params for each in submits}) == 9
