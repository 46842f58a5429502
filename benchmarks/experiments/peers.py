"""Ask autorank, scikit-posthocs and statsmodels the same questions, if they are installed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
import pandas as pd

from experiments.families import PARTIAL, _false
from experiments.registry import ALPHA, LEVEL, PEERS, covers, experiment, rejects
from experiments.small_samples import draw_clusters, find_true_accuracy
from fairtrial.measures import interval
from fairtrial.significance import friedman, mcnemar, posthoc, wilcoxon

MISSING = tuple(name for name in ("autorank", "scikit_posthocs", "statsmodels") if find_spec(name) is None)
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


@experiment(PEERS, "15 data sets, 5 learners, lognormal scores, none better", share=0.2)
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


@experiment(PEERS, "15 data sets, 5 learners, normal, none better: any pair", share=0.05)
def none_better(rng: Rng) -> Hits:
    table = rng.normal(size=(15, 5))
    return {**_posthocs(table, list(range(5))), "fairtrial, posthoc holm": _false(posthoc(table, "holm"), set("01234"))}


@experiment(PEERS, "15 data sets, 5 learners, normal, one much better: any pair of the others", share=0.05)
def one_ahead(rng: Rng) -> Hits:
    table = PARTIAL[0](rng)
    return {**_posthocs(table, list(range(4))), "fairtrial, posthoc holm": _false(posthoc(table, "holm"), PARTIAL[1])}


@experiment(PEERS, "4 data sets, 4 learners, normal, none better: any pair", share=0.2)
def few_sets(rng: Rng) -> Hits:
    table = rng.normal(size=(4, 4))
    return {
        **_posthocs(table, list(range(4))),
        "fairtrial, friedman": rejects(friedman(table)),
        "fairtrial, posthoc holm": _false(posthoc(table, "holm"), set("0123")),
    }


def _statsmodels_mcnemar(y: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict[str, bool | None]:
    names = ("exact", "chi2", "chi2 without continuity correction")
    if "statsmodels" in MISSING:
        return {f"statsmodels, mcnemar {name}": None for name in names}
    from statsmodels.stats.contingency_tables import mcnemar as peer

    counts = np.histogram2d(first == y, second == y, bins=[[0, 0.5, 1]] * 2)[0]
    settings = ({"exact": True}, {"exact": False}, {"exact": False, "correction": False})
    # Without discordant rows, the statistic of statsmodels is 0 / 0.
    found = (peer(counts, **each).pvalue <= ALPHA for each in settings)
    return {f"statsmodels, mcnemar {name}": bool(hit) for name, hit in zip(names, found, strict=True)}


@experiment(PEERS, "20 rows, two models of accuracy 0.8")
def few_rows(rng: Rng) -> Hits:
    y = np.arange(20) % 2
    first, second = (np.where(rng.random(20) < 0.8, y, 1 - y) for _ in range(2))
    return {**_statsmodels_mcnemar(y, first, second), "fairtrial, mcnemar": rejects(mcnemar(y, first, second))}


@experiment(PEERS, "50 clusters of 10 rows, equal models", share=0.5)
def clustered_rows(rng: Rng) -> Hits:
    y, first, second, cluster = draw_clusters(rng, 50, 10)
    ours = rejects(mcnemar(y, first, second, cluster=cluster))
    return {**_statsmodels_mcnemar(y, first, second), "fairtrial, mcnemar, clustered": ours}


@experiment(PEERS, "50 clusters of 10 rows, coverage of the accuracy", share=0.5, nominal=LEVEL)
def clustered_accuracy(rng: Rng) -> Hits:
    y, first, _, cluster = draw_clusters(rng, 50, 10)
    truth, peer = find_true_accuracy(), None
    if "statsmodels" not in MISSING:
        from statsmodels.stats.proportion import proportion_confint

        low, high = proportion_confint(int((first == y).sum()), len(y), method="wilson")
        peer = bool(low <= truth <= high)
    ours = covers(interval("accuracy", y, first, cluster=cluster), truth)
    return {"statsmodels, proportion_confint wilson": peer, "fairtrial, interval, clustered": ours}
