"""The verdict: the test and the reasons for it, its result, and the verdict under each other condition."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import TOPICS, render_all
from fairtrial._text import join_names, make_p_format
from fairtrial.report.cache import compute_verdict
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.means import compute_scores
from fairtrial.report.names import format_condition_phrase, get_verdict_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, section
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.report.tables import build_score_frame
from fairtrial.significance.names import get_display_name
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition, mask_condition, mask_failed

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
    "Differences are first minus second. The confidence limits are adjusted over all pairs of this table (Bonferroni) and "
    "decide. The p-values are one-sided and not adjusted."
)
_POSTERIOR_NAMES = {"p_first": "first better", "p_rope": "practically equivalent", "p_second": "second better"}
_LEARNER_NAMES = {"sd": "standard deviation", "mean_rank": "mean rank", "effect_vs_best": "effect of the best learner"}
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
_EXCLUSION_TOPICS = ("completeness", "excluded rows and columns", "failed trials", "missing scores")


@section("verdict", title="The verdict", order=50, serves=("study", "judgement", "comparison"))
def build_section(source: ReportSource) -> Section | None:
    """Build the verdict in sentences, figures and tables. For a study, add the verdict under each other condition."""
    if source.kind != "study":
        return (
            None if source.verdict is None else _build_verdict_section(VerdictContext.from_scores(source.verdict), source.noun)
        )
    results = source.get_results()
    main, *others = VerdictContext.list_for_study(results)
    subsections = tuple(_build_condition_verdict(context) for context in others)
    if main.verdict is None:
        return Section("verdict", "The verdict", (Sentence(main.reason),), subsections=subsections)
    has_scores = _has_equal_score_table(results, main, get_verdict_measure_name(results))
    return _build_verdict_section(main, source.noun, scores_elsewhere=has_scores, subsections=subsections)


def _build_verdict_section(
    context: VerdictContext, noun: str, *, scores_elsewhere: bool = False, subsections: tuple[Section, ...] = ()
) -> Section:
    verdict = context.get_verdict()
    further = build_further_tables(context, scores_elsewhere=scores_elsewhere)
    return Section(
        "verdict",
        "The verdict",
        context.describe(noun),
        _draw_figures(context, [name for name in _TITLES if name != "ranks"]),  # a table contains the ranks
        (build_facts_table(context), build_learners_table(context), *further),
        render_all((*_list_other_caveats(verdict), *verdict.outcome.findings), noun),
        subsections,
    )


def _build_condition_verdict(context: VerdictContext) -> Section:
    assert context.condition is not None
    title = f"Under {format_condition(context.condition)}"
    if context.verdict is None:
        return Section(context.key, title, (Sentence(context.reason),))
    tables = (build_facts_table(context), build_learners_table(context))
    return Section(context.key, title, context.describe(), _draw_figures(context, ["critical-difference"]), tables)


@dataclass(frozen=True, eq=False)
class VerdictContext:
    """A verdict with its condition and the key of its tables or, if there is no verdict, the reason.

    `basis` counts what was left out. `scope` limits the answer, e.g. to a condition.
    """

    condition: ConditionFacts | None
    key: str
    verdict: Verdict | None
    reason: str = ""
    scope: str = ""
    basis: Basis | None = None

    @classmethod
    def from_study(cls, results: Results, measure: str, condition: ConditionFacts, key: str = "verdict") -> VerdictContext:
        """Compute the verdict on a measure under a condition."""
        scope = format_condition_phrase(condition) if len(results.archive.conditions) > 1 else ""
        verdict, reason = compute_verdict(results, measure, condition)
        if verdict is None:
            return cls(condition, key, None, reason, scope)
        return cls(condition, key, verdict, "", scope, compute_basis(results, verdict, measure, condition))

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
    def from_scores(cls, verdict: Verdict) -> VerdictContext:
        """Describe a verdict on a table of scores."""
        excluded = verdict.excluded
        basis = Basis(excluded.used_datasets, excluded.datasets, excluded.planned_splits, excluded.splits)
        return cls(None, "verdict", verdict, basis=basis)

    def get_verdict(self) -> Verdict:
        """Return the verdict. It must exist."""
        assert self.verdict is not None
        return self.verdict

    def build_facts(self) -> pd.DataFrame:
        """Build the frame of the facts of the verdict, including what was left out."""
        return build_verdict_facts(self.get_verdict(), self.basis)

    def build_learners(self) -> pd.DataFrame:
        """Build a frame with one row per learner, best first."""
        return self.get_verdict().frame().rename(columns=_LEARNER_NAMES).set_index("learner")

    def describe(self, noun: str = "learner") -> tuple[Sentence, ...]:
        """Describe the answer, the test result, the effect size, the posterior, and what was left out."""
        verdict = self.get_verdict()
        results = [finding for finding in verdict.findings if finding.kind.startswith(_RESULT_KINDS)]
        return (Sentence(verdict.summarize(noun, self.scope)), *map(Sentence, render_all((*results, *self.exclusions), noun)))

    def describe_answer(self, noun: str = "learner", scope: str = "") -> list[str]:
        """Describe the answer, the test result, and what was left out."""
        verdict = self.get_verdict()
        return [verdict.summarize(noun, scope), *render_all((verdict.test_result, *self.exclusions), noun)]

    @property
    def exclusions(self) -> tuple[Finding, ...]:
        """What was left out of the verdict, and why."""
        verdict = self.get_verdict()
        findings = (*verdict.reasons, *verdict.caveats)
        return tuple(finding for finding in findings if _follows_answer(finding))


def _list_other_caveats(verdict: Verdict) -> list[Finding]:
    """List the caveats except those that follow the answer."""
    return [caveat for caveat in verdict.caveats if not _follows_answer(caveat)]


def _follows_answer(finding: Finding) -> bool:
    """Return whether a finding says what was left out or assumed."""
    return finding.kind == "direction_default" or TOPICS.get(finding.kind) in _EXCLUSION_TOPICS


_RESULT_KINDS = (
    *("test_result", "effect_size", "posterior", "omnibus_without_pairs", "pairs_without_omnibus"),
    *("margin_decision", "margin_not_equivalent", "margin_inconclusive", "margin_few_units", "margin_undefined"),
)


@dataclass(frozen=True)
class Basis:
    """The compared data sets, the data sets left out, and the number of splits left out of the compared data sets."""

    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    splits: int
    splits_left_out: int

    def facts(self) -> dict[str, int]:
        """Counts of what is left out. Empty if nothing is left out."""
        n_excluded = len(self.left_out)
        counts = {ALL: len(self.datasets) + n_excluded, LEFT: n_excluded} if n_excluded else {}
        return counts | ({SPLITS: self.splits, LOST: self.splits_left_out} if self.splits_left_out else {})


def compute_basis(results: Results, verdict: Verdict, measure: str, condition: ConditionFacts) -> Basis:
    """Count the data sets and splits that remain for a verdict, given the scores and failures under one condition."""
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
    """Build the table of the facts of a verdict."""
    verdict = context.get_verdict()
    note = f"Test: {describe_choice(verdict.choice)}."
    effect = verdict.outcome.effect
    if effect is not None:
        note += f" Effect size: {get_display_name(effect.name)}" + (f" ({effect.note})." if effect.note else ".")
        note += "" if verdict.pair is None else " It is positive if the first learner is better."
    number_format = _choose_p_format(verdict.p_value, verdict.alpha)
    return ReportTable(f"{context.key}-facts", "The verdict in numbers", context.build_facts(), {"value": number_format}, note)


def _choose_p_format(p: float, alpha: float) -> str:
    """Choose six significant digits, or as many as are needed to show that p differs from alpha."""
    digits = 6
    while p != alpha and f"{p:.{digits}g}" == f"{alpha:.{digits}g}":
        digits += 1
    return f"{{:.{digits}g}}"


def build_verdict_facts(verdict: Verdict, basis: Basis | None = None) -> pd.DataFrame:
    """Build a frame of the numbers of a verdict by name. With two learners, the effect size is that of the better learner.

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
    """Build the table of means, ranks and effect sizes of the learners."""
    frame = context.build_learners()
    return ReportTable(
        f"{context.key}-learners", "Learners, best first", frame, dict.fromkeys(frame.columns, _FOUR), _EFFECT_NOTE
    )


