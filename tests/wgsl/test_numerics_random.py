"""Random words and numbers on both software adapters, against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import philox

# From the reference implementation's known answers: counter, key, words.
KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
PLACES = ((0, 0), (2**64 - 1, 5), (0x1234_5678_9ABC_DEF0, 2**32 - 3), (3, 2**64 - 2))
COUNT = 1 << 14
MOST_ULP = 6
EDGES = np.array([0, 1, 2, 255, 256, 2**24 - 1, 2**24, 2**24 + 1, 2**31, 2**32 - 257, 2**32 - 1])


def arguments(key, position, numbers):
    """The operands of a draw, each as long as there are numbers."""
    parts = [part >> shift & 0xFFFFFFFF for part in (key, position) for shift in (0, 32)]
    return (numbers, *(np.full(len(numbers), part, np.uint32) for part in parts))


def test_the_reference_gives_the_known_answers():
    for counter, key, expected in KNOWN:
        assert tuple(philox.block([counter], key)[0]) == expected


def test_words_are_those_of_philox(evaluate):
    numbers = np.arange(COUNT, dtype=np.uint32)
    assert tuple(philox.words(0, 0, 4)) == KNOWN[0][2]
    for key, position in PLACES:
        made = evaluate({"ag_random_bits": arguments(key, position, numbers)})["ag_random_bits"]
        assert_array_equal(made, philox.words(key, position, COUNT))


def test_far_elements_have_far_words(evaluate):
    numbers = np.array([2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32)
    made = evaluate({"ag_random_bits": arguments(9, 2**32 - 1, numbers)})["ag_random_bits"]
    each = [philox.words(9, 2**32 - 1 + int(n) // 4, 4)[int(n) % 4] for n in numbers]
    assert_array_equal(made, np.array(each, np.uint32))


def test_numbers_of_words_are_exact(evaluate):
    bits = np.concatenate([philox.words(1, 0, COUNT), EDGES.astype(np.uint32)])
    counts = np.resize(np.array([1, 2, 3, 6, 1000, 2**16 + 1, 2**31 + 3, 2**32 - 1]), len(bits))
    zeros = np.zeros(len(bits), np.uint32)
    unit = philox.unit(bits)
    low = np.resize(np.float32([-1, 0, 1e-3, -1e7]), len(bits))
    high = np.resize(np.float32([1, 3, 1e5]), len(bits))
    made = evaluate(
        {
            "ag_random_unit": (bits,),
            "ag_random_below": (bits, counts.astype(np.uint32)),
            "ag_random_between": (zeros, unit, low, high),
        }
    )
    assert_array_equal(made["ag_random_unit"], unit)
    below = (bits.astype("u8") * counts.astype("u8") >> np.uint64(32)).astype("u4")
    assert_array_equal(made["ag_random_below"], below)
    assert_array_equal(made["ag_random_between"], low + (high - low) * unit)
    whole = evaluate({"ag_random_below": (bits, zeros)})["ag_random_below"]
    assert_array_equal(whole, bits)


@pytest.mark.parametrize("place", PLACES)
def test_normal_deviates_are_near_those_of_float64(evaluate, place):
    numbers = np.arange(COUNT, dtype=np.uint32)
    made = evaluate({"ag_random_normal": arguments(*place, numbers)})["ag_random_normal"]
    expected = philox.normal(philox.words(*place, COUNT))
    off = np.abs(made - expected) / np.spacing(np.abs(expected).astype("f4"))
    assert off.max() <= MOST_ULP


def test_what_the_logarithm_takes_is_never_0_nor_1(evaluate):
    bits = np.concatenate([EDGES, 2 ** np.arange(32), 2 ** np.arange(32) - 1]).astype(np.uint32)
    made = evaluate({"ag_random_open": (bits,)})["ag_random_open"]
    assert made.min() == 2**-33
    assert made.max() == 1 - 2**-24
    nearest = np.where(bits == 0, 0.5, bits.astype("f8")) / 2**32
    assert_array_equal(made[bits < 2**24], nearest[bits < 2**24].astype("f4"))
    assert np.all(np.abs(made / nearest - 1) < 2**-23)
