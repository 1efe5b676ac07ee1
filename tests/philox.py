"""Philox4x32-10 in NumPy, and what numbers our generator makes of its words.

J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

import numpy as np

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def block(counter, key):
    """Four words for each counter; counters ``(n, 4)``, a key of two words."""
    c = [np.asarray(counter)[:, k].astype("u8") for k in range(4)]
    k0, k1 = (int(word) for word in key)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (second >> HALF) ^ c[1] ^ np.uint64(k0), second & LOW,
            (first >> HALF) ^ c[3] ^ np.uint64(k1), first & LOW,
        ]  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return np.stack(c, 1).astype("u4")


def words(key, position, count):
    """The words from a position on; key and position have 64 bits."""
    counters = np.zeros((-(-count // 4), 4), "u8")
    at = [(position + k) % 2**64 for k in range(len(counters))]
    counters[:, 0] = [k & 0xFFFFFFFF for k in at]
    counters[:, 1] = [k >> 32 for k in at]
    return block(counters, (key & 0xFFFFFFFF, key >> 32)).ravel()[:count]


def unit(bits):
    """In [0, 1)."""
    return (bits >> 8).astype("f4") * np.float32(2**-24)


def integers(bits, low, count):
    """From ``low`` on."""
    return (bits.astype("u8") * np.uint64(count) >> HALF).astype("i8") + low


def normal(bits):
    """By Box and Muller, in float64; as many as there are words, whose number is even."""
    radius_words, angle_words = bits.reshape(-1, 2).T.astype("u8")
    kept = np.maximum(np.floor(np.log2(np.maximum(radius_words, 1))) - 23, 0).astype("u8")
    inside = np.where(radius_words == 0, 0.5, (radius_words >> kept << kept).astype("f8")) / 2**32
    radius = np.sqrt(-2 * np.log(inside))
    turns = (angle_words >> np.uint64(8)).astype("f8") / 2**24
    angle = 2 * np.pi * turns
    pair = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    pair[np.abs(pair) < 1e-14] = 0  # where the angle is a whole number of quadrants
    return pair.ravel()
