"""What a judgement says, made from its tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import Measure
from fairtrial.significance.p_words import told_p
from fairtrial.study.predictions.judged_positive import Positives, worse_than_guessing

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Verdict

_TESTS = {
    "mcnemar": "McNemar's test",
    "delong": "DeLong's test",
    "bootstrap_difference": "the bootstrap",
    "permutation_test": "the permutation test",
}


def verdict_words(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    main: Measure,
    level: float,
    alpha: float,
    verdict: Verdict | None,
    positives: Positives | None = None,
) -> tuple[str, ...]:
    """Who is ahead and how sure that is: for each data set by its rows, then over data sets or splits."""
    told = []
    datasets = list(dict.fromkeys(scores["dataset"]))
    for name in datasets:
        every = scores[scores["dataset"] == name]
        own = every[every["measure"] == main.name]
        where = f"On {name}: " if len(datasets) > 1 else ""
        said = where + _of_one(own, pairs[pairs["dataset"] == name], main, level, alpha)
        told.append(" ".join([said, *([] if positives is None else _worse(every, positives))]))
    if verdict is not None:
        what = "Over the data sets" if verdict.unit == "data set" else "Over the splits"
        told.append(f"{what}: {as_models(' '.join(verdict.findings), verdict.table.learners)}")
    return tuple(told)


def as_models(words: str, names: Sequence[str]) -> str:
    """What was written of learners, said of models; names stay as they are.

    >>> as_models("The learners are equal, learner1 too.", ["learner1"])
    'The models are equal, learner1 too.'
    """
    kept = "|".join(re.escape(name) for name in sorted(map(str, names), key=len, reverse=True))
    return re.sub(rf"({kept})|\blearner(s?)\b", lambda found: found[1] or f"model{found[2]}", words)


def _worse(scores: pd.DataFrame, positives: Positives) -> list[str]:
    """What to think of models whose AUC lies below that of guessing."""
    names = [str(name) for name in worse_than_guessing(scores, positives)["model"]]
    if not names:
        return []
    be = "is" if len(names) == 1 else "are"
    return [
        f"By auc {_listed(names)} {be} worse than guessing: perhaps the scores are those of the other class; "
        f"{positives.remedy}."
    ]


def _of_one(scores: pd.DataFrame, pairs: pd.DataFrame, main: Measure, level: float, alpha: float) -> str:
    known = scores[scores["estimate"].notna()].sort_values("estimate", ascending=main.facts.direction == "min", kind="stable")
    if not len(known):
        return f"{main.name} has no value here, so that there is nothing to say."
    best = known.iloc[0]
    limits = f" ({100 * level:g} % interval {best['low']:.4g} to {best['high']:.4g})" if np.isfinite(best["low"]) else ""
    if len(known) == 1:
        value = told_apart(float(best["estimate"]), ())
        return f"{best['model']} has {main.name} {value}{limits}.{_chance(best, main)}"
    equal = [str(name) for name in known.loc[known["estimate"] == best["estimate"], "model"]]
    value = told_apart(float(best["estimate"]), known["estimate"])
    head = f"{best['model']} has the best {main.name}, {value}{limits}."
    if len(equal) > 1:
        head = f"{_listed(equal)} have the best {main.name}, {value}."
    deciding = pairs[pairs["decides"]]
    others = [str(name) for name in known["model"] if str(name) not in equal]
    lines = [line for line in (_against(equal[0], other, deciding) for other in others) if line is not None]
    who = "It" if len(equal) == 1 else equal[0]
    return " ".join([head, *_compared(lines, who, main, alpha), *_how(lines, deciding, alpha)])


def told_apart(value: float, others: Iterable[float]) -> str:
    """A number with 4 digits, and more where it would be written as another one of them or, being less, as 1.

    >>> told_apart(0.999977, [0.999977, 0.999936]), told_apart(0.91234, [0.8]), told_apart(1.0, [0.99999])
    ('0.99998', '0.9123', '1')
    """
    apart = [each for each in (*others, 1.0) if each != value]
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if text not in {f"{each:.{digits}g}" for each in apart}:
            return text
    return repr(value)


def _compared(lines: Sequence[dict[str, Any]], who: str, main: Measure, alpha: float) -> list[str]:
    """Whom the best is told apart from; models that predict different rows may change places on those that both predict."""
    sign = 1 if main.facts.direction == "max" else -1
    apart = [line for line in lines if line["adjusted"] <= alpha]
    kinds = (
        (f"{who} is ahead of ", [line for line in apart if sign * line["difference"] > 0]),
        (f"{who} cannot be told apart from ", [line for line in lines if not line["adjusted"] <= alpha]),
        (
            f"On the rows that both predict {'it' if who == 'It' else who} is behind ",
            [line for line in apart if not sign * line["difference"] > 0],
        ),
    )
    many = len(lines) > 1
    return [f"{words}{_listed([_told(line, many, alpha) for line in found])}." for words, found in kinds if found]


def _how(lines: Sequence[dict[str, Any]], deciding: pd.DataFrame, alpha: float) -> list[str]:
    """By which test, what is adjusted, and why an interval without zero may not be enough."""
    tests = list(dict.fromkeys(str(line["test"]) for line in lines))
    if not tests:
        return []
    many = int(deciding["adjusted"].notna().sum())
    how = f", p adjusted by Holm's procedure over {many} pairs; intervals are of each pair alone" if many > 1 else ""
    told = [f"By {' and '.join(_TESTS.get(test, test) for test in tests)} at level {alpha:g}{how}."]
    names = {cause: [str(line["second"]) for line in lines if disagreement(line, alpha) == cause] for cause in CAUSES}
    return told + [
        f"The interval of the difference from {_listed(own)} excludes zero, but {why}." for why, own in names.items() if own
    ]


ADJUSTED = "p, once adjusted for the number of pairs, does not reject"
OTHERWISE = "the test is made in another way, or at another level, than the interval, and does not reject"
CAUSES = (ADJUSTED, OTHERWISE)


def disagreement(line: Any, alpha: float) -> str:
    """Why a difference whose interval excludes zero is not told apart; nothing where they agree."""
    excludes = line["low"] > 0 or line["high"] < 0
    if not excludes or not line["adjusted"] > alpha:
        return ""
    return ADJUSTED if line.get("p_value", np.nan) <= alpha else OTHERWISE


def _chance(line: pd.Series[Any], main: Measure) -> str:
    """Whether a lone model is better than guessing, where the measure knows what guessing gives."""
    chance, low, high = main.facts.chance, float(line["low"]), float(line["high"])
    if chance is None or not np.isfinite(low):
        return ""
    beyond, below = (low > chance, high < chance) if main.facts.direction == "max" else (high < chance, low > chance)
    told = "better than" if beyond else "worse than" if below else "not surely better than"
    return f" That is {told} guessing ({chance:g})."


def _against(best: object, other: object, deciding: pd.DataFrame) -> dict[str, Any] | None:
    """The comparison of two models, the best one being the first."""
    for line in deciding.to_dict("records"):
        if line["first"] == best and line["second"] == other:
            return {str(key): value for key, value in line.items()}
        if line["first"] == other and line["second"] == best:
            turned = {"difference": 0.0 - line["difference"], "low": 0.0 - line["high"], "high": 0.0 - line["low"]}
            return {**{str(key): value for key, value in line.items()}, **turned, "second": other}
    return None


def _told(line: dict[str, Any], many: bool, alpha: float) -> str:
    limits = f", interval {line['low']:.4g} to {line['high']:.4g}" if np.isfinite(line["low"]) else ""
    adjusted = " adjusted" if many else ""
    p = told_p(line["adjusted"], alpha, floor=bool(line.get("floor", False)))
    return f"{line['second']} (difference {line['difference']:.4g}{limits}, {p}{adjusted})"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
