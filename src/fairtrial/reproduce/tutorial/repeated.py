"""Repeated cross-validation: how often each test cries wolf, and how often it finds a difference that is there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.interval import mean_interval
from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table
from fairtrial.reproduce.tutorial.examples import judged_with

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Outcome

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_ROWS, _EQUAL, _WORSE = 100, 1.0, 0.4
_FEWEST = 100  # simulated data sets; a share of rejections about 0.05 of fewer has hardly any rejection in it


def repeated(request: Request) -> Reproduction:
    """Type-I error and power of the tests on simulated data where both are known."""
    replicates = request.pick(smoke=20, quick=500, full=4000)
    rejected = {
        truth: _rejections(replicates, shift, request.seed) for truth, shift in (("equal", _EQUAL), ("different", _WORSE))
    }
    frame = _frame(rejected)
    table = Table(
        "repeated_tests", "5 x 2 and 10 x 10: false alarms and power of the tests", frame, _note(frame, replicates), 3
    )
    return Reproduction((), (table,), judged_with(_claims(rejected), replicates, _FEWEST, "simulated data sets"))


def _tests() -> dict[str, tuple[str, Callable[[FloatArray, FloatArray], Outcome]]]:
    """Each test: the scheme whose accuracies it takes, and how."""
    from fairtrial.significance import corrected_resampled_t, five_by_two_f, five_by_two_t, paired_t, ten_by_ten

    return {
        "10-fold, paired t": ("10x10", lambda a, b: paired_t(a[0], b[0])),
        "5x2, t (Dietterich)": ("5x2", five_by_two_t),
        "5x2, F (Alpaydin)": ("5x2", five_by_two_f),
        "10x10, paired t of runs": ("10x10", lambda a, b: paired_t(a.mean(axis=1), b.mean(axis=1))),
        "10x10, paired t of all folds": ("10x10", lambda a, b: paired_t(a.ravel(), b.ravel())),
        "10x10, calibrated (Bouckaert)": ("10x10", ten_by_ten),
        "10x10, corrected t (Nadeau, Bengio)": (
            "10x10",
            lambda a, b: corrected_resampled_t(a.ravel(), b.ravel(), test_fraction=0.1),
        ),
    }


def _rejections(replicates: int, shift: float, seed: int) -> pd.DataFrame:
    """Which replicates each test rejects at 0.05; differences that do not vary tell nothing."""
    import pandas as pd

    from fairtrial.errors import UndefinedMeasureWarning

    accuracies = {scheme: _accuracies(scheme, replicates, shift, seed) for scheme in ("10x10", "5x2")}
    found: dict[str, list[bool]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        for name, (scheme, test) in _tests().items():
            first, second = accuracies[scheme]
            found[name] = [bool(test(first[i], second[i]).p_value < 0.05) for i in range(replicates)]
    return pd.DataFrame(found)


def _accuracies(scheme: str, replicates: int, shift: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Accuracies (replicates, repeats, folds) of two learners, each of which sees one attribute of its own.

    An attribute is normal with variance 1 about +s/2 or -s/2 by class; the learner cuts half way between the class means.
    Both attributes having the same s, the learners are alike by symmetry. The splits are the same for all replicates.
    """
    from fairtrial.resampling import FiveByTwo, TenByTen

    y = np.repeat([0, 1], _ROWS // 2)
    splitter: Any = {"10x10": TenByTen, "5x2": FiveByTwo}[scheme](random_state=seed)
    splits = list(splitter.freeze(np.zeros((_ROWS, 1)), y))
    rng = np.random.default_rng([seed, 7])
    columns = [rng.normal(size=(replicates, _ROWS)) + s * (y - 0.5) for s in (_EQUAL, shift)]
    shape = (10, 10) if scheme == "10x10" else (5, 2)
    first, second = (
        np.stack([_cut_half_way(column, y, part.train, part.test) for part in splits], axis=1).reshape(replicates, *shape)
        for column in columns
    )
    return first, second


def _cut_half_way(column: FloatArray, y: Any, train: Any, test: Any) -> FloatArray:
    """Accuracy on the test rows, of every replicate, of a cut half way between the class means of the training rows."""
    means = [column[:, train[y[train] == label]].mean(axis=1, keepdims=True) for label in (0, 1)]
    above = column[:, test] > (means[0] + means[1]) / 2
    return np.asarray((above == ((y[test] == 1) == (means[1] >= means[0]))).mean(axis=1))


def _frame(rejected: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    rows = []
    for name in rejected["equal"]:
        line: dict[str, Any] = {"test": name}
        for word, truth in (("false alarms", "equal"), ("power", "different")):
            own = rejected[truth][name]
            low, high = compute_clopper_pearson_limits(int(own.sum()), len(own), 0.95)
            line |= {word: float(own.mean()), f"{word}, low": float(low), f"{word}, high": float(high)}
        rows.append(line)
    return pd.DataFrame(rows)


def _note(frame: pd.DataFrame, replicates: int) -> str:
    keeps = [row["test"] for row in frame.to_dict("records") if row["false alarms, low"] <= 0.05]
    worst = frame.iloc[int(frame["false alarms"].to_numpy().argmax())]
    return (
        f"*Asked:* which test of cross-validated scores may be trusted? {replicates} simulated data sets of {_ROWS} rows; two "
        "learners that are alike by symmetry (false alarms, which should be 5 %), and two that are not (power). *Answer:* "
        f"false alarms are compatible with 5 % or less for {', '.join(keeps) if keeps else 'none'}. Worst is '{worst['test']}' "
        f"with {100 * worst['false alarms']:.0f} %"
        + (": repeating a run on the same rows makes the numbers many, not the evidence." if "10x10" in worst["test"] else ".")
    )


def _claims(rejected: dict[str, pd.DataFrame]) -> tuple[Claim, ...]:
    t, f, fold = "5x2, t (Dietterich)", "5x2, F (Alpaydin)", "10-fold, paired t"
    many = "10x10, paired t of all folds"
    stated = [
        ("The 5x2 t test has fewer false alarms than the t test over 10 folds", "equal", fold, t),
        ("The 5x2 t test has less power than the t test over 10 folds", "different", fold, t),
        ("The 5x2 F test has even fewer false alarms than the 5x2 t test", "equal", t, f),
        ("The 5x2 F test has more power than the 5x2 t test", "different", f, t),
        (f"10x10 {_PLAIN} has more false alarms than 10-fold cross-validation", "equal", many, fold),
        (f"10x10 {_PLAIN} has more power than 10-fold cross-validation", "different", many, fold),
    ]
    found = [_compared(text, rejected[truth], larger, smaller) for text, truth, larger, smaller in stated]
    return (
        *found[:4],
        *(_with_calibrated(claim, rejected[stated[place][1]], fold) for place, claim in enumerate(found[4:], 4)),
    )


_PLAIN = "with the plain t test over all 100 folds"


def _with_calibrated(claim: Claim, rejected: pd.DataFrame, fold: str) -> Claim:
    """The claim, and what Bouckaert's calibrated test of the same 100 folds does: it is he whom the slide cites."""
    other = _compared("", rejected, "10x10, calibrated (Bouckaert)", fold)
    return replace(claim, evidence=f"{claim.evidence}; calibrated: {other.evidence}")


def _compared(text: str, rejected: pd.DataFrame, larger: str, smaller: str) -> Claim:
    """Whether the first rejects more often, by the 95 % interval of the paired difference."""
    gap = mean_interval(rejected[larger].astype(float) - rejected[smaller].astype(float))
    told = f"{rejected[larger].mean():.3f} ({larger}) less {rejected[smaller].mean():.3f} ({smaller}): {gap.told('{:+.3f}')}"
    return Claim(text, gap.above, told)
