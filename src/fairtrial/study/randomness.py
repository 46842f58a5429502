"""Random numbers that depend on names: adding a learner, or another order, or another worker changes no other number."""

from __future__ import annotations

import hashlib

import numpy as np


def named_seed(seed: int, *names: object) -> int:
    """A seed of 128 bits for the study's seed and the names involved.

    >>> named_seed(0, "iris", 3) == named_seed(0, "iris", 3), named_seed(0, "iris", 3) == named_seed(0, "iris", 4)
    (True, False)
    """
    told = repr((int(seed), *(str(name) for name in names)))
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:16], "little")


def named_generator(seed: int, *names: object) -> np.random.Generator:
    """A source of random numbers of its own for the study's seed and the names involved.

    >>> bool(named_generator(0, "iris").random() == named_generator(0, "iris").random())
    True
    """
    return np.random.default_rng(named_seed(seed, *names))
