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
        (),
        (Table("permutation", "The permutation test on Labour", frame, _note(frame, times), digits=3),),
        _claims(frame, times, data.y.value_counts().max(), len(data.y)),
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


_LEVEL = 0.05


def _rejects(p_value: float, times: int) -> bool | None:
    """Whether p is below the level, by its Monte Carlo interval; None where so few bogus data sets leave it open."""
    low, high = _limits(p_value, times)
    return True if high < _LEVEL else False if low > _LEVEL else None


def _limits(p_value: float, times: int) -> tuple[float, float]:
    """The 95 % interval of what p would be of endless bogus data sets: of the share that is at least as good."""
    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    low, high = compute_clopper_pearson_limits(round(p_value * (times + 1)) - 1, times, 0.95)
    return float(low), float(high)


def alike(rows: int, most: int) -> float:
    """The probability that labels by a coin give one of two classes so many rows, or more.

    >>> round(alike(57, 37), 3)
    0.033
    """
    from scipy.stats import binom

    return min(1.0, 2 * float(binom.sf(most - 1, rows, 0.5)))


def _note(frame: Any, times: int) -> str:
    nb, trivial = frame.iloc[0], frame.iloc[1]
    low, high = _limits(trivial["p, switched"], times)
    answer = {
        True: "for naive Bayes it could hardly",
        False: "for naive Bayes it could",
        None: f"{times} such sets cannot tell, since p is {1 / (times + 1):.3f} at least; of naive Bayes nothing follows"
        if 1 / (times + 1) >= _LEVEL
        else f"for naive Bayes {times} such sets leave it open",
    }[_rejects(nb["p, permuted"], times)]
    return (
        f"*Asked:* could the accuracy have been obtained on bogus data? {times} bogus data sets each way. *Answer:* {answer} "
        f"(p = {nb['p, permuted']:.3f} with permuted labels). The tutorial makes bogus data by leaving or switching each "
        "label by chance. That changes the class shares, too. The classifier that always says the more frequent class has "
        f"learnt nothing; it is right in {100 * trivial['mean, switched']:.0f} % of the cases on such data, in "
        f"{100 * trivial['accuracy']:.0f} % on the true data, and gets p = {trivial['p, switched']:.3f} "
        f"({low:.3f} to {high:.3f} with so many bogus data sets). "
        f"Permuting keeps the shares: p = {trivial['p, permuted']:.3f}."
    )


def _claims(frame: Any, times: int, most: int, rows: int) -> tuple[Claim, ...]:
    """A small p decides; one that is not small shows nothing."""
    nb, trivial = frame.iloc[0], frame.iloc[1]
    low, high = _limits(trivial["p, switched"], times)
    few = f"; {times} bogus data sets, so that p is {1 / (times + 1):.3f} at least"
    return (
        Claim(
            f"Naive Bayes on Labour is better than on bogus data (p < {_LEVEL:g})",
            True if _rejects(nb["p, permuted"], times) else None,
            f"p = {nb['p, permuted']:.3f}, labels permuted{few}",
        ),
        Claim(
            f"Switching labels at random makes the right bogus data (nothing learnt does not get p < {_LEVEL:g})",
            False if _rejects(trivial["p, switched"], times) else None,
            f"a classifier that has learnt nothing gets p = {trivial['p, switched']:.3f} ({low:.3f} to {high:.3f}; permuted "
            f"labels: {trivial['p, permuted']:.3f}){few}; a coin gives {most} or more of {rows} labels alike with probability "
            f"{alike(rows, most):.3f}; the slide describes the procedure only",
        ),
    )
