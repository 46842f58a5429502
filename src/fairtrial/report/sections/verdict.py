"""The verdict: which test and why, what it found, and whether that holds under the other conditions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.cache import compute_verdict
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.means import compute_scores
from fairtrial.report.names import (
    concat_sentences,
    describe_test,
    format_condition_phrase,
    format_measure_name,
    get_verdict_measure_name,
    join_names,
)
from fairtrial.report.section import (
    Figure,
    ReportTable,
    Section,
    Sentence,
    build_sentence,
    choose_p_format,
    format_number,
    format_p_value,
    section,
)
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.report.tables import build_score_frame
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition, mask_condition, mask_failed

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

ALL, LEFT, SPLITS, LOST = "data sets in all", "data sets left out", "splits of the data sets judged", "splits left out"
"""Facts of the verdict's table, where something is left out."""

_PAIR_NAMES = {
    "rank_difference": "difference of mean ranks",
    "p_raw": "p",
    "p_adjusted": "adjusted p",
    "significant": "significantly different",
}
_LEARNER_NAMES = {"sd": "standard deviation", "mean_rank": "mean rank", "effect_vs_best": "effect of the best against it"}
_FOUR = "{:.4f}"
_EFFECT_NOTE = (
    "The effect is the rank biserial correlation: one where the best is better everywhere, zero where gains and losses balance."
)
_NO_ROPE = (
    "A Bayesian test would say how likely the two are practically equal: it needs a region of practical equivalence ({rope})."
)
_ROPE_OF_STUDY, _ROPE_OF_SCORES = "[verdict] rope", "--rope, in Python rope="
# How findings begin that say again what was found, the order, the size, the pairs and what is believed.
_REPEATED_PREFIXES = (
    "Result:",
    "Mean ranks over ",
    "Size",
    "Told apart, ",
    "Nothing is told apart ",
    "The learners are not all equal, ",
    "The test of all learners together ",
    "Bayesian (",
)
_TITLES = {
    "critical-difference": "Critical-difference diagram",
    "ranks": "Ranks",
    "pairs": "Differences of pairs",
    "simplex": "What is to be believed of the two",
    "density": "What is to be believed of the difference",
}
_SCORES = ConditionFacts("clean", 0.0, "scores as they were given", {})
_EFFECTS = {
    "rank_biserial": "rank biserial correlation",
    "cohens_d": "Cohen's d",
    "hedges_g": "Hedges' g",
    "cliffs_delta": "Cliff's delta",
    "vargha_delaney_a12": "Vargha and Delaney's A",
    "akinshin_gamma": "Akinshin's gamma",
}


@section("verdict", title="The verdict", order=50, serves="study")
def build_section(results: Results) -> Section:
    """The verdict on the declared measure under clean, then in short under each other condition."""
    main, *others = VerdictContext.list_for_study(results)
    measure_text = format_measure_name(get_verdict_measure_name(results))
    subsections = tuple(_build_condition_verdict(context, measure_text) for context in others)
    if main.verdict is None:
        return Section("verdict", "The verdict", (_describe_missing_verdict(main, measure_text),), (), (), (), subsections)
    further = build_further_tables(
        main, scores_elsewhere=_has_equal_score_table(results, main, get_verdict_measure_name(results))
    )
    tables = (build_facts_table(main), build_learners_table(main), *further)
    return Section(
        "verdict",
        "The verdict",
        main.describe(measure_text),
        _draw_figures(main, [name for name in _TITLES if name != "ranks"]),  # a table has the ranks
        tables,
        _select_cautions(main.verdict),
        subsections,
    )


@section("verdict", title="The verdict", order=50, serves="judgement")
def build_judgement_section(judgement: Judgement) -> Section | None:
    """The verdict over data sets or splits; None if the judgement has none."""
    return None if judgement.verdict is None else build_comparison_section(judgement.verdict)


