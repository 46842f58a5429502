"""Random numbers that depend on names: adding a learner, or another order, or another worker changes no other number."""

from __future__ import annotations

import hashlib

import numpy as np


def derive_seed(seed: int, *names: object) -> int:
    """A seed of 128 bits for the study's seed and the names involved.

    >>> derive_seed(0, "iris", 3) == derive_seed(0, "iris", 3), derive_seed(0, "iris", 3) == derive_seed(0, "iris", 4)
    (True, False)
    """
    text = repr((int(seed), *(str(name) for name in names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def derive_generator(seed: int, *names: object) -> np.random.Generator:
    """A source of random numbers of its own for the study's seed and the names involved.

    >>> bool(derive_generator(0, "iris").random() == derive_generator(0, "iris").random())
    True
    """
    return np.random.default_rng(derive_seed(seed, *names))
