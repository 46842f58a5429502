"""Ranks of the learners under every measure. The best learner can depend on the measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure, rank_table, registry
from fairtrial.measures.measure import SetMeasure
from fairtrial.report.figures.base import INK, build_chart, build_title, style_chart
from fairtrial.report.means import compute_scores
from fairtrial.report.names import format_condition_phrase, format_measure_name
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.selection import get_main_condition
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.stored import LARGE_STUDY

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

TITLE = "Ranks under every measure"
_NOTE = (
    "Ranks of the means over the data sets on which every learner with scores has a finite value; at least half of the data "
    "sets must be left. Equal means receive the same (best) rank. Some measures always agree, e.g. accuracy and error rate. "
    "An empty cell means that the learner lacks the "
    "scores that the measure needs, or has no finite value."
)
_LARGE_NOTE = "Only the measures of the study file, because the study is large."
_MEAN_NOTE = "The mean rank averages over the measures that all learners have."


@section("ranks", title=TITLE, order=60, serves=("study",), question="better")
def build_section(source: ReportSource) -> Section | None:
    """Rank all learners under all measures that can be computed. Return None if there is only one learner."""
    results = source.get_results()
    if len(results.archive.learners) < 2:
        return None
    is_large = len(results.trials()) >= LARGE_STUDY
    means, left_out = compute_measure_means(results, results.measures if is_large else None)
    if means.empty:
        return Section(
            "ranks", TITLE, (build_sentence("No measure has a value for two or more learners, so there are no ranks."),)
        )
    ranks = compute_ranks(means)
    facts, firsts = build_rank_facts(ranks), count_firsts(ranks)
    notes = [_LARGE_NOTE] if is_large else []
    notes += [f"Measures without ranks: {join_names(map(format_measure_name, left_out), None)}."] if left_out else []
    notes += [
        f"{format_measure_name(name)} is {explanation}, so there are no ranks under it."
        for name, explanation in explain_infinite_measures(results, [*means.index, *left_out]).items()
    ]
    return Section(
        "ranks",
        TITLE,
        (_build_rank_sentence(results, facts, firsts),),
        (_draw_rank_figure(ranks),),
        _build_rank_tables(results, means, ranks, facts, firsts),
        tuple(notes),
    )


def compute_measure_means(results: Results, measures: Sequence[str] | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Compute the mean of each measure and learner over data sets, under the main condition.

    The second return value lists the measures without means. By default, all measures are computed.
    """
    import pandas as pd

    names = [name for name in measures or registry if _has_ranks(get_measure(name))]
    compute_scores(results, names)
    main = get_main_condition(results)
    means_by_measure = {}
    for name in names:
        line = _average_measure(results, name, main)
        if line is not None and line.notna().sum() > 1:
            means_by_measure[name] = line
    learners = [learner.name for learner in results.archive.learners]
    frame = pd.DataFrame(means_by_measure, index=learners).T.rename_axis(index="measure")
    return frame, [name for name in names if name not in means_by_measure]


def _has_ranks(measure: Measure) -> bool:
    """Return whether a measure can rank learners.

    Measures without a direction cannot, nor can measures of ordered classes or prediction sets.
    """
    is_computed = measure.facts.needs in ("labels", "scores", "probabilities") and measure.facts.has_direction
    return is_computed and "class order" not in measure.facts.exceptions and not isinstance(measure, SetMeasure)


def explain_infinite_measures(results: Results, measures: list[str]) -> dict[str, str]:
    """Explain for which learners a measure has infinite but no finite values.

    The result contains only measures with such learners.
    """
    main = get_main_condition(results)
    tables = {name: _read_score_table(results, name, main) for name in measures}
    explanations = {name: _describe_infinite_values(table) for name, table in tables.items() if table is not None}
    return {name: explanation for name, explanation in explanations.items() if explanation}