@section("verdict", title="The verdict", order=50, serves="comparison")
def build_comparison_section(verdict: Verdict) -> Section:
    """The verdict in words, figures and tables, with every choice and its reason."""
    context = VerdictContext.from_scores(verdict)
    tables = (build_facts_table(context), build_learners_table(context), *build_further_tables(context))
    sentences = context.describe(format_measure_name(verdict.measure) if verdict.measure else "the scores")
    return Section("verdict", "The verdict", sentences, _draw_figures(context), tables, _select_cautions(verdict))


def _build_condition_verdict(context: VerdictContext, measure_text: str) -> Section:
    title = f"Under {format_condition(context.condition)}"
    if context.verdict is None:
        return Section(context.key, title, (_describe_missing_verdict(context, measure_text),))
    tables = (build_facts_table(context), build_learners_table(context))
    return Section(
        context.key,
        title,
        context.describe(measure_text),
        _draw_figures(context, ["critical-difference"]),
        tables,
    )


def _describe_missing_verdict(context: VerdictContext, measure_text: str) -> Sentence:
    where = format_condition_phrase(context.condition)
    return build_sentence(
        "There is no verdict on {measure} {where}. {reason}", measure=measure_text, where=where, reason=context.reason
    )


def _select_cautions(verdict: Verdict) -> tuple[str, ...]:
    """What a verdict says beside what the sentences and tables of its section tell already."""
    return tuple(finding_text for finding_text in verdict.findings if not finding_text.startswith(_REPEATED_PREFIXES))


