"""The chapter's Figures 1, 3, 5 and 6, redrawn with data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.report.figures.base import GREY, PALETTE, build_chart, build_title, style_chart, to_records
from fairtrial.reproduce.estimates.simulation import draw_sample

if TYPE_CHECKING:
    import pandas as pd

_SEED = 1
_CLASSES = ("negative", "positive")
_DOMAIN = (-2.5, 4.5)
_MARBLES = {"yellow": 5, "red": 4, "blue": 2, "green": 1}
_N_SAMPLES = 5
_MARBLE_COLOURS = ("#E6C300", "#D62728", "#0072B2", "#009E73")
_N_MEMBERS = 10


def draw_illustrations() -> dict[str, Any]:
    """Draw the illustrations and return them keyed by title."""
    return {
        "Figure 1: sensitivity and precision by threshold": draw_trade_off(build_trade_off()),
        "Figure 3: bootstrap samples of twelve rows": draw_marbles(build_marbles()),
        "Figure 5: votes of bagged trees": draw_votes(build_votes()),
        "Figure 6: weights in three rounds of boosting": draw_boosting(build_boosting()),
    }


def _draw_points(n: int) -> tuple[FloatArray, IntArray]:
    """Draw points from two Gaussian classes in two dimensions."""
    from fairtrial.data.simulate import GaussianMixture

    X, y = GaussianMixture(means=[[0.0, 0.0], [1.2, 1.2]]).sample(n, _SEED)
    return X.to_numpy(), y.cat.codes.to_numpy().astype("int64")


def build_trade_off() -> pd.DataFrame:
    """Return points and the thresholds with the best sensitivity, precision and F1 score.

    A point is predicted to be positive if the sum of its attributes is at least the threshold.
    """
    import pandas as pd

    from fairtrial.measures import f_score, precision, recall

    X, y = _draw_points(60)
    scores = X.sum(axis=1)
    f_scores = {threshold: float(f_score(y, (scores >= threshold).astype(int), positive=1)) for threshold in scores}
    thresholds = {
        "a": scores[y == 1].min(),
        "b": scores[(y == 1) & (scores > scores[y == 0].max())].min(),
        "c": max(f_scores, key=f_scores.__getitem__),
    }
    frames = []
    for name, threshold in thresholds.items():
        predicted = (scores >= threshold).astype(int)
        values = {
            name: float(measure(y, predicted, positive=1))
            for name, measure in (("sensitivity", recall), ("precision", precision))
        }
        points = {"x": X[:, 0], "y": X[:, 1], "class": np.array(_CLASSES)[y], "threshold": float(threshold)}
        frames.append(pd.DataFrame({"panel": name} | values | points))
    return pd.concat(frames, ignore_index=True)


def draw_trade_off(points: pd.DataFrame) -> Any:
    """Draw the points and the decision boundary, with a panel per threshold."""
    import altair as alt

    panels = []
    for name, rows in points.groupby("panel", sort=False):
        first = rows.iloc[0]
        ends = [{"x": x, "y": first["threshold"] - x} for x in _DOMAIN]
        line = build_chart(ends).mark_line(color=GREY, strokeDash=[4, 3], clip=True).encode(*_encode_position())
        text = f"({name}) sensitivity {first['sensitivity']:.2f}, precision {first['precision']:.2f}"
        marks = build_chart(to_records(rows, ["x", "y", "class"])).mark_circle(size=40, opacity=0.8)
        layer = alt.layer(line, marks.encode(*_encode_position(), _encode_class()))
        panels.append(layer.properties(width=200, height=200, title=_build_panel_title(text)))
    title = build_title("Sensitivity and precision", "Points above the line are predicted to be positive")
    return style_chart(alt.hconcat(*panels).properties(title=title))


def _build_panel_title(text: str) -> Any:
    import altair as alt

    return alt.TitleParams(text, fontSize=11, anchor="middle")


def _encode_position() -> tuple[Any, Any]:
    import altair as alt

    scale = alt.Scale(domain=list(_DOMAIN), nice=False)
    return alt.X("x:Q", title=None, scale=scale), alt.Y("y:Q", title=None, scale=scale)


def _encode_class() -> Any:
    import altair as alt

    colours = alt.Scale(domain=list(_CLASSES), range=list(PALETTE[:2]))
    return alt.Color("class:N", scale=colours, title=None, legend=alt.Legend(orient="bottom"))


def build_marbles() -> pd.DataFrame:
    """Return twelve rows of four classes and bootstrap samples of them, sorted by class."""
    import pandas as pd

    from fairtrial.resampling import Bootstrap

    classes = np.repeat(list(_MARBLES), list(_MARBLES.values()))
    resamples = Bootstrap(_N_SAMPLES, random_state=_SEED).freeze(np.zeros((len(classes), 1)))
    samples = {"data": np.arange(len(classes))} | {f"sample {i}": np.sort(split.train) for i, split in enumerate(resamples, 1)}
    rows = [
        (name, position, str(classes[row]))
        for name, sample in samples.items()
        for position, row in enumerate(sample.tolist(), 1)
    ]
    return pd.DataFrame(rows, columns=["sample", "position", "class"])


def draw_marbles(marbles: pd.DataFrame) -> Any:
    """Draw one row of marbles for each sample."""
    import altair as alt

    colours = alt.Scale(domain=list(_MARBLES), range=list(_MARBLE_COLOURS))
    samples = list(dict.fromkeys(marbles["sample"]))
    chart = (
        build_chart(to_records(marbles, ["sample", "position", "class"]))
        .mark_circle(size=220, opacity=1)
        .encode(
            alt.X("position:O", axis=None),
            alt.Y("sample:N", sort=samples, title=None),
            alt.Color("class:N", scale=colours, sort=list(_MARBLES), title=None, legend=alt.Legend(orient="bottom")),
        )
        .properties(width=360, height=alt.Step(28))
    )
    missed = (1 - 1 / sum(_MARBLES.values())) ** sum(_MARBLES.values())
    subtitle = f"A sample misses a given row, e.g. the only green one, with probability {missed:.3f}"
    return style_chart(chart.properties(title=build_title("Bootstrap samples of twelve rows", subtitle)))


def build_votes() -> pd.DataFrame:
    """Return predictions of ten bagged trees, their majority vote, and the true classes."""
    import pandas as pd

    from fairtrial.learners import C45, Bagging

    X, y, _ = draw_sample("two Gaussians", 60, _SEED)
    X_new, y_new, _ = draw_sample("two Gaussians", 40, _SEED + 1)
    bagged = Bagging(C45(), _N_MEMBERS, vote="majority", random_state=_SEED).fit(X, y)
    votes = {f"tree {i}": np.asarray(member.predict(X_new)) for i, member in enumerate(bagged.estimators_, 1)}
    votes |= {"majority vote": np.asarray(bagged.predict(X_new)), "true class": y_new}
    order = np.lexsort([np.sum([votes[f"tree {i}"] for i in range(1, _N_MEMBERS + 1)], axis=0), y_new])
    rows = [
        (name, position, _CLASSES[predicted[row]], float((predicted == y_new).mean()))
        for name, predicted in votes.items()
        for position, row in enumerate(order, 1)
    ]
    return pd.DataFrame(rows, columns=["voter", "row", "class", "accuracy"])


def draw_votes(votes: pd.DataFrame) -> Any:
    """Draw the predictions as coloured cells, with one row per tree."""
    import altair as alt

    labels = [
        name if name == "true class" else f"{name}, accuracy {100 * accuracy:.0f} %"
        for name, accuracy in zip(votes["voter"], votes["accuracy"], strict=True)
    ]
    chart = (
        build_chart(to_records(votes.assign(voter=labels), ["voter", "row", "class"]))
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            alt.X("row:O", title="Test rows, sorted by true class and votes", axis=alt.Axis(labels=False, ticks=False)),
            alt.Y("voter:N", sort=list(dict.fromkeys(labels)), title=None, axis=alt.Axis(labelLimit=220)),
            _encode_class(),
        )
        .properties(width=480, height=alt.Step(17))
    )
    title = build_title("Votes of ten bagged C4.5 trees", "Each tree is trained on a bootstrap sample of 60 rows")
    return style_chart(chart.properties(title=title))


def build_boosting(n_rounds: int = 3) -> pd.DataFrame:
    """Return the weighted points in each round of AdaBoost, and the stump's errors."""
    import pandas as pd

    from fairtrial.learners import AdaBoostM1, Stump

    X, y = _draw_points(40)
    boosted = AdaBoostM1(Stump(), n_rounds).fit(X, y)
    weights, frames = np.ones(len(y)), []
    for number, member in enumerate(boosted.estimators_, 1):
        wrong = member.predict(X) != y
        error = float(weights[wrong].sum() / weights.sum())
        split = {"round": number, "error": error, "column": int(member.column_), "cut": float(member.cut_)}
        points = {"x": X[:, 0], "y": X[:, 1], "class": np.array(_CLASSES)[y], "weight": weights, "wrong": wrong}
        frames.append(pd.DataFrame(split | points))
        weights = weights * np.where(wrong, (1 - error) / error, 1)
        weights = weights * len(y) / weights.sum()
    return pd.concat(frames, ignore_index=True)


