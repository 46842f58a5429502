"""The tables of a verdict: every number that its words hold is a cell of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.checks.kept import verdict_of
from fairtrial.report.compare import scores_of
from fairtrial.report.section import Table
from fairtrial.report.sections.basis import Basis, basis_of
from fairtrial.report.sections.method_words import choice_words, effect_words
from fairtrial.report.sentence import p_form
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

_PAIR_NAMES = {
    "rank_difference": "difference of mean ranks",
    "p_raw": "p",
    "p_adjusted": "adjusted p",
    "different": "told apart",
}
_LEARNER_NAMES = {"sd": "standard deviation", "mean_rank": "mean rank", "effect_vs_best": "effect of the best against it"}
_FOUR = "{:.4f}"
_EFFECT_NOTE = (
    "The effect is the rank biserial correlation: one where the best is better everywhere, zero where gains and losses balance."
)


@dataclass(frozen=True, eq=False)
class Judged:
    """A verdict on a condition with the key of its tables; or why there is none.

    `where` is said instead of the condition, where scores come from elsewhere than a study. `basis` says what was left out of
    a study's scores.
    """

    condition: ConditionFacts
    key: str
    learners: tuple[str, ...]
    verdict: Verdict | None
    reason: str = ""
    where: str = ""
    basis: Basis | None = None


def judged(results: Results, measure: str, condition: ConditionFacts, key: str = "verdict") -> Judged:
    """The verdict on a measure under a condition, or what stands against one."""
    learners = tuple(each.name for each in results.archive.learners)
    found, reason = verdict_of(results, measure, condition)
    if found is None:
        return Judged(condition, key, learners, None, reason)
    return Judged(condition, key, learners, found, basis=basis_of(results, found, measure, condition))


def facts_of(judged: Judged) -> pd.DataFrame:
    """The frame of the facts of a verdict, with what was left out."""
    assert judged.verdict is not None
    return facts_frame(judged.verdict, judged.basis)


def facts_frame(verdict: Verdict, basis: Basis | None = None) -> pd.DataFrame:
    """Numbers of a verdict by name, at full precision; an effect of two learners is in favour of the one ahead.

    >>> from fairtrial.significance.advise import advise
    >>> found = facts_frame(advise([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]]))
    >>> found.loc["p", "value"], found.loc["data sets", "value"]
    (0.0625, 5)
    """
    import pandas as pd

    outcome, apart = verdict.outcome, [p for *_, p in verdict.comparisons if p <= verdict.alpha]
    facts: dict[str, Any] = {
        "learners": len(verdict.table.learners),
        f"{verdict.unit}s": len(verdict.table.datasets),
        **(basis.facts() if basis is not None else {}),
        "statistic": float(outcome.statistic),
        "p": float(verdict.p_value),
        "alpha": float(verdict.alpha),
        "comparisons": len(verdict.comparisons),
        "told apart": len(apart),
        "left open": len(verdict.comparisons) - len(apart),
    }
    facts |= {name: _plain(value) for name, value in outcome.details.items() if not name.startswith("mean rank")}
    effect = outcome.effect
    if effect is not None:
        values = effect.estimate, effect.low, effect.high
        if verdict.pair is not None and effect.estimate < 0:
            values = -effect.estimate, -effect.high, -effect.low
        facts |= dict(zip(("effect", "effect, low", "effect, high"), values, strict=True))
        facts["level of the interval, %"] = round(100 * effect.level, 10)
    if verdict.posterior is not None:
        facts |= _belief(verdict)
    return pd.DataFrame(
        {"value": pd.Series([_plain(each) for each in facts.values()], dtype=object).to_numpy()},
        index=pd.Index(facts, name="fact"),
    )


def _plain(value: Any) -> Any:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _belief(verdict: Verdict) -> dict[str, Any]:
    found = verdict.posterior
    assert found is not None
    first, second = verdict.table.learners
    return {
        f"probability that {first} is better": found.p_first,
        "probability of practical equality": found.p_rope,
        f"probability that {second} is better": found.p_second,
        "region of practical equivalence": found.rope,
    }


def learners_frame(verdict: Verdict) -> pd.DataFrame:
    """A line for each learner, the best first."""
    return verdict.frame().rename(columns=_LEARNER_NAMES).set_index("learner")


def pairs_frame(verdict: Verdict) -> pd.DataFrame:
    """A line for each comparison."""
    pairs = verdict.pairs()
    return pairs.assign(different=["yes" if each else "no" for each in pairs["different"]]).rename(columns=_PAIR_NAMES)


def facts_table(judged: Judged) -> Table:
    """The facts of a verdict."""
    assert judged.verdict is not None
    note = f"Test: {choice_words(judged.verdict.choice)}."
    effect = judged.verdict.outcome.effect
    if effect is not None:
        note += f" Effect: {effect_words(effect.name)}" + (f" ({effect.note})." if effect.note else ".")
        note += "" if judged.verdict.pair is None else " It is positive in favour of the learner that is ahead."
    form = _told_apart_form(judged.verdict.p_value, judged.verdict.alpha)
    return Table(f"{judged.key}-facts", "The verdict in numbers", facts_of(judged), {"value": form}, note)


def _told_apart_form(p: float, alpha: float) -> str:
    """Six digits, or as many as show that p is not alpha."""
    digits = 6
    while p != alpha and f"{p:.{digits}g}" == f"{alpha:.{digits}g}":
        digits += 1
    return f"{{:.{digits}g}}"


def learners_table(judged: Judged) -> Table:
    """Means, ranks and effects of the learners."""
    assert judged.verdict is not None
    frame = learners_frame(judged.verdict)
    return Table(f"{judged.key}-learners", "Learners, the best first", frame, dict.fromkeys(frame.columns, _FOUR), _EFFECT_NOTE)


def further_tables(judged: Judged, *, scores_elsewhere: bool = False) -> tuple[Table, ...]:
    """Steps, comparisons, ranks, and the scores where they are not in another table of the report."""
    verdict = judged.verdict
    assert verdict is not None
    import pandas as pd

    steps = pd.DataFrame(list(verdict.steps), columns=["question", "answer", "reason"])
    scores, unit = scores_of(verdict), verdict.unit
    ranks = verdict.ranks().rename_axis(index=unit)
    pairs = pairs_frame(verdict)
    p_values = [name for name in ("p", "adjusted p") if name in pairs]
    formats = dict.fromkeys(["difference", "difference of mean ranks"], _FOUR)
    formats |= dict.fromkeys(p_values, p_form(pairs[p_values].to_numpy(dtype=np.float64).ravel(), verdict.alpha, 3))
    pair_note = (
        f"First less second; wins, ties and losses of the first over the {unit}s. Told apart: adjusted p of at most alpha."
    )
    tables = (
        Table(f"{judged.key}-steps", "Which test, and why", steps),
        Table(f"{judged.key}-comparisons", "Comparisons of pairs", pairs, formats, pair_note, None, True),
        Table(
            f"{judged.key}-ranks-each", f"Ranks on each {unit}", ranks, dict.fromkeys(ranks.columns, "{:g}"), "", "min", True
        ),
        Table(
            f"{judged.key}-scores",
            f"Scores that were judged, by {unit}",
            scores,
            dict.fromkeys(scores.columns, _FOUR),
            "",
            verdict.better,
            True,
        ),
    )
    return tables[:-1] if scores_elsewhere else tables


def shown_elsewhere(results: Results, judged: Judged, measure: str) -> bool:
    """Whether the section of data sets has a table of the same scores."""
    verdict = judged.verdict
    assert verdict is not None
    if verdict.unit != "data set" or measure not in results.measures:
        return False
    wide = results.wide(measure, judged.condition.name, judged.condition.level)
    own = scores_of(verdict)
    same = list(map(str, wide.index)) == list(own.index) and list(map(str, wide.columns)) == list(own.columns)
    return same and bool(np.allclose(own.to_numpy(), wide.to_numpy(dtype=np.float64), rtol=0, atol=1e-12))