@dataclass(frozen=True, eq=False)
class VerdictContext:
    """A verdict on a condition with the key of its tables; or why there is none.

    `where` is said instead of the condition, where scores come from elsewhere than a study. `basis` says what was left out of
    the scores. Methods that describe the verdict need one.
    """

    condition: ConditionFacts
    key: str
    learners: tuple[str, ...]
    verdict: Verdict | None
    reason: str = ""
    where: str = ""
    basis: Basis | None = None

    @classmethod
    def from_study(cls, results: Results, measure: str, condition: ConditionFacts, key: str = "verdict") -> VerdictContext:
        """The verdict on a measure under a condition, or what stands against one."""
        learners = tuple(learner.name for learner in results.archive.learners)
        verdict, reason = compute_verdict(results, measure, condition)
        if verdict is None:
            return cls(condition, key, learners, None, reason)
        return cls(condition, key, learners, verdict, basis=compute_basis(results, verdict, measure, condition))

    @classmethod
    def list_for_study(cls, results: Results) -> list[VerdictContext]:
        """The verdict on the declared measure under each condition, clean first."""
        measure, conditions = get_verdict_measure_name(results), results.archive.conditions
        first = get_main_condition(results)
        others = [condition for condition in conditions if condition is not first]
        keys = [f"verdict-{key}" for key in make_unique_keys(format_condition(condition) for condition in others)]
        return [
            cls.from_study(results, measure, condition, key)
            for condition, key in zip([first, *others], ["verdict", *keys], strict=True)
        ]

    @classmethod
    def from_scores(cls, verdict: Verdict) -> VerdictContext:
        """A verdict on a table of scores, without what missing scores left out."""
        excluded = verdict.excluded
        left_out = {"because not every learner has a score there": list(excluded.datasets)} if excluded.datasets else {}
        basis = Basis(excluded.used_datasets, left_out, excluded.planned_splits, excluded.splits)
        learners = (*verdict.table.learners, *excluded.learners)
        return cls(_SCORES, "verdict", learners, verdict, where=f"over the {verdict.unit}s", basis=basis)

    def build_facts(self) -> pd.DataFrame:
        """The frame of the facts of the verdict, with what was left out."""
        assert self.verdict is not None
        return build_verdict_facts(self.verdict, self.basis)

    def build_learners(self) -> pd.DataFrame:
        """A line for each learner, the best first."""
        assert self.verdict is not None
        return self.verdict.frame().rename(columns=_LEARNER_NAMES).set_index("learner")

    def describe(self, measure_text: str) -> tuple[Sentence, ...]:
        """On what it rests, what was found, how sure it is, and how large: chosen by the numbers."""
        sentences = (
            self.describe_basis(),
            self.describe_finding(measure_text),
            self.describe_test_result(),
            self.describe_effect_size(),
            *self.describe_posterior(),
        )
        return tuple(sentence for sentence in sentences if sentence is not None)

    def describe_basis(self) -> Sentence | None:
        """What is left out of the verdict; None where nothing is."""
        return None if self.basis is None else self.basis.describe(self.build_facts(), f"{self.key}-facts")

    def describe_finding(self, measure_text: str) -> Sentence:
        """Who is told apart from whom, and who could not be judged."""
        left_out = [name for name in self.learners if self.verdict is not None and name not in self.verdict.table.learners]
        if not left_out:
            return self._describe_differences(measure_text)
        return concat_sentences(
            [
                self._describe_differences(measure_text),
                build_sentence(" For want of scores nothing is said of {names}.", names=join_names(left_out)),
            ]
        )

    def _describe_differences(self, measure_text: str) -> Sentence:
        verdict = self.verdict
        assert verdict is not None
        parts: dict[str, Any] = {"measure": measure_text, "where": self.where or format_condition_phrase(self.condition)}
        different = [verdict.order_pair(first, second) for first, second, _, p in verdict.comparisons if p <= verdict.alpha]
        where = "By {measure} {where}, "
        if not different:
            names = join_names(list(verdict.order))
            if verdict.posthoc is not None and verdict.p_value <= verdict.alpha:
                open_ended = "{names} are not all equally good, but the data do not suffice to say which of them differ."
                return build_sentence(where + open_ended, **parts, names=names)
            return build_sentence(
                where + "{names} cannot be told apart. That does not show that they are equal.", **parts, names=names
            )
        head = verdict.order[0] if verdict.control is None else verdict.control
        behind = [loser for best, loser in different if best == head]
        ahead = [best for best, loser in different if loser == head]
        tied = [name for name in verdict.order if name not in (head, *behind, *ahead)]
        parts |= {"head": head, "behind": join_names(behind), "ahead": join_names(ahead), "level": join_names(tied)}
        clauses = []
        if behind:
            clauses.append("{head} is ahead of {behind}")
        if ahead:
            clauses.append("{ahead} " + ("is" if len(ahead) == 1 else "are") + " ahead of {head}")
        if tied:
            clauses.append("{head} cannot be told from {level}")
        return _build_partial_sentence(where + "; ".join(clauses) + ".", parts)

    def describe_test_result(self) -> Sentence:
        """The test, its p value and what it is compared with."""
        verdict = self.verdict
        assert verdict is not None
        frame, key = self.build_facts(), f"{self.key}-facts"
        unit = f"{verdict.unit}s"
        parts: dict[str, Any] = {
            "test": describe_choice(verdict.choice),
            "n": format_number(frame, key, unit, "value", "{:.0f}"),
            "unit": unit,
            "alpha": format_number(frame, key, "alpha", "value", "{:.15g}"),
        }
        if np.isnan(verdict.p_value):
            return _build_partial_sentence(
                "The test ({test}) over {n} {unit} has no p value, for the differences do not vary.", parts
            )
        parts["p"] = format_p_value(frame, key, "p", "value", verdict.alpha, digits=3)
        against = "above" if verdict.p_value > verdict.alpha else "at most"
        template = f"The test ({{test}}) over {{n}} {{unit}} gives p {{p}}, {against} alpha {{alpha}}"
        if len(verdict.comparisons) > 1:
            template += "; {apart} of {comparisons} pairs are told apart"
            parts["apart"] = format_number(frame, key, "significantly different", "value", "{:.0f}")
            parts["comparisons"] = format_number(frame, key, "comparisons", "value", "{:.0f}")
            if parts["apart"].value and verdict.p_value > verdict.alpha:
                template += ", by p values that are adjusted by themselves: take these differences with care"
        return _build_partial_sentence(template + ".", parts)

    def describe_effect_size(self) -> Sentence | None:
        """The effect of the test, with its interval where it has one."""
        verdict = self.verdict
        assert verdict is not None
        effect = verdict.outcome.effect
        if effect is None or np.isnan(effect.estimate):
            return None
        frame, key = self.build_facts(), f"{self.key}-facts"
        names = {"estimate": "effect", "low": "effect, low", "high": "effect, high", "level": "level of the interval, %"}
        formats = {"level": "{:g}"}
        parts: dict[str, Any] = {
            part: format_number(frame, key, fact, "value", formats.get(part, "{:.3g}")) for part, fact in names.items()
        }
        template = "The effect ({name}{pair}) is {estimate}"
        if not np.isnan([effect.low, effect.high]).any():
            template += ", with a {level} % interval from {low} to {high}"
        if verdict.pair is not None and len(verdict.comparisons) > 1:
            template += ", the pair with the smallest p, not adjusted for there being others"
        return _build_partial_sentence(
            template + ".", parts | {"name": describe_effect(effect.name), "pair": _format_effect_pair(verdict)}
        )

    def describe_posterior(self) -> tuple[Sentence, ...]:
        """The posterior of two learners, or how to have one."""
        verdict = self.verdict
        assert verdict is not None
        posterior = verdict.posterior
        if posterior is None:
            return (
                (build_sentence(_NO_ROPE, rope=_ROPE_OF_SCORES if self.where else _ROPE_OF_STUDY),)
                if len(verdict.table.learners) == 2
                else ()
            )
        if np.isnan(posterior.p_first):
            return ()
        frame, key = self.build_facts(), f"{self.key}-facts"
        first, second = verdict.table.learners
        facts = {
            "p_first": f"probability that {first} is better",
            "p_second": f"probability that {second} is better",
            "p_rope": "probability of practical equality",
            "rope": "region of practical equivalence",
        }
        parts: dict[str, Any] = {
            part: format_number(frame, key, fact, "value", "{:g}" if part == "rope" else "{:.3f}")
            for part, fact in facts.items()
        }
        template = "{test} gives {first} a probability of {p_first} to be better, {second} one of {p_second}"
        if posterior.rope > 0:
            template += ", and one of {p_rope} that they are practically equal, within {rope}"
        test = describe_test(posterior.test)
        return (
            _build_partial_sentence(
                template + ".", parts | {"test": test[:1].upper() + test[1:], "first": first, "second": second}
            ),
        )