def draw_boosting(points: pd.DataFrame) -> Any:
    """Draw the points, sized by weight, and the split of the stump in each round."""
    import altair as alt

    largest = float(points["weight"].max())
    size = alt.Size("weight:Q", scale=alt.Scale(domain=[0, largest], range=[0, 260]), legend=None)
    shapes = alt.Scale(domain=["correct", "wrong"], range=["circle", "cross"])
    shape = alt.Shape("prediction:N", scale=shapes, title=None, legend=alt.Legend(orient="bottom"))
    panels = []
    for number, rows in points.groupby("round", sort=False):
        first = rows.iloc[0]
        axis = "x" if first["column"] == 0 else "y"
        line = build_chart([{axis: first["cut"]}]).mark_rule(color=GREY, strokeDash=[4, 3])
        named = rows.assign(prediction=np.where(rows["wrong"], "wrong", "correct"))
        marks = build_chart(to_records(named, ["x", "y", "class", "weight", "prediction"])).mark_point(filled=True, opacity=0.8)
        layer = alt.layer(
            line.encode(_encode_position()[0 if axis == "x" else 1]),
            marks.encode(*_encode_position(), _encode_class(), size, shape),
        )
        panels.append(
            layer.properties(
                width=200, height=200, title=_build_panel_title(f"Round {number}, weighted error {first['error']:.2f}")
            )
        )
    title = build_title(
        "Weights in three rounds of boosting", "Larger points have larger weights; the line is the split of the stump"
    )
    return style_chart(alt.hconcat(*panels).properties(title=title))