def _describe_infinite_values(table: pd.DataFrame) -> str:
    """Describe which learners have infinite but no finite values.

    Return an empty string if there are no such learners.

    >>> import pandas as pd
    >>> inf, nan = float("inf"), float("nan")
    >>> scores = pd.DataFrame({"tree": [inf, inf], "chi": [inf, nan], "bayes": [0.4, inf]}, index=["iris", "wine"])
    >>> _describe_infinite_values(scores)
    'infinite for tree on every data set; infinite for chi on iris and undefined on wine'
    """
    learners: dict[str, list[str]] = {}
    for name, values in table.items():
        infinite, undefined = np.isinf(values), values.isna()
        if infinite.any() and (infinite | undefined).all():
            sets = [str(dataset) for dataset in table.index[infinite]], [str(dataset) for dataset in table.index[undefined]]
            location = f"{join_names(sets[0])} and undefined on {join_names(sets[1])}" if undefined.any() else "every data set"
            learners.setdefault(location, []).append(str(name))
    return "; ".join(f"infinite for {join_names(names)} on {location}" for location, names in learners.items())


def _read_score_table(results: Results, measure: str, condition: ConditionFacts) -> pd.DataFrame | None:
    """Read scores by data set and learner. Return None if the measure cannot be computed."""
    try:
        return results.wide(measure, condition.name, condition.level).astype(np.float64)
    except InputError:
        return None


def _average_measure(results: Results, measure: str, condition: ConditionFacts) -> pd.Series[float] | None:
    """Average a measure over the data sets that all learners with finite values share.

    Return None if the measure cannot be computed, or if the learners share fewer than half of the data sets.
    """
    table = _read_score_table(results, measure, condition)
    shared = _select_shared(table) if table is not None else None
    if table is None or shared is None or 2 * len(shared) < len(table):
        return None  # the mean over a few data sets does not represent the study
    return shared.mean().reindex(table.columns)


def _select_shared(table: pd.DataFrame) -> pd.DataFrame:
    """Select the data sets on which all learners have finite values. Drop learners without any finite value."""
    finite = table.where(np.isfinite(table))
    return finite.loc[:, finite.notna().any()].dropna()


def _count_shared(results: Results, measure: str, condition: ConditionFacts) -> int:
    table = _read_score_table(results, measure, condition)
    return 0 if table is None else len(_select_shared(table))


def compute_ranks(means: pd.DataFrame) -> pd.DataFrame:
    """Compute ranks by measure and learner. Rank 1 is best. The rank of a learner without a mean is NaN."""
    import pandas as pd

    lines = {}
    for name in means.index:
        defined = means.loc[name].dropna()
        direction = {str(name): get_measure(str(name)).facts.direction}
        lines[name] = rank_table(defined.to_frame(str(name)), directions=direction).ranks[str(name)]
    ranks = pd.DataFrame(lines, index=means.columns).T.rename_axis(index="measure")
    return ranks.astype(int) if ranks.notna().to_numpy().all() else ranks.astype(float)


