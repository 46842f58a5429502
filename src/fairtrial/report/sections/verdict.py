"""The verdict: the test and the reasons for it, its result, and the verdicts under other conditions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import TOPICS, render, render_all, render_certainty, render_headline, render_open_question
from fairtrial._text import capitalize, format_count, format_p_value, join_names, make_p_format
from fairtrial.measures import get_measure
from fairtrial.report.cache import compute_verdict
from fairtrial.report.figures.comparison import draw_pairs, draw_wins, list_comparison_figures
from fairtrial.report.figures.forest import draw_forest, format_estimate
from fairtrial.report.means import compute_scores
from fairtrial.report.names import format_condition_phrase, format_measure_name, get_verdict_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, section
from fairtrial.report.selection import get_main_condition, make_unique_keys, map_unique_keys
from fairtrial.report.tables import build_score_frame
from fairtrial.significance.margins import compute_signed_rank_limits
from fairtrial.significance.names import get_display_name
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition, mask_condition, mask_failed
from fairtrial.study.results.stacking import compute_half_width

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

ALL, LEFT, SPLITS, LOST = "data sets in all", "data sets left out", "splits of the data sets compared", "splits left out"
"""Names of the rows that are added to the verdict table if data sets or splits are left out."""

_PAIR_NAMES = {
    "rank_difference": "difference of mean ranks",
    "p_raw": "p",
    "p_adjusted": "adjusted p",
    "significant": "significantly different",
}
_MARGIN_NAMES = {
    "p_superiority": "p, superiority",
    "p_non_inferiority": "p, non-inferiority",
    "p_equivalence": "p, equivalence",
    "p_inferiority": "p, inferiority",
    "needed": "needed to decide",
}
_MARGIN_NOTE = (
    "Differences are first minus second. Decisions are based on the confidence limits, which are adjusted over all pairs of "
    "this table (Bonferroni). The p-values are one-sided and not adjusted."
)
_POSTERIOR_NAMES = {"p_first": "first better", "p_rope": "practically equivalent", "p_second": "second better"}
_LEARNER_NAMES = {
    "sd": "standard deviation",
    "mean_rank": "mean rank",
    "effect_vs_best": "effect size of best vs. this learner",
}
_FOUR = "{:.4f}"
_EFFECT_NOTE = (
    "The effect of the best learner over each other learner is the rank-biserial correlation. It is 1 if the best learner is "
    "better on every data set, and 0 if gains and losses balance."
)
_TITLES = {
    "critical-difference": "Critical-difference diagram",
    "ranks": "Ranks",
    "pairs": "Pairwise differences",
    "simplex": "Posterior probabilities of the two learners",
    "density": "Posterior density of the difference",
}
_MAX_LISTED_PAIRS, _MAX_PAIRED = 6, 12
MAX_ALTERNATIVES, MAX_TRIALS = 12, 20_000
"""Maximum numbers of verdicts and trials for which all measures of a study are tested."""
MAX_DRAWN = 20
"""Maximum number of learners in a figure. If there are more learners, figures show only the best ones."""
_EXCLUSION_TOPICS = ("completeness", "excluded rows and columns", "failed trials", "missing scores")


@section("verdict", title="The verdict", order=50, serves=("study", "judgement", "comparison"), question="better")
def build_section(source: ReportSource) -> Section | None:
    """Report the verdict in sentences, figures and tables.

    For a study, add the verdicts under other conditions and on other measures.
    """
    if source.kind != "study":
        return (
            None if source.verdict is None else _build_verdict_section(VerdictContext.from_scores(source.verdict), source.noun)
        )
    results = source.get_results()
    contexts = VerdictContext.list_alternatives(results)
    main = contexts[0]
    if len(contexts) == 1 or all(context.verdict is None for context in contexts):
        if main.verdict is None:
            return Section("verdict", "The verdict", (Sentence(main.reason),))
        return _build_verdict_section(main, source.noun, scores_elsewhere=_has_equal_score_table(results, main))
    has_measures, has_conditions = (len(set(names)) > 1 for names in zip(*map(_name_alternative, contexts), strict=True))
    subsections, findings = [], []
    for context in contexts:
        measure, condition = _name_alternative(context)
        when = ({"measure": measure} if has_measures else {}) | ({"condition": condition} if has_conditions else {})
        part = _build_alternative(results, context, main, source.noun, has_measures)
        subsections.append(replace(part, when=when))
        scope = " ".join(filter(None, [f"in {measure}" if has_measures else "", context.scope]))
        text = context.reason if context.verdict is None else describe_pairs(context.verdict, source.noun, scope)
        findings.append(Sentence(text, when=when))
    figures = tuple(replace(figure, when=part.when) for part in subsections for figure in part.figures)
    parts = tuple(replace(part, figures=()) for part in subsections)
    return Section("verdict", "The verdict", tuple(findings), figures, subsections=parts)


def _name_alternative(context: VerdictContext) -> tuple[str, str]:
    """Return the display names of the measure and the condition of a verdict."""
    assert context.condition is not None
    return format_measure_name(context.measure), format_condition(context.condition)


def _build_alternative(
    results: Results, context: VerdictContext, main: VerdictContext, noun: str, has_measures: bool
) -> Section:
    """Build the subsection for one measure under one condition.

    Only subsections on the measure of the study's verdict contain all tables.
    """
    assert context.condition is not None
    key, is_main = f"{context.key}-main" if context is main else context.key, context.measure == main.measure
    title = capitalize(format_condition_phrase(context.condition))
    title = f"{capitalize(format_measure_name(context.measure))} {title[:1].lower()}{title[1:]}" if has_measures else title
    if context.verdict is None:
        return Section(key, title, (Sentence(context.reason),))
    elsewhere = context is not main or _has_equal_score_table(results, context)
    section = replace(_build_verdict_section(context, noun, scores_elsewhere=elsewhere), key=key, title=title)
    if is_main:
        return section
    tables = tuple(table for table in section.tables if not table.key.endswith(("-reasons", "-ranks-each")))
    note = render(Finding.of("other_measure", measure=format_measure_name(main.measure)))
    return replace(section, tables=tables, notes=(note, *section.notes))


def _build_verdict_section(context: VerdictContext, noun: str, *, scores_elsewhere: bool = False) -> Section:
    verdict = context.get_verdict()
    further = build_further_tables(context, scores_elsewhere=scores_elsewhere)
    return Section(
        "verdict",
        "The verdict",
        _describe_verdict(context, noun),
        draw_verdict_figures(context, [name for name in _TITLES if name != "ranks"]),  # a table contains the ranks
        (build_facts_table(context), build_learners_table(context), *further),
        render_all((*_list_other_caveats(verdict), *verdict.outcome.findings), noun),
    )


def _describe_verdict(context: VerdictContext, noun: str) -> tuple[Sentence, ...]:
    """Describe the pairs, the answer (unless it repeats the text about the pairs), and the results of the tests."""
    pairs = describe_pairs(context.get_verdict(), noun, context.scope)
    answer, *others = context.describe(noun)
    is_same = answer.text == pairs
    return (Sentence(pairs), *([] if is_same else [answer]), *others)


def describe_pairs(verdict: Verdict, noun: str = "learner", scope: str = "") -> str:
    """Describe which pairs are significantly different. With two learners or a control, describe the whole answer."""
    ranking = verdict.ranking
    is_whole = len(ranking.names) < 3 or bool(ranking.control)
    if np.isnan(verdict.p_value) or (is_whole and ranking.undecidable is None):
        return verdict.summarize(noun, scope)
    text = render(_find_pairs(verdict), noun)
    return f"{capitalize(scope)}, {text[:1].lower()}{text[1:]}" if scope else text


def _find_pairs(verdict: Verdict) -> Finding:
    """Find which pairs are significantly different, or why this cannot be decided."""
    ranking = verdict.ranking
    if ranking.undecidable is not None:
        units = format_count(len(verdict.table.datasets), verdict.unit)
        if len(ranking.names) == 2:
            return Finding.of("pair_undecidable", first=ranking.names[0], second=ranking.names[1], units=units)
        return Finding.of("no_pair_decidable", units=units)
    pairs = [pair for pair in ranking.pairs if not np.isnan(pair.p_adjusted)]
    if not ranking.significant_pairs:
        smallest = min((pair.p_adjusted for pair in pairs), default=float("nan"))
        return Finding.of("no_pair_different", pairs=len(pairs), p=smallest, alpha=verdict.alpha)
    losers: dict[str, list[str]] = {}
    for pair in ranking.significant_pairs:
        losers.setdefault(pair.better, []).append(pair.other)
    significant = len(ranking.significant_pairs)
    if significant > _MAX_LISTED_PAIRS:
        return Finding.of("many_pairs_different", significant=significant, pairs=len(pairs))
    winners: dict[tuple[str, ...], list[str]] = {}
    for name, others in losers.items():
        winners.setdefault(tuple(others), []).append(name)
    wins = "; ".join(
        f"{join_names(names)} {'beats' if len(names) == 1 else 'beat'} {join_names(others)}"
        for others, names in winners.items()
    )
    return Finding.of("pairs_different", significant=significant, pairs=len(pairs), wins=wins)


@dataclass(frozen=True, eq=False)
class VerdictContext:
    """A verdict with its condition and the key of its tables.

    If there is no verdict, `reason` explains why. `basis` counts the data sets and splits that were left out. `scope` is a
    phrase that limits the answer, e.g. to a condition.
    """

    condition: ConditionFacts | None
    key: str
    verdict: Verdict | None
    reason: str = ""
    scope: str = ""
    basis: Basis | None = None
    measure: str = ""

    @classmethod
    def from_study(cls, results: Results, measure: str, condition: ConditionFacts, key: str = "verdict") -> VerdictContext:
        """Compute the verdict on a measure under a condition."""
        scope = format_condition_phrase(condition) if len(results.archive.conditions) > 1 else ""
        verdict, reason = compute_verdict(results, measure, condition)
        if verdict is None:
            return cls(condition, key, None, reason, scope, measure=measure)
        return cls(condition, key, verdict, "", scope, compute_basis(results, verdict, measure, condition), measure)

    @classmethod
    def list_for_study(cls, results: Results) -> list[VerdictContext]:
        """List the verdicts on the declared measure under each condition. The main condition comes first."""
        measure, conditions = get_verdict_measure_name(results), results.archive.conditions
        first = get_main_condition(results)
        others = [condition for condition in conditions if condition is not first]
        keys = [f"verdict-{key}" for key in make_unique_keys(format_condition(condition) for condition in others)]
        return [
            cls.from_study(results, measure, condition, key)
            for condition, key in zip([first, *others], ["verdict", *keys], strict=True)
        ]

    @classmethod
    def list_alternatives(cls, results: Results) -> list[VerdictContext]:
        """List the verdicts of `list_for_study`. Add the verdicts on the other measures, unless there would be too many."""
        contexts, main = cls.list_for_study(results), get_verdict_measure_name(results)
        keys = {name: key for name, key in map_unique_keys(results.measures).items() if name != main}
        if (1 + len(keys)) * len(contexts) > MAX_ALTERNATIVES or len(results.trials()) > MAX_TRIALS:
            return contexts
        others = [
            cls.from_study(results, measure, context.condition, f"{context.key}-by-{key}")
            for measure, key in keys.items()
            for context in contexts
            if context.condition is not None
        ]
        return [*contexts, *others]

    @classmethod
    def from_scores(cls, verdict: Verdict) -> VerdictContext:
        """Build the context of a verdict on a table of scores."""
        excluded = verdict.excluded
        basis = Basis(excluded.used_datasets, excluded.datasets, excluded.planned_splits, excluded.splits)
        return cls(None, "verdict", verdict, basis=basis)

    @property
    def subject(self) -> str:
        """The measure and the condition of a study, formatted as the end of a title. Empty for a table of scores."""
        condition = format_condition(self.condition) if self.condition is not None and self.scope else ""
        names = [format_measure_name(self.measure) if self.measure else "", condition]
        return f": {', '.join(filter(None, names))}" if any(names) else ""

    def get_verdict(self) -> Verdict:
        """Return the verdict, which must exist."""
        assert self.verdict is not None
        return self.verdict

    def build_facts(self) -> pd.DataFrame:
        """Build a frame of facts about the verdict, including the numbers of data sets and splits that were left out."""
        return build_verdict_facts(self.get_verdict(), self.basis)

    def build_learners(self) -> pd.DataFrame:
        """Build a frame with one row per learner, best first."""
        return self.get_verdict().frame().rename(columns=_LEARNER_NAMES).set_index("learner")

    def describe(self, noun: str = "learner") -> tuple[Sentence, ...]:
        """Describe the answer, the test result, the effect size, the posterior, and the exclusions."""
        verdict = self.get_verdict()
        results = [finding for finding in verdict.findings if finding.kind.startswith(_RESULT_KINDS)]
        return (Sentence(verdict.summarize(noun, self.scope)), *map(Sentence, render_all((*results, *self.exclusions), noun)))

    def describe_headline(self, noun: str = "learner", scope: str = "") -> list[str]:
        """Describe the answer and its certainty in at most two strings."""
        verdict = self.get_verdict()
        if np.isnan(verdict.p_value) and verdict.posthoc is None:
            return [verdict.summarize(noun, scope)]
        ranking = replace(verdict.ranking, scope=scope)
        if ranking.undecidable is not None and ranking.criterion:
            return list(render_open_question(ranking, noun))
        if ranking.undecidable is not None:
            reason, kind = ranking.undecidable, "pair_needs"
            reason = Finding(kind, reason.values) if reason.kind == "cannot_decide_pair" else reason
            return [describe_pairs(verdict, noun, scope), render(reason, noun)]
        return [render_headline(ranking, noun), *self._describe_certainty(noun)]

    def _describe_certainty(self, noun: str) -> list[str]:
        """Describe the relevant differences and the test. Omit the test if the text on the ranking already names it."""
        verdict = self.get_verdict()
        ranking = verdict.ranking
        if len(ranking.names) == 2:
            return _describe_pair_difference(verdict)
        certainty = "" if ranking.control else render_certainty(ranking)
        test = "" if certainty and ranking.tests else render(verdict.test_result, noun)
        return [" ".join(filter(None, [certainty, test]))]

    def describe_answer(self, noun: str = "learner", scope: str = "") -> list[str]:
        """Describe the answer, the test result, and the exclusions."""
        verdict = self.get_verdict()
        return [verdict.summarize(noun, scope), *render_all((verdict.test_result, *self.exclusions), noun)]

    @property
    def exclusions(self) -> tuple[Finding, ...]:
        """The findings that report what was left out of the verdict, and why."""
        verdict = self.get_verdict()
        findings = (*verdict.reasons, *verdict.caveats)
        return tuple(finding for finding in findings if _follows_answer(finding))


def _list_other_caveats(verdict: Verdict) -> list[Finding]:
    """List the caveats that are not reported with the answer."""
    return [caveat for caveat in verdict.caveats if not _follows_answer(caveat)]


def _follows_answer(finding: Finding) -> bool:
    """Return whether a finding is an exclusion or an assumption that is reported with the answer."""
    return finding.kind == "direction_default" or TOPICS.get(finding.kind) in _EXCLUSION_TOPICS


_RESULT_KINDS = (
    *("test_result", "effect_size", "posterior", "omnibus_without_pairs", "pairs_without_omnibus"),
    *("margin_decision", "margin_not_equivalent", "margin_inconclusive", "margin_few_units", "margin_undefined"),
)


@dataclass(frozen=True)
class Basis:
    """The data sets and splits on which a verdict is based, and those that were left out."""

    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    splits: int
    splits_left_out: int

    def facts(self) -> dict[str, int]:
        """Count the data sets and splits that were left out. The result is empty if nothing was left out."""
        n_excluded = len(self.left_out)
        counts = {ALL: len(self.datasets) + n_excluded, LEFT: n_excluded} if n_excluded else {}
        return counts | ({SPLITS: self.splits, LOST: self.splits_left_out} if self.splits_left_out else {})


def compute_basis(results: Results, verdict: Verdict, measure: str, condition: ConditionFacts) -> Basis:
    """Find the data sets on which a verdict is based, and what was left out under a condition."""
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
    left_out = tuple(name for name in names if name not in kept_datasets)
    lost = sum(int(planned.get(name, 0) - used.get(name, 0)) for name in kept_datasets)
    return Basis(tuple(kept_datasets), left_out, sum(int(planned.get(name, 0)) for name in kept_datasets), lost)


def build_facts_table(context: VerdictContext) -> ReportTable:
    """Build the table of the test result and of other facts about a verdict."""
    verdict = context.get_verdict()
    note = f"Test: {describe_choice(verdict.choice)}."
    effect = verdict.outcome.effect
    if effect is not None:
        note += f" Effect size: {get_display_name(effect.name)}" + (f" ({effect.note})." if effect.note else ".")
        note += "" if verdict.pair is None else " It is the effect of the better learner over the other learner."
    number_format = _choose_p_format(verdict.p_value, verdict.alpha)
    return ReportTable(f"{context.key}-facts", "Test result", context.build_facts(), {"value": number_format}, note)


def _choose_p_format(p: float, alpha: float) -> str:
    """Choose six significant digits, or more if they are needed to show that p differs from alpha."""
    digits = 6
    while p != alpha and f"{p:.{digits}g}" == f"{alpha:.{digits}g}":
        digits += 1
    return f"{{:.{digits}g}}"


def build_verdict_facts(verdict: Verdict, basis: Basis | None = None) -> pd.DataFrame:
    """Build a frame of the numbers of a verdict. With two learners, the effect size is that of the better learner.

    >>> from fairtrial.significance.compare import compare
    >>> facts = build_verdict_facts(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets"))
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
        facts |= dict(zip(("effect", "effect, lower limit", "effect, upper limit"), values, strict=True))
        facts["confidence level, %"] = round(100 * effect.level, 10)
    if verdict.posterior is not None:
        facts |= _collect_posterior_facts(verdict)
    return pd.DataFrame(
        {"value": pd.Series([_to_plain_number(value) for value in facts.values()], dtype=object).to_numpy()},
        index=pd.Index(facts, name="quantity"),
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
    """Build the table of means, ranks and effect sizes of the learners."""
    frame = context.build_learners()
    return ReportTable(
        f"{context.key}-learners", "Learners, best first", frame, dict.fromkeys(frame.columns, _FOUR), _EFFECT_NOTE
    )


def build_further_tables(context: VerdictContext, *, scores_elsewhere: bool = False) -> tuple[ReportTable, ...]:
    """Build the tables of reasons, comparisons and ranks. Add a table of scores unless another section shows the scores."""
    verdict = context.get_verdict()
    scores, unit = build_score_frame(verdict), verdict.unit
    ranks = verdict.ranks().rename_axis(index=unit)
    pairs = build_comparisons_frame(verdict)
    p_values = [name for name in ("p", "adjusted p") if name in pairs]
    formats = dict.fromkeys(["difference", "difference of mean ranks"], _FOUR)
    formats |= dict.fromkeys(p_values, make_p_format(verdict.alpha))
    pair_note = (
        f"Differences are first minus second; wins, ties and losses of the first over the {unit}s. "
        "Significantly different: adjusted p is at most alpha."
    )
    tables = (
        ReportTable(f"{context.key}-reasons", "Reasons for this choice of test", verdict.explain_choice()),
        ReportTable(f"{context.key}-comparisons", "Pairwise comparisons", pairs, formats, pair_note, None, True),
        ReportTable(
            f"{context.key}-ranks-each", f"Ranks on each {unit}", ranks, dict.fromkeys(ranks.columns, "{:g}"), "", "min", True
        ),
        ReportTable(
            f"{context.key}-scores",
            f"Scores that were compared, by {unit}",
            scores,
            dict.fromkeys(scores.columns, _FOUR),
            "",
            verdict.better,
            True,
        ),
    )
    return (tables[0], *_build_margin_tables(context), *(tables[1:-1] if scores_elsewhere else tables[1:]))


def _build_margin_tables(context: VerdictContext) -> list[ReportTable]:
    """Build the tables of decisions at the margin and of posterior probabilities, if the verdict contains them."""
    verdict, tables = context.get_verdict(), []
    if verdict.margins:
        frame = verdict.margin_frame().rename(columns=_MARGIN_NAMES).assign(test=get_display_name(verdict.margins[0][2].test))
        formats = dict.fromkeys(["difference", "low", "high"], _FOUR) | {"level": "{:.4g}", "margin": "{:g}"}
        p_names = [name for name in _MARGIN_NAMES.values() if name.startswith("p, ")]
        formats |= dict.fromkeys(p_names, make_p_format(verdict.alpha))
        title = f"Decisions at the margin {verdict.margins[0][2].margin:g}"
        tables.append(ReportTable(f"{context.key}-margins", title, frame, formats, _MARGIN_NOTE))
    if len(verdict.posteriors) > 1:
        frame = verdict.posterior_frame().rename(columns=_POSTERIOR_NAMES)
        frame["test"] = frame["test"].map(get_display_name)
        formats = dict.fromkeys(["first better", "practically equivalent", "second better"], "{:.3f}") | {"rope": "{:g}"}
        tables.append(ReportTable(f"{context.key}-posteriors", "Posterior probabilities of each pair", frame, formats))
    return tables


def build_comparisons_frame(verdict: Verdict) -> pd.DataFrame:
    """Build a frame with one row per comparison."""
    pairs = verdict.pairs()
    return pairs.assign(significant=["yes" if different else "no" for different in pairs["significant"]]).rename(
        columns=_PAIR_NAMES
    )


def _has_equal_score_table(results: Results, context: VerdictContext) -> bool:
    """Return whether the section on data sets contains a table of the same scores."""
    verdict, condition = context.get_verdict(), context.condition
    assert condition is not None
    if verdict.unit != "data set" or context.measure not in results.measures:
        return False
    wide = results.wide(context.measure, condition.name, condition.level)
    scores = build_score_frame(verdict)
    same = list(map(str, wide.index)) == list(scores.index) and list(map(str, wide.columns)) == list(scores.columns)
    return same and bool(np.allclose(scores.to_numpy(), wide.to_numpy(dtype=np.float64), rtol=0, atol=1e-12))


def draw_verdict_figures(context: VerdictContext, names: Collection[str] | None = None) -> tuple[Figure, ...]:
    """Draw all applicable figures of a verdict, or only the named figures.

    With more than `MAX_DRAWN` learners, only the pairs of the best learners are drawn.
    """
    verdict = context.get_verdict()
    learners = verdict.table.learners
    frames = {"ranks": verdict.ranks(), "pairs": verdict.pairs(), "critical-difference": build_rank_groups(verdict)}
    charts = list_comparison_figures(verdict)
    if len(learners) > MAX_DRAWN:
        best = list(verdict.order[:_MAX_PAIRED])
        pairs = verdict.pairs()
        frames["pairs"] = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
        charts = {"pairs": lambda: draw_pairs(frames["pairs"], order=best, unit=verdict.unit, alpha=verdict.alpha)}
    size: Any = "half" if len(learners) <= 5 and max(map(len, learners)) <= 20 else "wide"
    figures = {
        name: Figure(
            f"{context.key}-{name}",
            f"{_TITLES[name]}{context.subject}",
            draw(),
            _format_verdict_alt(name, verdict),
            frames.get(name),
            size=size,
        )
        for name, draw in charts.items()
        if (names is None or name in names) and not (name in ("pairs", "ranks") and len(frames[name]) == 0)
    }
    lead = ("pairs", "simplex", "density") if len(learners) == 2 else ("critical-difference", "pairs")
    return tuple(replace(figure, lead=name in lead) for name, figure in figures.items())


def _format_verdict_alt(name: str, verdict: Verdict) -> str:
    order = join_names([str(learner) for learner in verdict.mean_ranks.index])
    pair = " and ".join(verdict.table.learners[:2])
    return {
        "critical-difference": (
            f"Learners on a line by mean rank, best first: {order}. Bars join learners without a significant difference."
        ),
        "ranks": f"Number of {verdict.unit}s on which each learner has each rank. Best mean rank first: {order}.",
        "pairs": f"Matrix of the differences between {order} with adjusted p-values; significant pairs are framed.",
        "simplex": f"Posterior samples in a triangle, with corners for {pair} and for practical equivalence.",
        "density": f"Posterior density of the difference between {pair}.",
    }[name]


def describe_choice(choice: str) -> str:
    """Describe `Verdict.choice`: the test, and how pairs are compared.

    >>> describe_choice("friedman (iman_davenport) + bergmann")
    'Friedman test (Iman-Davenport), pairs by Bergmann-Hommel'
    """
    test, *procedures = choice.split(" + ")
    pairs = ["pairs without adjustment" if name == "none" else f"pairs by {get_display_name(name)}" for name in procedures]
    return ", ".join([get_display_name(test), *pairs])


_LEVEL_ALPHA = 0.05


def draw_answer_figures(verdict: Verdict, condition: str = "") -> tuple[Figure, ...]:
    """Draw the figures of the answer: mean ranks, mean scores, differences from the best learner, or wins.

    If a study has several conditions, the titles name the condition to which the answer applies.
    """
    means, learners = _draw_means(verdict, condition), verdict.table.learners
    if len(learners) == 2:
        return (_draw_differences(verdict, condition), _draw_pair(verdict))
    if verdict.unit != "data set":
        return (means, _draw_differences(verdict, condition))
    if len(learners) > MAX_DRAWN:
        return (replace(means, size="wide"),)
    size: Any = "half" if len(learners) <= 10 and max(map(len, learners)) <= 20 else "wide"
    chart = list_comparison_figures(verdict)["critical-difference"]()
    alt = _format_verdict_alt("critical-difference", verdict)
    names = ", ".join(filter(None, [verdict.measure_name, condition]))
    title = f"Critical-difference diagram: {names}" if names else "Critical-difference diagram"
    frame = build_rank_groups(verdict)
    return (Figure("answer-critical-difference", title, chart, alt, frame, size=size), replace(means, size=size))


def build_rank_groups(verdict: Verdict) -> pd.DataFrame:
    """Build a frame of the mean rank and the group numbers of each learner. Learners in a group do not differ significantly."""
    groups = verdict.groups if verdict.posthoc is not None else ()
    lines = verdict.mean_ranks.rename_axis("learner").rename("mean rank").reset_index()
    members = [[str(number) for number, names in enumerate(groups, 1) if name in names] for name in lines["learner"]]
    return lines.assign(group=[" ".join(numbers) for numbers in members])


def build_means(verdict: Verdict) -> pd.DataFrame:
    """Build a frame of the mean score of each learner with its 95 % interval, in the order of the verdict."""
    import pandas as pd

    lowest, highest = (-np.inf, np.inf) if verdict.measure is None else get_measure(verdict.measure).facts.range
    ranking = verdict.ranking
    not_worse = (*ranking.best, *ranking.not_worse) if ranking.worse and ranking.not_worse else ()
    lines = []
    for name in verdict.order:
        mean, low, high = _compute_interval(verdict, verdict.table.values[:, verdict.table.learners.index(name)])
        limits = float(np.maximum(low, lowest)), float(np.minimum(high, highest))
        lines.append((name, name, mean, *limits, name in not_worse))
    return pd.DataFrame(lines, columns=["label", "learner", "estimate", "low", "high", "shaded"])


def build_differences(verdict: Verdict) -> pd.DataFrame:
    """Build a frame of the differences from the best learner or the control, with 95 % intervals and p-values."""
    import pandas as pd

    table, reference = verdict.table, verdict.control or verdict.order[0]
    p_values = {frozenset(pair): p for *pair, _, p in verdict.comparisons}
    baseline = table.values[:, table.learners.index(reference)]
    lines = [
        (name, name, *_compute_difference(verdict, table.values[:, table.learners.index(name)] - baseline), p_values[pair])
        for name in verdict.order
        if (pair := frozenset((name, reference))) in p_values
    ]
    frame = pd.DataFrame(lines, columns=["label", "learner", "estimate", "low", "high", "p"])
    return frame.assign(text=[format_p_value(p, verdict.alpha) for p in frame["p"]])


def _compute_interval(verdict: Verdict, values: Any) -> tuple[float, float, float]:
    """Compute the mean and its t interval. Over splits, the interval is corrected for the overlap of training sets."""
    mean = float(values.mean())
    if not np.isfinite(values).all():
        return mean, float("nan"), float("nan")
    fraction = float(verdict.outcome.details.get("test_fraction", 0.0)) if verdict.unit == "split" else 0.0
    half_width = compute_half_width(values, fraction, _LEVEL_ALPHA) if 0 <= fraction < 1 else float("nan")
    return mean, mean - half_width, mean + half_width


def _format_interval_subtitle(verdict: Verdict, count: int) -> str:
    units = format_count(len(verdict.table.datasets), verdict.unit)
    corrected = (
        ", corrected for their overlap" if verdict.unit == "split" and verdict.outcome.details.get("test_fraction") else ""
    )
    left_out = "" if count == len(verdict.table.learners) else f"; the best {count} of {len(verdict.table.learners)} learners"
    return f"95 % t intervals over {units}{corrected}{left_out}"


def _draw_means(verdict: Verdict, condition: str = "") -> Figure:
    frame = build_means(verdict).head(MAX_DRAWN)
    measure = verdict.measure_name or "score"
    subtitle = _format_interval_subtitle(verdict, len(frame))
    subtitle += "; sorted by mean rank" if verdict.ranking.criterion == "mean rank" else ""
    subtitle += "; shaded: not significantly worse than the best" if frame["shaded"].any() else ""
    title = f"Mean {measure}" + (f", {condition}" if condition else "")
    limits = (-np.inf, np.inf) if verdict.measure is None else get_measure(verdict.measure).facts.range
    chart = draw_forest(frame, title=title, subtitle=subtitle, limits=limits, step=_choose_step(len(frame)))
    return Figure("answer-means", title, chart, format_means_alt(frame, measure, verdict.better), frame)


def _choose_step(count: int) -> int:
    """Choose the row height of a forest plot, so that few rows fill the figure and many rows fit into it."""
    return max(18, min(40, 230 // max(count, 1)))


def format_means_alt(frame: pd.DataFrame, measure: str, better: str) -> str:
    """Describe a figure of means by its best and its worst value."""
    defined = frame[np.isfinite(frame["estimate"].to_numpy(dtype=np.float64))].sort_values("estimate", kind="stable")
    if defined.empty:
        return f"The mean {measure} is undefined."
    best, worst = (defined.iloc[-1], defined.iloc[0]) if better == "max" else (defined.iloc[0], defined.iloc[-1])
    text = f"{best['learner']} has the best mean {measure}, {format_estimate(best['estimate'])}"
    return f"{text}." if len(defined) == 1 else f"{text}; {worst['learner']} the worst, {format_estimate(worst['estimate'])}."


def _has_rank_limits(verdict: Verdict) -> bool:
    """Return whether the Wilcoxon test compares two learners.

    In this case, the interval for their difference is obtained by inverting the test.
    """
    return len(verdict.table.learners) == 2 and verdict.outcome.test == "wilcoxon"


def _compute_difference(verdict: Verdict, values: Any) -> tuple[float, float, float]:
    """Compute the difference between two learners, and the interval that matches their test."""
    if not _has_rank_limits(verdict):
        return _compute_interval(verdict, values)
    return compute_signed_rank_limits(values, _LEVEL_ALPHA)


def _describe_pair_difference(verdict: Verdict) -> list[str]:
    """Describe the difference between two learners, its interval, and how often the better learner wins."""
    best, other = verdict.order
    indices = [verdict.table.learners.index(name) for name in (best, other)]
    difference, low, high = _compute_difference(
        verdict, verdict.table.values[:, indices[0]] - verdict.table.values[:, indices[1]]
    )
    if not np.isfinite(low):
        return [render(verdict.test_result)]
    finding = Finding.of(
        "pair_difference_ranks" if _has_rank_limits(verdict) else "pair_difference",
        difference=difference,
        interval=(low, high),
        first=best,
        wins=verdict.count_wins(*indices)[0],
        units=format_count(len(verdict.table.datasets), verdict.unit),
    )
    return [render(finding)]


def _draw_differences(verdict: Verdict, condition: str = "") -> Figure:
    frame, reference = build_differences(verdict).head(MAX_DRAWN), verdict.control or verdict.order[0]
    measure = verdict.measure_name or "score"
    side = "Left" if verdict.better == "max" else "Right"
    adjusted = "adjusted p" if len(verdict.comparisons) > 1 else "p"
    intervals = _format_interval_subtitle(verdict, len(verdict.table.learners))
    if _has_rank_limits(verdict):
        intervals = "Hodges-Lehmann estimate, 95 % interval of the Wilcoxon test"
    subtitle = f"{capitalize(measure)}, paired; {intervals}; {adjusted}"
    title = f"Difference from {reference}" + (f", {condition}" if condition else "")
    chart = draw_forest(
        frame,
        title=title,
        subtitle=f"{subtitle}. {side} of zero: worse",
        has_zero=True,
        step=_choose_step(len(frame)),
    )
    lines = [f"{line['label']} {format_estimate(line['estimate'])} ({line['text']})" for line in frame.to_dict("records")]
    return Figure("answer-differences", title, chart, f"Difference in {measure} from {reference}: {join_names(lines)}.", frame)


def _draw_pair(verdict: Verdict) -> Figure:
    """Draw the posterior density of the difference between two learners or, without a posterior, the wins of each learner."""
    import pandas as pd

    figures = list_comparison_figures(verdict)
    if "density" in figures:
        return Figure("answer-density", _TITLES["density"], figures["density"](), _format_verdict_alt("density", verdict))
    first, second = verdict.order
    wins, ties, losses = verdict.count_wins(*(verdict.table.learners.index(name) for name in (first, second)))
    frame = pd.DataFrame({"outcome": [first, "tie", second], f"{verdict.unit}s": [wins, ties, losses]})
    alt = f"{first} is better on {format_count(wins, verdict.unit)}, {second} on {losses}; {format_count(ties, 'tie')}."
    chart = draw_wins((first, second), (wins, ties, losses), unit=verdict.unit)
    return Figure("answer-wins", f"Number of {verdict.unit}s on which each is better", chart, alt, frame)


_RANKS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def compare_conditions(main: VerdictContext, others: Collection[VerdictContext]) -> str:
    """Describe a condition under which another learner ranks first, or state that there is no such condition.

    Return an empty string if there is no verdict to compare.
    """
    if main.verdict is None:
        return ""
    former = main.verdict.order[0]
    contexts = [context for context in others if context.verdict is not None and former in context.verdict.order]
    changed = [context for context in contexts if former not in context.get_verdict().ranking.best]
    if not changed:
        where = f"under {join_names([format_condition(context.condition) for context in contexts if context.condition])}"
        return render(Finding.of("rank_kept", first=former, where=where)) if contexts else ""
    context = changed[0]
    verdict, order = context.get_verdict(), context.get_verdict().order
    index = order.index(former)
    is_last = index == len(order) - 1 and len(order) > 2
    rank = "last" if is_last else _RANKS[index] if index < len(_RANKS) else "lower"
    p = next((p for one, other, _, p in verdict.comparisons if {one, other} == {order[0], former}), float("nan"))
    difference = ""
    if not np.isnan(p):
        word = "significant" if p <= verdict.alpha else "not significant"
        adjusted = "adjusted " if len(verdict.comparisons) > 1 else ""
        difference = f"; the difference between the two is {word} ({adjusted}{format_p_value(p, verdict.alpha)})"
    assert context.condition is not None
    where = capitalize(format_condition_phrase(context.condition))
    return render(Finding.of("rank_reversal", where=where, first=order[0], former=former, rank=rank, difference=difference))