def _build_partial_sentence(template: str, parts: dict[str, Any]) -> Sentence:
    """A sentence with those parts that its words name."""
    return build_sentence(template, **{name: part for name, part in parts.items() if "{" + name + "}" in template})


def _format_effect_pair(verdict: Verdict) -> str:
    """The pair that the effect is of, the one ahead first; nothing where it is of all learners."""
    return "" if verdict.pair is None else ", {} over {}".format(*verdict.order_pair(*verdict.pair))


@dataclass(frozen=True)
class Basis:
    """The data sets that are judged, those left out by reason, and how many splits of the former are left out."""

    datasets: tuple[str, ...]
    left_out: dict[str, list[str]]
    splits: int
    splits_left_out: int

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left out."""
        return not self.left_out and not self.splits_left_out

    def facts(self) -> dict[str, int]:
        """What the words below count."""
        n_excluded = sum(map(len, self.left_out.values()))
        counts = {ALL: len(self.datasets) + n_excluded, LEFT: n_excluded} if n_excluded else {}
        return counts | ({SPLITS: self.splits, LOST: self.splits_left_out} if self.splits_left_out else {})

    def describe(self, frame: pd.DataFrame, key: str) -> Sentence | None:
        """On what the verdict rests, where something is left out; `frame` holds the facts of the table of this key."""
        sentences = []
        if self.left_out:
            sentences.append(self._describe_excluded_datasets(frame, key))
        if self.splits_left_out:
            parts = {
                "lost": format_number(frame, key, LOST, "value", "{:,}"),
                "splits": format_number(frame, key, SPLITS, "value", "{:,}"),
            }
            pronoun = "its" if len(self.datasets) == 1 else "their"
            verb = "is" if self.splits_left_out == 1 else "are"
            determiner = pronoun if self.left_out else "the"
            template = f"Of {determiner} {{splits}} splits {{lost}} {verb} left out, for not all learners have a value there."
            sentences += [*([Sentence(" ")] if sentences else []), build_sentence(template, **parts)]
        return concat_sentences(sentences) if sentences else None

    def _describe_excluded_datasets(self, frame: pd.DataFrame, key: str) -> Sentence:
        clauses, parts = [], dict[str, Any]()
        for index, (reason, names) in enumerate(self.left_out.items()):
            sets, why = f"sets{'abc'[index]}", f"why{'abc'[index]}"
            parts |= {sets: join_names(names), why: reason}
            clauses.append(f"{{{sets}}} {'is' if len(names) == 1 else 'are'} left out {{{why}}}")
        if len(self.datasets) == 1:
            return build_sentence("On {kept} alone: " + "; ".join(clauses) + ".", kept=self.datasets[0], **parts)
        parts |= {
            "number": format_number(frame, key, "data sets", "value", "{:,}"),
            "all": format_number(frame, key, ALL, "value", "{:,}"),
        }
        return build_sentence("On {number} of {all} data sets: " + "; ".join(clauses) + ".", **parts)


def compute_basis(results: Results, verdict: Verdict, measure: str, condition: ConditionFacts) -> Basis:
    """What the scores and failures under a condition leave to a verdict."""
    declared = results.archive.declaration.get("verdict") or {}
    exclude = (declared.get("failures") or "exclude") == "exclude"
    scores, _ = compute_scores(results, [measure])
    selected_scores = scores[mask_condition(scores, condition) & scores["learner"].isin(verdict.table.learners).to_numpy()]
    selected_scores = selected_scores.astype({"dataset": str, "learner": str})
    bad = mask_failed(selected_scores)
    availability = selected_scores.assign(
        there=np.isfinite(selected_scores["value"].to_numpy(dtype=np.float64)) | (bad & (not exclude))
    )
    splits = availability.groupby(["dataset", "repeat", "fold"], sort=False)["there"].all().groupby(level="dataset", sort=False)
    used, planned = splits.sum(), splits.size()
    names = [dataset.name for dataset in results.archive.datasets]
    failed_datasets = set(selected_scores.loc[bad, "dataset"]) if exclude else set()
    kept_datasets = [name for name in names if used.get(name, 0) and name not in failed_datasets]
    if verdict.unit == "data set":
        kept_datasets = list(verdict.table.datasets)
    reasons: dict[str, list[str]] = {}
    for name in names:
        if name not in kept_datasets:
            reasons.setdefault(_explain_exclusion(selected_scores[selected_scores["dataset"] == name], exclude), []).append(
                name
            )
    lost = sum(int(planned.get(name, 0) - used.get(name, 0)) for name in kept_datasets)
    return Basis(tuple(kept_datasets), reasons, sum(int(planned.get(name, 0)) for name in kept_datasets), lost)


def _explain_exclusion(lines: pd.DataFrame, exclude: bool) -> str:
    """Why a data set is left out, from its lines."""
    failed_learners = lines.loc[mask_failed(lines), "learner"].unique().tolist()
    if failed_learners and exclude:
        return f"because {join_names(failed_learners)} failed there"
    if (lines["status"] == "missing").any():
        return "because trials there have not run"
    return "because not every learner has a value there"


def build_facts_table(context: VerdictContext) -> ReportTable:
    """The facts of a verdict."""
    assert context.verdict is not None
    note = f"Test: {describe_choice(context.verdict.choice)}."
    effect = context.verdict.outcome.effect
    if effect is not None:
        note += f" Effect: {describe_effect(effect.name)}" + (f" ({effect.note})." if effect.note else ".")
        note += "" if context.verdict.pair is None else " It is positive in favour of the learner that is ahead."
    number_format = _choose_p_format(context.verdict.p_value, context.verdict.alpha)
    return ReportTable(f"{context.key}-facts", "The verdict in numbers", context.build_facts(), {"value": number_format}, note)


def _choose_p_format(p: float, alpha: float) -> str:
    """Six digits, or as many as show that p is not alpha."""
    digits = 6
    while p != alpha and f"{p:.{digits}g}" == f"{alpha:.{digits}g}":
        digits += 1
    return f"{{:.{digits}g}}"


def build_verdict_facts(verdict: Verdict, basis: Basis | None = None) -> pd.DataFrame:
    """Numbers of a verdict by name, at full precision; an effect of two learners is in favour of the one ahead.

    >>> from fairtrial.significance.compare import compare
    >>> facts = build_verdict_facts(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]]))
    >>> facts.loc["p", "value"], facts.loc["data sets", "value"]
    (0.0625, 5)
    """
    import pandas as pd

    outcome, significant = verdict.outcome, [p for *_, p in verdict.comparisons if p <= verdict.alpha]
    facts: dict[str, Any] = {
        "learners": len(verdict.table.learners),
        f"{verdict.unit}s": len(verdict.table.datasets),
        **(basis.facts() if basis is not None else {}),
        "statistic": float(outcome.statistic),
        "p": float(verdict.p_value),
        "alpha": float(verdict.alpha),
        "comparisons": len(verdict.comparisons),
        "significantly different": len(significant),
        "not significantly different": len(verdict.comparisons) - len(significant),
    }
    facts |= {name: _to_plain_number(value) for name, value in outcome.details.items() if not name.startswith("mean rank")}
    effect = outcome.effect
    if effect is not None:
        values = effect.estimate, effect.low, effect.high
        if verdict.pair is not None and effect.estimate < 0:
            values = -effect.estimate, -effect.high, -effect.low
        facts |= dict(zip(("effect", "effect, low", "effect, high"), values, strict=True))
        facts["level of the interval, %"] = round(100 * effect.level, 10)
    if verdict.posterior is not None:
        facts |= _collect_posterior_facts(verdict)
    return pd.DataFrame(
        {"value": pd.Series([_to_plain_number(value) for value in facts.values()], dtype=object).to_numpy()},
        index=pd.Index(facts, name="fact"),
    )


def _to_plain_number(value: Any) -> Any:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _collect_posterior_facts(verdict: Verdict) -> dict[str, Any]:
    posterior = verdict.posterior
    assert posterior is not None
    first, second = verdict.table.learners
    return {
        f"probability that {first} is better": posterior.p_first,
        "probability of practical equality": posterior.p_rope,
        f"probability that {second} is better": posterior.p_second,
        "region of practical equivalence": posterior.rope,
    }


def build_learners_table(context: VerdictContext) -> ReportTable:
    """Means, ranks and effects of the learners."""
    frame = context.build_learners()
    return ReportTable(
        f"{context.key}-learners", "Learners, the best first", frame, dict.fromkeys(frame.columns, _FOUR), _EFFECT_NOTE
    )


def build_further_tables(context: VerdictContext, *, scores_elsewhere: bool = False) -> tuple[ReportTable, ...]:
    """Steps, comparisons, ranks, and the scores where they are not in another table of the report."""
    verdict = context.verdict
    assert verdict is not None
    import pandas as pd

    steps = pd.DataFrame(list(verdict.steps), columns=["question", "answer", "reason"])
    scores, unit = build_score_frame(verdict), verdict.unit
    ranks = verdict.ranks().rename_axis(index=unit)
    pairs = build_comparisons_frame(verdict)
    p_values = [name for name in ("p", "adjusted p") if name in pairs]
    formats = dict.fromkeys(["difference", "difference of mean ranks"], _FOUR)
    formats |= dict.fromkeys(p_values, choose_p_format(pairs[p_values].to_numpy(dtype=np.float64).ravel(), verdict.alpha, 3))
    pair_note = (
        f"First less second; wins, ties and losses of the first over the {unit}s. "
        "Significantly different: adjusted p of at most alpha."
    )
    tables = (
        ReportTable(f"{context.key}-steps", "Which test, and why", steps),
        ReportTable(f"{context.key}-comparisons", "Comparisons of pairs", pairs, formats, pair_note, None, True),
        ReportTable(
            f"{context.key}-ranks-each", f"Ranks on each {unit}", ranks, dict.fromkeys(ranks.columns, "{:g}"), "", "min", True
        ),
        ReportTable(
            f"{context.key}-scores",
            f"Scores that were judged, by {unit}",
            scores,
            dict.fromkeys(scores.columns, _FOUR),
            "",
            verdict.better,
            True,
        ),
    )
    return tables[:-1] if scores_elsewhere else tables


def build_comparisons_frame(verdict: Verdict) -> pd.DataFrame:
    """A line for each comparison."""
    pairs = verdict.pairs()
    return pairs.assign(significant=["yes" if different else "no" for different in pairs["significant"]]).rename(
        columns=_PAIR_NAMES
    )


def _has_equal_score_table(results: Results, context: VerdictContext, measure: str) -> bool:
    """Whether the section of data sets has a table of the same scores."""
    verdict = context.verdict
    assert verdict is not None
    if verdict.unit != "data set" or measure not in results.measures:
        return False
    wide = results.wide(measure, context.condition.name, context.condition.level)
    scores = build_score_frame(verdict)
    same = list(map(str, wide.index)) == list(scores.index) and list(map(str, wide.columns)) == list(scores.columns)
    return same and bool(np.allclose(scores.to_numpy(), wide.to_numpy(dtype=np.float64), rtol=0, atol=1e-12))


def _draw_figures(context: VerdictContext, names: Collection[str] | None = None) -> tuple[Figure, ...]:
    """The figures of a verdict: all that apply, or those named. No other figure is drawn."""
    verdict = context.verdict
    assert verdict is not None
    frames = {"ranks": verdict.ranks(), "pairs": verdict.pairs(), "critical-difference": verdict.mean_ranks.reset_index()}
    return tuple(
        Figure(f"{context.key}-{name}", _TITLES[name], draw(), _format_verdict_alt(name, verdict), frames.get(name))
        for name, draw in list_comparison_figures(verdict).items()
        if names is None or name in names
    )


def _format_verdict_alt(name: str, verdict: Verdict) -> str:
    order = join_names([str(learner) for learner in verdict.mean_ranks.index])
    pair = " and ".join(verdict.table.learners[:2])
    return {
        "critical-difference": f"Learners on a line by mean rank, the best first: {order}. Bars join those not told apart.",
        "ranks": f"How often each learner had which rank, by {verdict.unit}; the best mean rank first: {order}.",
        "pairs": f"A matrix of the differences between {order}, with adjusted p values; pairs told apart are framed.",
        "simplex": f"A triangle of draws from the posterior: {pair}, or practical equality.",
        "density": f"The posterior density of the difference between {pair}.",
    }[name]


def describe_choice(choice: str) -> str:
    """What `Verdict.choice` names: the test, and how pairs are compared.

    >>> describe_choice("friedman (iman_davenport) + bergmann")
    'Friedman test (Iman-Davenport), pairs by Bergmann-Hommel'
    """
    test, *procedure = choice.split(" + ")
    return ", ".join([describe_test(test), *(_describe_procedure(name) for name in procedure)])


def describe_effect(name: str) -> str:
    """An effect in words.

    >>> describe_effect("rank_biserial"), describe_effect("Kendall's W")
    ('rank biserial correlation', "Kendall's W")
    """
    return _EFFECTS.get(name, name)


def _describe_procedure(name: str) -> str:
    return "pairs without adjustment" if name == "none" else f"pairs by {describe_test(name)}"
