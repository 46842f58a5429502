"""The same questions to autorank and scikit-posthocs, where they are installed; fewer runs, for they are slow."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
import pandas as pd

from experiments.families import PARTIAL, _false
from experiments.registry import ALPHA, PEERS, experiment, rejects
from fairtrial.significance import friedman, posthoc, wilcoxon

MISSING = tuple(name for name in ("autorank", "scikit_posthocs") if find_spec(name) is None)
Hits = Mapping[str, bool | None]
Rng = np.random.Generator


def _autorank(table: np.ndarray) -> object | None:
    if "autorank" in MISSING:
        return None
    from autorank import autorank

    with contextlib.redirect_stdout(io.StringIO()):
        return autorank(pd.DataFrame(table, columns=list("01234"[: table.shape[1]])), alpha=ALPHA, verbose=False)


@experiment(PEERS, "15 data sets, 2 learners, lognormal scores, none better", share=0.2)
def two(rng: Rng) -> Hits:
    table = rng.lognormal(size=(15, 2))
    found = _autorank(table)
    return {
        "autorank": None if found is None else found.pvalue < ALPHA,  # type: ignore[attr-defined]
        "fairtrial, wilcoxon": rejects(wilcoxon(table[:, 0], table[:, 1])),
    }


@experiment(PEERS, "15 data sets, 5 learners, lognormal scores, none better", share=0.1)
def five(rng: Rng) -> Hits:
    table = rng.lognormal(size=(15, 5))
    found, ours = _autorank(table), posthoc(table, "nemenyi")
    return {
        "autorank, omnibus": None if found is None else found.pvalue < ALPHA,  # type: ignore[attr-defined]
        "autorank, any pair": None if found is None else _apart(found),
        "fairtrial, friedman": rejects(friedman(table)),
        "fairtrial, posthoc nemenyi, any pair": _false(ours, set("01234")),
    }


def _apart(found: object) -> bool | None:
    """Friedman, then Nemenyi's critical difference; None where autorank took the columns for normal and went elsewhere."""
    if found.posthoc != "nemenyi":  # type: ignore[attr-defined]
        return None
    ranks = found.rankdf["meanrank"]  # type: ignore[attr-defined]
    return bool(found.pvalue < ALPHA and ranks.max() - ranks.min() > found.cd)  # type: ignore[attr-defined]


def _posthocs(table: np.ndarray, null: list[int]) -> dict[str, bool | None]:
    names = ("posthoc_nemenyi_friedman", "posthoc_wilcoxon, holm", "posthoc_conover_friedman, holm")
    if "scikit_posthocs" in MISSING:
        return {f"scikit-posthocs, {name}": None for name in names}
    import scikit_posthocs as peers

    tidy = pd.DataFrame(table).melt(var_name="learner", value_name="score")
    found = (
        peers.posthoc_nemenyi_friedman(table),
        peers.posthoc_wilcoxon(tidy, val_col="score", group_col="learner", p_adjust="holm"),
        peers.posthoc_conover_friedman(table, p_adjust="holm"),
    )
    upper = np.triu_indices(len(null), 1)
    told = (bool((np.asarray(p)[np.ix_(null, null)][upper] <= ALPHA).any()) for p in found)
    return {f"scikit-posthocs, {name}": each for name, each in zip(names, told, strict=True)}


@experiment(PEERS, "15 data sets, 5 learners, normal, none better: any pair", share=0.03)
def none_better(rng: Rng) -> Hits:
    table = rng.normal(size=(15, 5))
    return {**_posthocs(table, list(range(5))), "fairtrial, posthoc holm": _false(posthoc(table, "holm"), set("01234"))}


@experiment(PEERS, "15 data sets, 5 learners, normal, one much better: any pair of the others", share=0.03)
def one_ahead(rng: Rng) -> Hits:
    table = PARTIAL[0](rng)
    return {**_posthocs(table, list(range(4))), "fairtrial, posthoc holm": _false(posthoc(table, "holm"), PARTIAL[1])}
