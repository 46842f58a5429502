"""Figures of the posterior for two learners: simplex (Benavoli et al. 2017) and density."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.report.figures.base import (
    GREY,
    INK,
    PALE,
    SIDE,
    build_axis,
    build_chart,
    build_title,
    get_colour,
    require_columns,
    style_chart,
)
from fairtrial.significance.bayes import Posterior, compute_most_probable

_REGIONS = ("first", "rope", "second")
_DOTS = "Samples of the probability of each outcome. Dashed: where the most probable outcome changes"
_HEIGHT = float(np.sqrt(3) / 2)
# Number of hexagons along a side of the simplex, and the shape of a hexagon in Vega's units.
_HEXAGONS = 52
_HEXAGON = "M0,-1L0.866,-0.5L0.866,0.5L0,1L-0.866,0.5L-0.866,-0.5Z"


def draw_simplex(posterior: Any, *, names: tuple[str, str] = ("first", "second"), title: str = "Posterior") -> Any:
    """Draw posterior samples in a triangle, or in a histogram if there is no ROPE.

    The corners of the triangle stand for three outcomes: one of the two learners is better, or their difference lies in the
    region of practical equivalence (rope). Each sample is a point in the triangle. The more samples a hexagon contains,
    the darker it is. The number at a corner is the proportion of samples in which the outcome of this corner is the most
    probable.

    Parameters
    ----------
    posterior : Posterior or dataframe
        Posterior over several data sets, or a frame of its samples with the columns first, rope and second.
    names : tuple of str
        Names of the two learners.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.significance.bayes import bayes_signed_rank
    >>> found = bayes_signed_rank([0.9, 0.8, 0.7, 0.9], [0.8, 0.7, 0.7, 0.6], rope=0.01, samples=500)
    >>> chart = draw_simplex(found, names=("tree", "bayes"))
    >>> chart.to_dict()["title"]["text"]
    'Posterior'
    """
    chances, draws, rope, meaning = _read_posterior(posterior)
    if not draws[:, 1].any():
        return _draw_histogram(draws, chances, names, build_title(title, meaning))
    return _draw_triangle(
        draws, chances, (f"{names[0]} better", rope, f"{names[1]} better"), build_title(title, _DOTS, meaning)
    )


def _read_posterior(posterior: Any) -> tuple[tuple[float, float, float], FloatArray, str, str]:
    """Return the probabilities of the regions, the samples, the label of the rope, and the meaning of the probabilities."""
    if isinstance(posterior, Posterior):
        frame, chances = posterior.samples(), (posterior.p_first, posterior.p_rope, posterior.p_second)
        rope, meaning = f"practically equivalent (differences up to {posterior.rope:g})", posterior.meaning
    else:
        frame, rope = require_columns("posterior", posterior, _REGIONS), "practically equivalent"
        meaning = "Proportion of samples in which this outcome is the most probable"
        chances = compute_most_probable(np.ascontiguousarray(frame[list(_REGIONS)], dtype=np.float64))
    draws = frame[list(_REGIONS)].to_numpy(np.float64)
    if not (np.isfinite(draws).all() and (draws >= 0).all() and np.allclose(draws.sum(axis=1), 1, atol=1e-6)):
        raise InputError("posterior must contain probabilities that sum to 1 in each row: pass samples() of a posterior")
    return chances, draws, rope, meaning


def count_in_hexagons(draws: FloatArray, across: int = _HEXAGONS) -> FloatArray:
    """Count the samples in each hexagon of a grid over the triangle.

    Each row of the result contains the coordinates of a hexagon's centre, and its number of samples. The corner of the first
    learner is at (0, 0), that of the second at (1, 0), and that of the rope at (1/2, sqrt(3)/2).

    >>> count_in_hexagons(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])).tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 1.0]]
    """
    points = np.column_stack([draws[:, 2] + draws[:, 1] / 2, _HEIGHT * draws[:, 1]])
    step = np.array([1.0, np.sqrt(3)]) / across
    # The centres of the hexagons form two interleaved rectangular grids. Each sample is assigned to the nearest centre.
    even = np.round(points / step) * step
    odd = (np.floor(points / step) + 0.5) * step
    nearer = ((points - even) ** 2).sum(axis=1) <= ((points - odd) ** 2).sum(axis=1)
    centres, counts = np.unique(np.round(np.where(nearer[:, None], even, odd), 9), axis=0, return_counts=True)
    return np.column_stack([centres, counts])


def _draw_triangle(draws: FloatArray, chances: tuple[float, ...], region_labels: tuple[str, str, str], heading: Any) -> Any:
    import altair as alt

    side = 420
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, _HEIGHT], nice=False))
    rows = [{"x": a, "y": b, "samples": n, "share": n / len(draws)} for a, b, n in count_in_hexagons(draws).tolist()]
    radius = side / _HEXAGONS / np.sqrt(3)
    shade = alt.Scale(type="sqrt", range=["#D6E8F3", "#5AA5CF", "#0072B2", "#00395A"], domainMin=0)
    cloud = build_chart(rows).mark_point(shape=_HEXAGON, size=(2 * radius * 1.03) ** 2, filled=True, opacity=1)
    hint = [alt.Tooltip("samples:Q"), alt.Tooltip("share:Q", format=".4f")]
    cells = cloud.encode(x, y, alt.Color("samples:Q", scale=shade, legend=None), tooltip=hint)
    layers = [cells, *_draw_borders(x, y), *_draw_corner_labels(chances, region_labels, x, y)]
    plain = alt.ViewBackground(stroke=None)
    return style_chart(alt.layer(*layers).properties(width=side, height=side * _HEIGHT, title=heading, view=plain))


def _draw_borders(x: Any, y: Any) -> list[Any]:
    """Draw the triangle, and the lines on which two outcomes are equally probable."""
    ring = [(0, 0), (1, 0), (0.5, _HEIGHT), (0, 0)]
    outline = build_chart([{"x": a, "y": b, "row": row} for row, (a, b) in enumerate(ring)])
    middles = [{"x": a, "y": b, "x2": 0.5, "y2": _HEIGHT / 3} for a, b in ((0.5, 0), (0.25, _HEIGHT / 2), (0.75, _HEIGHT / 2))]
    spokes = build_chart(middles).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.1)
    edge = outline.mark_line(color=INK, strokeWidth=1.3, strokeJoin="round")
    return [edge.encode(x, y, order="row:Q"), spokes.encode(x, y, x2="x2:Q", y2="y2:Q")]


def _draw_corner_labels(chances: tuple[float, ...], region_labels: tuple[str, str, str], x: Any, y: Any) -> list[Any]:
    """Label each corner with its outcome and the probability of the outcome."""
    layers = []
    for (a, b), region_label, chance, (name_dy, chance_dy) in zip(
        ((0, 0), (0.5, _HEIGHT), (1, 0)), region_labels, chances, ((20, 39), (-32, -13), (20, 39)), strict=True
    ):
        corner = build_chart([{"x": a, "y": b, "word": region_label, "chance": f"{chance:.3f}"}])
        layers.append(corner.mark_text(dy=name_dy, fontSize=13.5, color=INK).encode(x, y, text="word:N"))
        layers.append(corner.mark_text(dy=chance_dy, fontSize=14.5, fontWeight="bold", color=INK).encode(x, y, text="chance:N"))
    return layers


def _draw_histogram(draws: FloatArray, chances: tuple[float, ...], names: tuple[str, str], heading: Any) -> Any:
    """Draw a histogram of the probability that the first learner is better. The colour shows which learner is better."""
    import altair as alt

    counts, edges = np.histogram(draws[:, 0], bins=50, range=(0, 1))
    region_labels = _format_region_labels(chances, names)
    rows = [
        {"low": low, "high": high, "share": n / len(draws), "region": region_labels[0 if low >= 0.5 - 1e-9 else 2]}
        for n, low, high in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    x = build_axis("x", "low", f"Probability that {names[0]} beats {names[1]} on the next data set")
    y = alt.Y("share:Q", title="Proportion of samples", axis=alt.Axis(format=".2~f", tickCount=4))
    hint = [alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("high:Q", format=".2f"), alt.Tooltip("share:Q", format=".4f")]
    bars = (
        build_chart(rows)
        .mark_rect(stroke="white", strokeWidth=0.6)
        .encode(x, y, _encode_region(region_labels, names), x2="high:Q", y2=alt.datum(0), tooltip=hint)
    )
    half = build_chart([{"low": 0.5}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(x)
    return style_chart(alt.layer(bars, half).properties(width=460, height=240, title=heading))


def draw_density(posterior: Posterior, *, names: tuple[str, str] = ("first", "second"), title: str = "Posterior") -> Any:
    """Draw the posterior density of the difference between two learners.

    Parameters
    ----------
    posterior : Posterior
        Result of `correlated_t` or `hierarchical`.
    names : tuple of str
        Names of the two learners.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.significance.bayes import correlated_t
    >>> found = correlated_t([0.91, 0.88, 0.93, 0.90], [0.86, 0.87, 0.85, 0.88], test_fraction=0.25, rope=0.01)
    >>> chart = draw_density(found, names=("tree", "bayes"))
    >>> chart.to_dict()["layer"][0]["mark"]["type"]
    'area'
    """
    import altair as alt

    if not hasattr(posterior, "density"):
        raise InputError(f"posterior must be a Posterior, got {type(posterior).__name__}: pass the result of correlated_t")
    chances = (posterior.p_first, posterior.p_rope, posterior.p_second)
    region_labels = _format_region_labels(chances, names, posterior.rope)
    rows = _build_density_rows(posterior, region_labels)
    x = alt.X("difference:Q", title=f"{names[0]} - {names[1]}", scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("density:Q", title="Density", stack=None)
    areas = (
        build_chart(rows)
        .mark_area(opacity=0.85, line=False)
        .encode(x, y, _encode_region(region_labels, names), tooltip=["difference:Q", "density:Q"])
    )
    line = build_chart(rows).mark_line(color=INK, strokeWidth=1.3).encode(x, y, order="difference:Q")
    rope = f"Region of practical equivalence: -{posterior.rope:g} to {posterior.rope:g}"
    heading = build_title(title, f"Posterior of the difference. {rope}")
    plain = build_title(title, "Posterior of the difference")
    chart = alt.layer(areas, line).properties(width=460, height=240, title=heading if posterior.rope > 0 else plain)
    return style_chart(chart)


def _build_density_rows(posterior: Posterior, region_labels: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Build the points of the density curve in each region. Points at both limits of the rope ensure that the areas meet."""
    frame = posterior.density(401)
    grid, density = frame["difference"].to_numpy(), frame["density"].to_numpy()
    above, below = (region_labels[0], region_labels[2]) if posterior.better == "max" else (region_labels[2], region_labels[0])
    limit = posterior.rope
    regions = [(-np.inf, -limit, below), (-limit, limit, region_labels[1]), (limit, np.inf, above)]
    rows = []
    for low, high, region_label in regions if limit > 0 else [regions[0], regions[2]]:
        positions = np.union1d(grid[(grid > low) & (grid < high)], [bound for bound in (low, high) if np.isfinite(bound)])
        heights = np.interp(positions, grid, density)
        rows += [
            {"difference": a, "density": b, "region": region_label}
            for a, b in zip(positions.tolist(), heights.tolist(), strict=True)
        ]
    return rows


def _format_region_labels(chances: tuple[float, ...], names: tuple[str, str], rope: float = 0.0) -> tuple[str, str, str]:
    first, middle, second = (f"{chance:.3f}" for chance in chances)
    return (
        f"{names[0]} better: {first}",
        f"practically equivalent: {middle}" if rope > 0 else "",
        f"{names[1]} better: {second}",
    )


def _encode_region(region_labels: tuple[str, str, str], names: tuple[str, str]) -> Any:
    import altair as alt

    colours = (get_colour(names[0], 0), PALE, get_colour(names[1], 1))
    entries = [(region_label, colour) for region_label, colour in zip(region_labels, colours, strict=True) if region_label]
    scale = alt.Scale(domain=[word for word, _ in entries], range=[colour for _, colour in entries])
    legend = alt.Legend(orient="bottom", symbolType="square", labelLimit=SIDE, columns=1)
    return alt.Color("region:N", scale=scale, title=None, legend=legend)
