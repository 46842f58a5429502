"""Derive random seeds and generators from names.

For example, the seed of a learner does not depend on the other learners, their order or the number of workers.
"""

from __future__ import annotations

import hashlib

import numpy as np


def derive_seed(seed: int, *names: object) -> int:
    """Derive a 128-bit seed from the study's seed and the given names.

    >>> derive_seed(0, "iris", 3) == derive_seed(0, "iris", 3), derive_seed(0, "iris", 3) == derive_seed(0, "iris", 4)
    (True, False)
    """
    text = repr((int(seed), *(str(name) for name in names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def derive_generator(seed: int, *names: object) -> np.random.Generator:
    """Derive a random number generator from the study's seed and the given names.

    >>> bool(derive_generator(0, "iris").random() == derive_generator(0, "iris").random())
    True
    """
    return np.random.default_rng(derive_seed(seed, *names))
