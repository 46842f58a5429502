"""Predictions of many kinds and their judgements."""

from functools import cache

import numpy as np
import pandas as pd

from fairtrial import judge
from fairtrial.report.report import build_sections

RESAMPLES = 60


def two_classes(n=160, seed=8, spreads=(("forest", 0.8), ("tree", 2.5), ("rule", 2.4))):
    """Make a wide table of probabilities of the positive class with subgroups; forest is best, the others are similar."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    forecasts = {f"{name}_proba": 1 / (1 + np.exp(-(2 * ill - 1 + spread * rng.normal(size=n)))) for name, spread in spreads}
    frame = pd.DataFrame({"row": np.arange(n), "truth": np.where(ill, "yes", "no"), "sex": rng.choice(["f", "m"], n)})
    return frame.assign(**{name: each.round(4) for name, each in forecasts.items()})


def labels_only(n=160):
    table = two_classes(n)
    labels = {name: np.where(table[f"{name}_proba"] > 0.5, "yes", "no") for name in ("forest", "tree")}
    return table[["row", "truth"]].assign(**labels)


def many_classes(n=150, seed=4):
    """Make a long table of class probabilities of two models."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    parts = []
    for name, skill in (("good", 3.0), ("poor", 0.3)):
        logits = rng.normal(size=(n, 3)) + skill * np.eye(3)[truth]
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        part = pd.DataFrame({"row": np.arange(n), "model": name, "truth": np.array(list("abc"))[truth]})
        parts.append(part.assign(**{f"p_{label}": shares[:, i] for i, label in enumerate("abc")}))
    return pd.concat(parts, ignore_index=True)


def many_sets(sets=5, n=40):
    """Make several data sets; forest is best on most of them."""
    parts = [two_classes(n, seed).assign(dataset=f"set {seed}").drop(columns=["sex", "rule_proba"]) for seed in range(sets)]
    return pd.concat(parts, ignore_index=True)


def folded(n=160):
    return two_classes(n).drop(columns=["sex", "rule_proba"]).assign(fold=np.arange(n) % 5)


def weighted(n=160):
    return two_classes(n).assign(weight=np.random.default_rng(1).uniform(0.5, 2, n))


def lone(n=160):
    return two_classes(n)[["row", "truth", "forest_proba"]].rename(columns={"forest_proba": "score"})


def decisions(n=160):
    """Make a table with decision values of one model and labels of another."""
    table = two_classes(n)
    margin = np.log(table["forest_proba"].clip(1e-4, 1 - 1e-4) / (1 - table["forest_proba"].clip(1e-4, 1 - 1e-4)))
    tree = np.where(table["tree_proba"] > 0.5, "yes", "no")
    return table[["row", "truth"]].assign(forest_score=margin, tree=tree)


TABLES = {
    "two classes": two_classes,
    "labels only": labels_only,
    "many classes": many_classes,
    "many sets": many_sets,
    "folded": folded,
    "weighted": weighted,
    "one model": lone,
    "decisions": decisions,
}


@cache
def judged(name, **options):
    return judge(TABLES[name](), resamples=RESAMPLES, **options)


@cache
def streamed(name, folder):
    """Judge the same predictions from a streamed file."""
    path = folder / f"{name.replace(' ', '-')}.csv"
    (many_sets(3) if name == "many sets" else TABLES[name]()).to_csv(path, index=False)
    return judge(str(path), resamples=RESAMPLES, stream=True)


@cache
def sections(name):
    """Build all sections of a judgement by key."""
    return {section.key: section for section in build_sections(judged(name))}


def text_of(section):
    return " ".join(map(str, section.sentences))
