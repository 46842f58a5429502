"""Repeat Table 1: how often each measure prefers partly replaced scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.experiment import Reproduction, Request, experiment
from fairtrial.reproduce.ranking_errors import (
    DISPLAY_NAMES,
    MEASURES,
    compute_difference_limits,
    round_up_axis,
    run_tasks,
)
from fairtrial.reproduce.ranking_real import claims, user_measures
from fairtrial.reproduce.ranking_real.cells import (
    ALTERNATIVES,
    CHOSEN,
    NOISY_EXPERIMENTS,
    WITHOUT_NOISE,
    CellResult,
    Interpretation,
    compute_cell,
)
from fairtrial.reproduce.ranking_real.datasets import (
    CYLINDER,
    DATASET_NAMES,
    EncodedDataset,
    encode_cylinder_variants,
    load_encoded_datasets,
)
from fairtrial.reproduce.ranking_real.tables import (
    build_cylinder_table,
    build_tables,
    compare_cells,
    compare_interpretations,
    compute_mean_errors,
    read_table1,
)
from fairtrial.reproduce.ranking_real.user_measures import UserMeasure

if TYPE_CHECKING:
    import pandas as pd

_UNCHANGED = "unchanged"


@experiment(
    "ranking-real",
    title="Ranking measures on real data with noise",
    paper="ranking",
    check_measures=user_measures.check_measures,
)
def run(request: Request) -> Reproduction:
    """Compute the cells, compare them with the paper's cells, and judge the paper's claims."""
    further = user_measures.load_measures(request.measures)
    measures = [*MEASURES, *(measure.name for measure in further)]
    datasets, missing = load_encoded_datasets(stand_in=request.scale == "smoke")
    repeats = request.pick(smoke=4, quick=250, full=1000)
    interpretations = request.pick(smoke=(CHOSEN, ALTERNATIVES[0]), quick=(CHOSEN,), full=(CHOSEN, *ALTERNATIVES))
    results = _compute_cells(request, datasets, repeats, interpretations, further)
    clean = [cell for cell in results[CHOSEN] if cell.experiment == WITHOUT_NOISE]
    noisy = [cell for cell in results[CHOSEN] if cell.experiment != WITHOUT_NOISE]
    own = [cell.drop_further_measures() for cell in noisy]
    cells, means = compare_cells(noisy, measures=measures), compute_mean_errors(noisy, measures=measures)
    comparison = compare_interpretations({**results, CHOSEN: own})
    variants = encode_cylinder_variants() if CYLINDER in datasets and request.scale != "quick" else {}
    cylinder = _compute_cylinder(request, repeats, variants, own)
    table1_claims = claims.build_claims(
        own,
        [cell.drop_further_measures() for cell in clean],
        {interpretation.name: results[interpretation] for interpretation in interpretations if interpretation is not CHOSEN},
        is_smoke=request.scale == "smoke",
    )
    user_results = user_measures.compare_with_auc(further, noisy, clean)
    for result in user_results:
        result.warn()
    tables = build_tables(cells, clean, means, comparison, measures)
    if cylinder:
        tables.append(build_cylinder_table(cylinder, {_UNCHANGED: datasets[CYLINDER], **variants}))
    return Reproduction(
        values={
            "n_datasets": len(datasets),
            "repeats": repeats,
            "user_results": user_results,
            "alternatives": interpretations[1:],
            "cylinder_variants": {variant: _count_agreement(variant_cells) for variant, variant_cells in cylinder.items()},
            **summarise(cells, comparison, repeats),
        },
        tables=tuple(tables),
        claims=(*table1_claims.values(), *claims.build_printed_claims(), claims.judge_target(cells)),
        figures=_draw_figures(cells, means, repeats) if set(datasets) & set(DATASET_NAMES) else {},
        skipped=missing,
        answer=claims.summarise_claims(table1_claims, cells),
    )


def _compute_cells(
    request: Request,
    datasets: Mapping[str, EncodedDataset],
    repeats: int,
    interpretations: Sequence[Interpretation],
    further: Sequence[UserMeasure],
) -> dict[Interpretation, list[CellResult]]:
    """Compute the cells of each interpretation.

    For the chosen interpretation, also compute the cells without noise, and add the user measures.
    """
    tasks = [
        (dataset, number, interpretation)
        for interpretation in interpretations
        for number in ((WITHOUT_NOISE, *NOISY_EXPERIMENTS) if interpretation is CHOSEN else NOISY_EXPERIMENTS)
        for dataset in datasets.values()
    ]

    def compute(task: tuple[EncodedDataset, int, Interpretation]) -> CellResult:
        used = further if task[2] is CHOSEN else ()
        return compute_cell(*task, repeats, request.seed, request.out / "cells", used)

    results = run_tasks(compute, tasks, request.jobs, name="data sets in experiments", progress=request.progress)
    return {
        interpretation: [result for task, result in zip(tasks, results, strict=True) if task[2] is interpretation]
        for interpretation in interpretations
    }


def _compute_cylinder(
    request: Request, repeats: int, variants: Mapping[str, EncodedDataset], own: Sequence[CellResult]
) -> dict[str, list[CellResult]]:
    """Compute the cells of each variant of Cylinder.

    `own` contains our cells of the unchanged data sets.
    """
    tasks = [(variant, number) for variant in variants for number in NOISY_EXPERIMENTS]

    def compute(task: tuple[str, int]) -> CellResult:
        variant, number = task
        return compute_cell(variants[variant], number, CHOSEN, repeats, request.seed, request.out / "cells")

    if not variants:
        return {}
    results = run_tasks(compute, tasks, request.jobs, name="variants of Cylinder", progress=request.progress)
    return {_UNCHANGED: [cell for cell in own if cell.dataset == CYLINDER]} | {
        variant: [result for task, result in zip(tasks, results, strict=True) if task[0] == variant] for variant in variants
    }


def _count_agreement(results: Sequence[CellResult]) -> dict[str, tuple[int, int]]:
    """Count the cells that agree with the paper within sampling error, in total and for sAUC."""
    cells = compare_cells(results)
    sauc = cells[cells["measure"] == "sauc"]
    return {"all": (int(cells["within"].sum()), len(cells)), "sauc": (int(sauc["within"].sum()), len(sauc))}


def summarise(cells: pd.DataFrame, interpretations: pd.DataFrame, repeats: int) -> dict[str, Any]:
    """Compute the values used in the text of the page."""
    compared = cells[cells["published"].notna() & cells["ours"].notna()]
    outside = compared[~compared["within"].astype(bool)]
    sauc = compared[(compared["dataset"] == CYLINDER) & (compared["measure"] == "sauc")]
    return {
        "n_compared": len(compared),
        "n_within": len(compared) - len(outside),
        "mean_distance": compared["difference"].abs().mean(),
        "differing_by_dataset": outside["dataset"].value_counts().to_dict(),
        "differing_by_measure": outside["measure"].map(DISPLAY_NAMES).value_counts().to_dict(),
        "n_higher": int((outside["difference"] > 0).sum()),
        "house": _compare_house(compared, repeats),
        "cylinder_sauc": sauc if not sauc["within"].all() else None,
        "best_alternative": _pick_alternative(interpretations),
    }


def _compare_house(compared: pd.DataFrame, repeats: int) -> dict[str, int] | None:
    """Count the published rates on House (#2) that agree with our rates of #1 and #2."""
    house = compared[compared["dataset"] == "House"]
    first, second = (house[house["experiment"] == number] for number in (1, 2))
    if second["within"].all():
        return None
    published = read_table1()
    rates = published[(published["dataset"] == "House") & (published["experiment"] == 2)].set_index("measure")["value"]
    agreeing = 0
    for measure, ours in zip(first["measure"], first["ours"], strict=True):
        low, high = compute_difference_limits(ours, rates[measure], repeats)
        agreeing += low <= 0 <= high
    return {"with_first": agreeing, "with_second": int(second["within"].sum())}


def _pick_alternative(interpretations: pd.DataFrame) -> dict[str, Any] | None:
    """Pick the alternative interpretation with the most cells that agree within sampling error."""
    if len(interpretations) < 2 or not interpretations["cells"].iloc[0]:
        return None
    alternatives = interpretations.iloc[1:]
    best = alternatives.iloc[int(alternatives["within"].to_numpy().argmax())]
    counts = {name: best[name] for name in ("interpretation", "within", "cells")}
    return {**counts, "chosen_within": interpretations["within"].iloc[0]}


def _draw_figures(cells: pd.DataFrame, means: pd.DataFrame, repeats: int) -> dict[str, Any]:
    compared = cells[np.isfinite(cells["published"]) & np.isfinite(cells["ours"])]
    return {"Errors here and in Table 1": draw_agreement(compared, repeats), "Mean errors": draw_means(means)}


def draw_agreement(cells: pd.DataFrame, repeats: int) -> Any:
    """Draw our error rates with 95 % intervals against the published ones, on square-root axes."""
    import altair as alt

    from fairtrial.report.figures.base import (
        build_chart,
        build_title,
        build_tooltips,
        draw_reference_line,
        encode_colour,
        style_chart,
        to_records,
    )

    high = round_up_axis(float(cells[["ours", "published", "highest"]].max().max()))
    rows = to_records(cells.assign(learner=cells["measure"].map(DISPLAY_NAMES)), [*cells.columns, "learner"])
    scale = alt.Scale(type="sqrt", domain=[0, high], nice=False)
    axis = alt.Axis(values=[tick for tick in (0, 1, 5, 10, 20, 40, 60, 80, 100) if tick <= high])
    x = alt.X("published:Q", title="Published error in %", scale=scale, axis=axis)
    y, low = (alt.Y(f"{name}:Q", title="Our error in %", scale=scale, axis=axis) for name in ("ours", "lowest"))
    legend = alt.Legend(orient="bottom", columns=3, symbolType="circle", symbolOpacity=1, title=None)
    colour = encode_colour(list(DISPLAY_NAMES.values())).legend(legend)
    tooltips = [
        *build_tooltips({"ours": "ours", "published": "published"}),
        alt.Tooltip("dataset:N", title="data set"),
        alt.Tooltip("experiment:Q", title="experiment"),
    ]
    base = build_chart(rows)
    bars = base.mark_rule(opacity=0.45).encode(x, low, alt.Y2("highest:Q"), colour)
    points = base.mark_point(filled=True, size=42, opacity=0.85).encode(x, y, colour, tooltip=tooltips)
    line = draw_reference_line([(0, 0), (high, high)], x, y)
    subtitle = f"One point per measure, data set and experiment, with 95 % intervals over {repeats:,} repeats"
    title = build_title("Our errors and those of the paper's Table 1", subtitle)
    return style_chart(alt.layer(line, bars, points).properties(width=420, height=420, title=title))


def draw_means(means: pd.DataFrame) -> Any:
    """Draw the mean error of each measure, and the published mean as an open circle."""
    import altair as alt

    from fairtrial.report.figures.base import (
        build_axis,
        build_chart,
        build_title,
        build_tooltips,
        encode_colour,
        style_chart,
        to_records,
    )

    named = means.assign(learner=[DISPLAY_NAMES.get(measure, measure) for measure in means["measure"]])
    names = list(dict.fromkeys(named["learner"]))
    high = round_up_axis(float(means[["high", "published"]].max().max()))
    x = alt.X("learner:N", title=None, sort=names, axis=alt.Axis(labelAngle=-40))
    value, low, published = (build_axis("y", name, "Mean error in %", high=high) for name in ("value", "low", "published"))
    colour = encode_colour(names).legend(None)
    base = build_chart(to_records(named, named.columns))
    layers = alt.layer(
        base.mark_rule(strokeWidth=2).encode(x, low, alt.Y2("high:Q"), colour),
        base.mark_point(filled=True, size=50).encode(x, value, colour, tooltip=build_tooltips({"value": "ours"})),
        base.mark_point(size=70, opacity=0.9).encode(x, published, colour, tooltip=build_tooltips({"published": "published"})),
    ).properties(width=max(175, 29 * len(names)), height=230)
    subtitle = (
        "Filled circles are ours, with 95 % intervals over repeats; open circles are the paper's, over the same data sets"
    )
    panels = layers.facet(column=alt.Column("experiment:N", title=None))
    return style_chart(panels.properties(title=build_title("Mean errors", subtitle)))
