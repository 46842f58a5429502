"""Resampling on Labour: variants of cross-validation, and the bootstrap's E0 and .632."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset


def resampling(data: Dataset, request: Request) -> Reproduction:
    """Each learner's error by each scheme, and what the schemes do to the class shares."""
    from fairtrial.learners import C45, NaiveBayes, NearestNeighbours

    learners = {"C4.5": C45(), "NB": NaiveBayes(), "1NN": NearestNeighbours(1)}
    samples = request.pick(smoke=20, quick=50, full=200)
    folds = request.pick(smoke=2, quick=10, full=10)
    schemes = _schemes(folds, request)
    frame = _errors(data, learners, schemes, samples, request.seed)
    shares = _shares(data, schemes)
    tables = (
        Table("resampling_errors", "The error on Labour by every scheme", frame, _errors_note(frame, samples), digits=3),
        Table("resampling_shares", "What the variants do to class shares", shares, _shares_note(shares, data), digits=3),
    )
    return Reproduction(
        (), tables, (_stratified_claim(shares, folds),), {"Variants of cross-validation, 20 rows": _picture(request.seed)}
    )


def _schemes(folds: int, request: Request) -> dict[str, Any]:
    from fairtrial.resampling import FiveByTwo, KFold, LeaveOneOut, StratifiedKFold, TenByTen

    found: dict[str, Any] = {
        f"{folds}-fold": KFold(folds, random_state=request.seed),
        f"{folds}-fold, stratified": StratifiedKFold(folds, random_state=request.seed),
        "5x2-fold": FiveByTwo(random_state=request.seed),
    }
    if request.scale == "smoke":
        return found
    return found | {"10x10-fold": TenByTen(random_state=request.seed), "leave-one-out": LeaveOneOut()}


def _errors(data: Dataset, learners: dict[str, Any], schemes: dict[str, Any], samples: int, seed: int) -> pd.DataFrame:
    """A line for each scheme, a column for each learner, with the .632 family below; intervals where theory gives one."""
    import pandas as pd

    from fairtrial.resampling import estimate

    lines: dict[str, dict[str, float]] = {}
    for name, splitter in schemes.items():
        splits = list(splitter.freeze(data.X, data.y))
        lines[name] = {learner: float(np.mean(_losses(own, data, splits))) for learner, own in learners.items()}
    for learner, own in learners.items():
        found = estimate(own, data.X, data.y, n_resamples=samples, stratify=True, random_state=seed)
        for method, word in _BOOTSTRAPS.items():
            one = found[method]
            lines.setdefault(word, {})[learner] = one.value
            lines[word] |= {f"{learner}, low": one.low, f"{learner}, high": one.high}
    columns = [*learners, *(f"{name}, {end}" for name in learners for end in ("low", "high"))]
    return pd.DataFrame.from_dict(lines, orient="index")[columns].rename_axis("scheme").reset_index()


_BOOTSTRAPS = {"e0": "bootstrap E0", "632-e0": "e632 (as in the tutorial)", "632+": ".632+", "resubstitution": "resubstitution"}


def _losses(learner: Any, data: Dataset, splits: list[Any]) -> list[float]:
    """The share of errors in each split, rows pooled within the split."""
    found = []
    for part in splits:
        learner.fit(data.X.iloc[part.train], data.y.iloc[part.train])
        told = np.asarray(learner.predict(data.X.iloc[part.test])).astype(str)
        found.append(float(np.mean(told != data.y.iloc[part.test].astype(str).to_numpy())))
    return found


def _errors_note(frame: pd.DataFrame, samples: int) -> str:
    found = {row["scheme"]: row for row in frame.to_dict("records")}
    told = "; ".join(
        f"{name}: E0 {found['bootstrap E0'][name]:.3f}, e632 {found['e632 (as in the tutorial)'][name]:.3f}, on its own "
        f"training rows {found['resubstitution'][name]:.3f}"
        for name in ("C4.5", "NB", "1NN")
    )
    return (
        f"*Asked:* what is the error, and how much does the scheme matter? {samples} bootstrap samples, drawn within classes; "
        f"limits are 95 %. *Answer:* {told}. The nearest neighbour is never wrong on rows that it has seen, so that e632 is "
        "0.632 times E0 for it, whatever the data; .632+ was made for such learners. Which scheme is right cannot be seen on "
        "data whose error is not known: see the next table."
    )


def _shares(data: Dataset, schemes: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    rare = (data.y == data.y.value_counts().idxmin()).to_numpy()
    rows = []
    for name, splitter in schemes.items():
        parts = list(splitter.freeze(data.X, data.y))
        tested = [float(rare[part.test].mean()) for part in parts]
        trained = [float(rare[part.train].mean()) for part in parts]
        rows.append((name, len(parts), len(parts[0].test), min(tested), max(tested), min(trained), max(trained)))
    names = ["scheme", "splits", "rows tested", "least in test", "most in test", "least in training", "most in training"]
    return pd.DataFrame(rows, columns=names)


def _shares_note(shares: pd.DataFrame, data: Dataset) -> str:
    share = float((data.y == data.y.value_counts().idxmin()).mean())
    plain, even = shares.iloc[0], shares.iloc[1]
    return (
        f"*Asked:* do folds keep the class shares? The rarer class has {100 * share:.0f} % of the rows; shown is its share. "
        f"*Answer:* in plain folds it has {100 * plain['least in test']:.0f} to {100 * plain['most in test']:.0f} % of the "
        f"test rows, in stratified ones {100 * even['least in test']:.0f} to {100 * even['most in test']:.0f} %."
    )


def _stratified_claim(shares: pd.DataFrame, folds: int) -> Claim:
    """Open with few folds, whose shares hardly vary whichever way they are made."""
    spread = shares["most in test"] - shares["least in test"]
    return Claim(
        "Stratification respects the class distribution in every fold, a pure random process does not: the share of the rarer "
        "class varies less over stratified folds",
        bool(spread.iloc[1] < spread.iloc[0]) if spread.iloc[0] > 0 and folds >= 10 else None,
        f"the share of the rarer class varies by {100 * spread.iloc[1]:.0f} points over {folds} stratified folds, by "
        f"{100 * spread.iloc[0]:.0f} over others",
    )


def _picture(seed: int) -> Any:
    from fairtrial.report.figures.folds import draw_splits
    from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, StratifiedKFold

    classes = np.repeat(["bad", "good"], [5, 15])
    rows = np.arange(len(classes)).reshape(-1, 1)
    schemes = {
        "5-fold": KFold(5, random_state=seed),
        "5-fold, stratified": StratifiedKFold(5, random_state=seed),
        "bootstrap, 5 samples": Bootstrap(5, random_state=seed),
        "leave-one-out": LeaveOneOut(),
    }
    return draw_splits({name: each.freeze(rows, classes) for name, each in schemes.items()}, classes)
