"""The six measures under comparison, in the paper's order and words."""

from __future__ import annotations

from fairtrial.reproduce.ranking_kernels import MEASURES as MEASURES

WORDS = dict(zip(MEASURES, ("H-measure", "AUC", "AUCH", "sAUC", "KS", "taKS"), strict=True))
HANDS_SEVERITY_RATIO = 1.0  # the paper defines H with u(c) proportional to c (1 - c), that is Beta(2, 2)


def place(measure: str) -> int:
    """Where the kernels keep a measure.

    >>> place("auc")
    1
    """
    return MEASURES.index(measure)


def named(measures: tuple[str, ...]) -> str:
    """Measures in words.

    >>> named(("h_measure", "ks", "auc"))
    'H-measure, KS and AUC'
    """
    words = [WORDS.get(each, each) for each in measures]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
