"""Repeat Figures 1 to 6: worked examples, and error rates on simulated rankings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fairtrial.reproduce.experiment import Reproduction, Request, ResultTable, experiment
from fairtrial.reproduce.ranking_errors import DISPLAY_NAMES, MEASURES, round_up_axis
from fairtrial.reproduce.ranking_synthetic import claims, simulation, worked_examples
from fairtrial.reproduce.ranking_synthetic.simulation import NOISES, SAME_NOISE, ErrorCurve

_MEANS_NOTE = (
    "The paper shows its error rates only in figures, so there are no published numbers for comparison. The last row shows "
    "the results under another interpretation of the paper: both rankings get the same noise for each case."
)


@experiment("ranking-synthetic", title="Ranking measures on simulated scores with noise", paper="ranking")
def run(request: Request) -> Reproduction:
    """Simulate pairs of rankings, count the errors, and judge the paper's claims."""
    import pandas as pd

    step, pairs = request.pick(smoke=25, quick=2, full=1), request.pick(smoke=200, quick=4_000, full=10_000)
    noises = (*NOISES, SAME_NOISE)
    all_curves = simulation.simulate_curves(
        noises, step=step, pairs=pairs, seed=request.seed, jobs=request.jobs, progress=request.progress
    )
    *curves, same_noise_curve = all_curves
    means = pd.DataFrame(
        [
            {
                "noise": curve.noise.title,
                **{DISPLAY_NAMES[measure]: 100 * curve.compute_mean(measure) for measure in MEASURES},
                "pairs": curve.pairs,
            }
            for curve in all_curves
        ]
    )
    rates = pd.concat([curve.frame() for curve in all_curves], ignore_index=True)
    labels, scores, proportion = curves
    figure_claims = claims.build_claims(labels, scores, proportion, same_noise_curve, is_smoke=request.scale == "smoke")
    return Reproduction(
        values=summarise(curves, same_noise_curve),
        tables=(
            ResultTable(
                "mean-errors", "Mean error rates over all noise levels, in %", means, _MEANS_NOTE, digits=2, is_main=True
            ),
            worked_examples.build_table(),
            ResultTable("error-rates", "Error rates at each noise level, in %", rates, on_page=False, digits=2),
        ),
        claims=(*figure_claims.values(), *worked_examples.build_claims()),
        figures={
            "Figures 4 to 6: errors by noise level": draw_curves(curves),
            "Figures 2 and 3: worked examples of taKS and ABC": worked_examples.draw_examples(),
        },
        answer=claims.summarise_claims(figure_claims),
    )


def summarise(curves: Sequence[ErrorCurve], same_noise_curve: ErrorCurve) -> dict[str, Any]:
    """Compute the values used in the text of the page."""
    labels, scores, _ = curves
    late_means = labels.rates[labels.levels > 70].mean(axis=0)
    return {
        "n_levels": sum(len(curve.levels) for curve in curves),
        "n_pairs": labels.pairs,
        "worst": (DISPLAY_NAMES[MEASURES[int(late_means.argmax())]], 100 * late_means.max()),
        "best": (DISPLAY_NAMES[MEASURES[int(late_means.argmin())]], 100 * late_means.min()),
        "taks_spread": 100 * max(curve.compute_spread(["auc", "taks"]) for curve in curves),
        "own_noise": (100 * scores.rates[-1].min(), 100 * scores.rates[-1].max()),
        "same_noise": (100 * same_noise_curve.rates[-1].min(), 100 * same_noise_curve.rates[-1].max()),
        "same_noise_order": format_order(same_noise_curve),
    }


def format_order(curve: ErrorCurve) -> str:
    """Format the measures in descending order of mean error, e.g. 'sAUC > KS = H-measure'."""
    ranked = sorted(MEASURES, key=lambda measure: -curve.compute_mean(measure))
    text = DISPLAY_NAMES[ranked[0]]
    for before, after in pairwise(ranked):
        sign = "=" if curve.compute_mean(before) == curve.compute_mean(after) else ">"
        text += f" {sign} {DISPLAY_NAMES[after]}"
    return text


def draw_curves(curves: Sequence[ErrorCurve]) -> Any:
    """Draw the three figures of the paper side by side.

    The line of taKS is dashed, because it coincides with that of the AUC.
    """
    import altair as alt

    from fairtrial.report.figures.base import build_title, style_chart

    panels = [_draw_panel(curve, number) for number, curve in zip((4, 5, 6), curves, strict=True)]
    charts = alt.hconcat(*panels, spacing=24).resolve_scale(color="shared", strokeDash="shared")
    subtitle = f"As in Figures 4, 5 and 6 of the paper; {curves[0].pairs:,} pairs of rankings per noise level"
    return style_chart(charts.properties(title=build_title("How often each measure prefers the worse ranking", subtitle)))


def _draw_panel(curve: ErrorCurve, number: int) -> Any:
    import altair as alt

    from fairtrial.report.figures.base import (
        DASHES,
        build_axis,
        build_chart,
        build_tooltips,
        collect_rows,
        encode_colour,
    )

    frame = curve.frame()
    frames = {DISPLAY_NAMES[measure]: frame[["level"]].assign(error=frame[measure]) for measure in MEASURES}
    columns = {"level": "noise level in %", "error": "error in %"}
    x = build_axis("x", "level", "Noise level in %", low=float(frame["level"].min()), high=float(frame["level"].max()))
    high = round_up_axis(float(frame[list(MEASURES)].max().max()))
    y = build_axis("y", "error", "Errors in %", high=high)
    dashes = [list(DASHES[2] if name == DISPLAY_NAMES["taks"] else DASHES[0]) for name in frames]
    legend = alt.Legend(orient="bottom", columns=6, symbolType="stroke", symbolStrokeWidth=3, symbolSize=300)
    dash = alt.StrokeDash("learner:N", scale=alt.Scale(domain=list(frames), range=dashes), title=None, legend=legend)
    lines = build_chart(collect_rows(frames, columns)).mark_line(strokeWidth=2.2, strokeJoin="round")
    lines = lines.encode(x, y, encode_colour(frames), dash, order=alt.Order("row:Q"), tooltip=build_tooltips(columns))
    title = alt.TitleParams(f"Figure {number}: {curve.noise.title.lower()}", fontSize=13, anchor="start")
    return lines.properties(width=290, height=250, title=title)
