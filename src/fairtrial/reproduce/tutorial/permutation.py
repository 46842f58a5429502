"""The permutation test on Labour: labels permuted, and labels switched by a coin as the tutorial has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table

if TYPE_CHECKING:
    from fairtrial.data import Dataset


def permutation(data: Dataset, request: Request) -> Reproduction:
    """Both ways to make bogus data, for naive Bayes and for a classifier that has learnt nothing."""
    import pandas as pd
    from sklearn.dummy import DummyClassifier

    from fairtrial.learners import NaiveBayes

    times, folds = request.pick(smoke=(3, 2), quick=(99, 5), full=(499, 10))
    learners = {"NB": NaiveBayes(), "the more frequent class": DummyClassifier()}
    rows = [{"learner": name, **_judged(learner, data, times, folds, request.seed)} for name, learner in learners.items()]
    frame = pd.DataFrame(rows)
    return Reproduction(
        (), (Table("permutation", "The permutation test on Labour", frame, _note(frame, times), digits=3),), _claims(frame)
    )


def _judged(learner: Any, data: Dataset, times: int, folds: int, seed: int) -> dict[str, float]:
    from fairtrial.significance import label_permutation

    found = label_permutation(learner, data.X, data.y, cv=folds, resamples=times, seed=seed)
    assert found.effect is not None
    bogus = switched_accuracies(learner, data, times, folds, seed)
    return {
        "accuracy": found.statistic,
        "mean, permuted": found.statistic - found.effect.estimate,
        "p, permuted": found.p_value,
        "mean, switched": float(np.mean(bogus)),
        "p, switched": float((1 + np.sum(np.asarray(bogus) >= found.statistic - 1e-12)) / (1 + times)),
    }


def switched_accuracies(learner: Any, data: Dataset, times: int, folds: int, seed: int) -> list[float]:
    """Accuracies on bogus data whose labels were each switched by the toss of a coin."""
    import pandas as pd

    from fairtrial.resampling import StratifiedKFold

    rng = np.random.default_rng([seed, 11])
    codes = data.y.cat.codes.to_numpy()
    found = []
    for _ in range(times):
        bogus = pd.Series(
            pd.Categorical.from_codes(np.where(rng.random(len(codes)) < 0.5, 1 - codes, codes), data.y.cat.categories)
        )
        splits = StratifiedKFold(folds, random_state=int(rng.integers(2**31))).split(data.X, bogus)
        found.append(float(np.mean([_accuracy(learner, data.X, bogus, *part) for part in splits])))
    return found


def _accuracy(learner: Any, X: Any, y: Any, train: Any, test: Any) -> float:
    told = np.asarray(learner.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test])).astype(str)
    return float(np.mean(told == y.iloc[test].astype(str).to_numpy()))


def _note(frame: Any, times: int) -> str:
    nb, trivial = frame.iloc[0], frame.iloc[1]
    return (
        f"*Asked:* could the accuracy have been obtained on bogus data? {times} bogus data sets each way. *Answer:* for naive "
        "Bayes it could hardly "
        f"(p = {nb['p, permuted']:.3f} with permuted labels). The tutorial makes bogus data by leaving or switching each "
        "label by chance. That changes the class shares, "
        "too: on such data even the classifier that always says the more frequent class is right in "
        f"{100 * trivial['mean, switched']:.0f} % of the cases only, not in {100 * trivial['accuracy']:.0f} %, and gets p = "
        f"{trivial['p, switched']:.3f} although it has learnt nothing. "
        f"Permuting keeps the shares: p = {trivial['p, permuted']:.3f}."
    )


def _claims(frame: Any) -> tuple[Claim, ...]:
    nb, trivial = frame.iloc[0], frame.iloc[1]
    return (
        Claim(
            "Naive Bayes on Labour is better than on bogus data",
            bool(nb["p, permuted"] < 0.05),
            f"p = {nb['p, permuted']:.3f}, labels permuted",
        ),
        Claim(
            "Switching labels at random makes the right bogus data",
            bool(trivial["p, switched"] > 0.05),
            f"a classifier that has learnt nothing gets p = {trivial['p, switched']:.3f} (permuted labels: "
            f"{trivial['p, permuted']:.3f})",
        ),
    )