def build_further_tables(context: VerdictContext, *, scores_elsewhere: bool = False) -> tuple[ReportTable, ...]:
    """Build the tables of reasons, comparisons and ranks. Add a table of scores unless another section shows them."""
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
    """Build the tables of decisions at the margin and of posterior probabilities of several pairs, if there are any."""
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


def _has_equal_score_table(results: Results, context: VerdictContext, measure: str) -> bool:
    """Whether the data-sets section contains a table of the same scores."""
    verdict, condition = context.get_verdict(), context.condition
    assert condition is not None
    if verdict.unit != "data set" or measure not in results.measures:
        return False
    wide = results.wide(measure, condition.name, condition.level)
    scores = build_score_frame(verdict)
    same = list(map(str, wide.index)) == list(scores.index) and list(map(str, wide.columns)) == list(scores.columns)
    return same and bool(np.allclose(scores.to_numpy(), wide.to_numpy(dtype=np.float64), rtol=0, atol=1e-12))


def _draw_figures(context: VerdictContext, names: Collection[str] | None = None) -> tuple[Figure, ...]:
    """Draw the figures of a verdict: all figures that apply, or only the named ones."""
    verdict = context.get_verdict()
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
        "critical-difference": (
            f"Learners on a line by mean rank, best first: {order}. Bars join learners without a significant difference."
        ),
        "ranks": f"How often each learner has which rank, by {verdict.unit}; best mean rank first: {order}.",
        "pairs": f"Matrix of the differences between {order} with adjusted p-values; significant pairs are framed.",
        "simplex": f"Triangle of draws from the posterior: {pair}, or practical equivalence.",
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