def count_firsts(ranks: pd.DataFrame) -> pd.DataFrame:
    """Count the measures under which each learner ranks first, and compute its best, mean and worst rank."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "measures": ranks.notna().sum(),
            "first under": (ranks == 1).sum(),
            "best rank": ranks.min(),
            "mean rank": compute_mean_ranks(ranks),
            "worst rank": ranks.max(),
        }
    ).rename_axis(index="learner")
    return frame.sort_values("first under", ascending=False, kind="stable")


def compute_mean_ranks(ranks: pd.DataFrame) -> pd.Series[float]:
    """Compute mean ranks over the measures for which all learners have ranks.

    If there are no such measures, all measures are used.
    """
    shared = ranks.dropna()
    return (shared if len(shared) else ranks).mean()


def build_rank_facts(ranks: pd.DataFrame) -> pd.DataFrame:
    """Build a frame of the counts mentioned in the sentence of this section."""
    import pandas as pd

    counts = {
        "learners": ranks.shape[1],
        "measures": len(ranks),
        "learners that rank first under at least one measure": int((ranks == 1).any().sum()),
    }
    return pd.DataFrame({"value": list(counts.values())}, index=pd.Index(counts, name="quantity"))


def _build_rank_sentence(results: Results, facts: pd.DataFrame, firsts: pd.DataFrame) -> Sentence:
    winners = [str(name) for name in firsts.index[firsts["first under"] > 0]]
    parts: dict[str, Any] = {"where": format_condition_phrase(get_main_condition(results))}
    parts["measures"] = format_number(facts, "ranks-facts", "measures", "value", "{:d}")
    if len(winners) == 1:
        return build_sentence("{name} ranks first under each of {measures} measures {where}.", **parts, name=winners[0])
    parts["learners"] = format_number(facts, "ranks-facts", "learners", "value", "{:d}")
    parts["count"] = format_number(facts, "ranks-facts", "learners that rank first under at least one measure", "value", "{:d}")
    template = "{count} of {learners} learners rank first under at least one of {measures} measures {where}: {names}."
    return build_sentence(template, **parts, names=join_names(winners))


def _build_rank_tables(
    results: Results, means: pd.DataFrame, ranks: pd.DataFrame, facts: pd.DataFrame, firsts: pd.DataFrame
) -> tuple[ReportTable, ...]:
    main = get_main_condition(results)
    counted = means.assign(**{"data sets": [_count_shared(results, str(name), main) for name in means.index]})
    formats = dict.fromkeys(("best rank", "worst rank"), "{:.0f}") | {"mean rank": "{:.2f}"}
    learners, counted, named = (
        list(means.columns),
        counted.rename(index=format_measure_name),
        ranks.rename(index=format_measure_name),
    )
    return (
        ReportTable("ranks-firsts", "Number of measures under which a learner ranks first", firsts, formats, _MEAN_NOTE),
        ReportTable("ranks-measures", "Rank under each measure", named, dict.fromkeys(learners, "{:.0f}"), _NOTE, "min", True),
        ReportTable("ranks-means", "Ranked means", counted, dict.fromkeys(learners, "{:.4g}"), "", None, True),
        ReportTable("ranks-facts", "Counts", facts),
    )


def _draw_rank_figure(ranks: pd.DataFrame) -> Figure:
    alt = "Grid of measures by learners with ranks, from blue (best) to orange (worst). The table below has the same numbers."
    return Figure("ranks-map", "Rank of every learner under every measure", draw_rank_map(ranks), alt, ranks.reset_index())


def draw_rank_map(ranks: pd.DataFrame) -> Any:
    """Draw ranks by measure (rows) and learner (columns), from blue (best) to orange (worst).

    >>> import pandas as pd
    >>> chart = draw_rank_map(pd.DataFrame({"tree": [1, 2], "bayes": [2, 1]}, index=["auc", "brier"]))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'text']
    """
    import altair as alt

    learners = [str(name) for name in compute_mean_ranks(ranks).sort_values(kind="stable").index]
    rows: list[dict[str, Any]] = [
        {"measure": format_measure_name(str(name)), "learner": str(learner), "rank": int(rank)}
        for name, line in ranks.iterrows()
        for learner, rank in line.dropna().items()
    ]
    most = max(row["rank"] for row in rows)
    long = max(map(len, learners)) > 9
    head = alt.Axis(orient="top", labelAngle=-40 if long else 0, labelLimit=220, grid=False, domain=False, ticks=False)
    x = alt.X("learner:N", sort=learners, title="Learner, best mean rank first", axis=head)
    names = alt.Axis(grid=False, domain=False, ticks=False, labelLimit=240)
    y = alt.Y("measure:N", sort=None, title="Measure", axis=names)
    shade = alt.Scale(
        domain=[1, (1 + max(most, 2)) / 2, max(most, 2)], range=["#7FB8DA", "#EFEFEF", "#F2B27A"], interpolate="rgb"
    )
    hint = [alt.Tooltip("measure:N"), alt.Tooltip("learner:N"), alt.Tooltip("rank:Q")]
    base = build_chart(rows).encode(x, y, tooltip=hint)
    tiles = base.mark_rect(stroke="white").encode(alt.Color("rank:Q", scale=shade, legend=None))
    numbers = base.mark_text(fontSize=12, color=INK).encode(text="rank:Q")
    heading = build_title(
        "Ranks under every measure", "Rank of each learner, from blue (best) to orange (worst). Empty: no finite value"
    )
    return style_chart(alt.layer(tiles, numbers).properties(width=alt.Step(64), height=alt.Step(20), title=heading))
