"""SCV and DOB-SCV on the paper's 66 imbalanced data sets, and on simulated problems with known performance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.figures.base import GREY, PALETTE, build_title, style_chart, to_records
from fairtrial.reproduce.dobscv import claims
from fairtrial.reproduce.dobscv.simulation import N_ROWS, SPLITTERS, Simulation
from fairtrial.reproduce.dobscv.studies import ABSTAINED, LITERAL, SCV, SHUFFLED, ImbalancedData
from fairtrial.reproduce.dobscv.tables import FoldAverages, build_tables
from fairtrial.reproduce.experiment import Reproduction, Request, experiment, read_study_file

if TYPE_CHECKING:
    import pandas as pd

_PUZZLE = "Cleveland0vs4"  # Chi performs far below chance on this data set
_SAME_ERROR = 1e-4  # errors that differ by less than this count as equal
_MIN_FOR_TREND = 20  # data sets


@experiment(
    "dobscv",
    title="Does distributing neighbours over folds change the estimate? SCV and DOB-SCV",
    paper="dobscv",
)
def run(request: Request) -> Reproduction:
    """Run the studies and the simulation, and compare the results with the paper."""
    data = ImbalancedData.load(request.scale, request.seed)
    n_runs = request.pick(smoke=1, quick=2, full=5)
    scores = data.run_studies(request, n_runs)
    averages = FoldAverages.from_scores(scores, data.compute_imbalance())
    problems = list(N_ROWS)[: request.pick(smoke=1, quick=2, full=4)]
    n_replicates = request.pick(smoke=2, quick=15, full=250)
    simulation = Simulation.run(request, dict.fromkeys(problems, n_replicates))
    tables = (*build_tables(averages), *simulation.build_tables())
    agreement = next(table.frame for table in tables if table.name == "table-4-agreement")
    failures = scores[scores["value"].isna()].groupby(["learner", "dataset"]).size().reset_index(name="count")
    return Reproduction(
        values={
            "data": data,
            "n_runs": n_runs,
            "failures": failures.to_dict("records"),
            "base": averages.bases[0],
            "damage": compare_without_damaged(data, averages),
            "target_gaps": {
                scheme: claims.estimate_target_gaps(averages, scheme) for scheme in averages.bases if averages.is_complete
            },
            "agreement": agreement[agreement["scheme"].isin([averages.bases[0], LITERAL])].to_dict("records"),
            "puzzle": _explain_puzzle(data, averages),
            "n_samples": n_replicates * len(problems),
            **summarize_biases(simulation.pooled_biases),
        },
        tables=tables,
        claims=tuple(claims.judge_claims(averages, scores, simulation.pooled_biases)),
        figures={
            "What DOB-SCV adds to the estimate by imbalance ratio": draw_differences(averages),
            "Bias against the learner trained on all rows": draw_biases(simulation.biases),
            "Bias against the fold models": draw_biases(simulation.biases, column="fold_bias"),
        },
        skipped=dict(data.skipped),
    )


def compare_without_damaged(data: ImbalancedData, averages: FoldAverages) -> dict[str, tuple[float, float]]:
    """Return the mean difference for each learner, over all data sets and over the uncorrupted ones."""
    differences = averages.compare_runs()
    is_intact = ~differences["dataset"].isin(data.damaged)
    means, intact = (rows.groupby("learner", sort=False)["value"].mean() for rows in (differences, differences[is_intact]))
    return {str(learner): (value, float(intact.get(learner, np.nan))) for learner, value in means.items()}


def _explain_puzzle(data: ImbalancedData, averages: FoldAverages) -> dict[str, Any] | None:
    """Return the proportion of test rows on which Chi abstains, and its AUC; None if the data set was not run."""
    rows = averages.frame.query("dataset == @_PUZZLE and learner == 'Chi' and scheme == @averages.bases[0]")
    abstention_rate = measure_abstention(data)
    if abstention_rate is None or not len(rows):
        return None
    return {"dataset": _PUZZLE, "abstention_rate": abstention_rate, "auc": float(rows["auc"].mean())}


def measure_abstention(data: ImbalancedData, name: str = _PUZZLE) -> float | None:
    """Measure the proportion of test rows for which no rule of Chi fires; None if KEEL's folds are missing."""
    from fairtrial import Study

    if name not in data.folds:
        return None
    folds = data.folds[name]
    learners = {"Chi": read_study_file("dobscv")["learners"]["Chi"]}
    study = Study(data={name: folds.dataset}, learners=learners, resampling={"folds": 5})
    chi = study.resolve().learners[0].estimator.set_params(random_state=1)
    X, y = folds.dataset.X.to_numpy(), folds.dataset.y
    predictions = [chi.fit(X[train], y.iloc[train]).predict(X[test]) for train, test in folds]
    return float(np.mean(np.concatenate(predictions) == ABSTAINED))


def summarize_biases(pooled: pd.DataFrame) -> dict[str, Any]:
    """Summarize the bias of balanced accuracy by scheme; name the schemes with the smallest error and bias."""
    biases: Any = pooled[pooled["measure"] == "balanced accuracy"].set_index("scheme", drop=False)
    scv_high = biases.loc[SCV, "fold_bias_high"]
    return {
        "biases": biases.to_dict("records"),
        "fold_biases": {
            scheme: float(biases.loc[scheme, "fold_bias"]) for scheme in (SCV, LITERAL, SHUFFLED) if scheme in biases.index
        },
        "least_error": list(biases.index[biases["rmse"] < biases["rmse"].min() + _SAME_ERROR]),
        "least_bias": biases["bias"].abs().idxmin(),
        "optimistic": [scheme for scheme in (LITERAL, SHUFFLED) if biases.loc[scheme, "fold_bias_low"] > scv_high],
    }


def draw_differences(averages: FoldAverages) -> Any:
    """Draw the difference on each data set (mean over runs) by imbalance ratio, with a panel per learner."""
    import altair as alt

    differences = averages.compare_runs().groupby(["learner", "dataset"], sort=False)[["value", "imbalance"]].mean()
    frame = differences.reset_index()
    rows = to_records(frame, ["learner", "dataset", "value", "imbalance"])
    axis = alt.Axis(values=[2, 5, 10, 20, 50, 100], format="d")
    x = alt.X("imbalance:Q", title="imbalance ratio", scale=alt.Scale(type="log"), axis=axis)
    y = alt.Y("value:Q", title="difference in AUC")
    points = alt.Chart().mark_circle(size=34, opacity=0.65, color=PALETTE[0])
    layers = [_draw_zero("y"), points.encode(x, y, tooltip=["dataset:N", "imbalance:Q", "value:Q"])]
    subtitle = f"{LITERAL} minus {averages.bases[0]}; one point per data set, mean over runs"
    if averages.n_datasets >= _MIN_FOR_TREND:
        trend = alt.Chart().transform_loess("imbalance", "value", groupby=["learner"], bandwidth=0.6)
        layers.append(trend.mark_line(color=PALETTE[1], strokeWidth=2).encode(x, y))
        subtitle += "; the line is a local regression"
    panels = alt.layer(*layers, data=alt.InlineData(values=tuple(rows))).properties(width=165, height=220)
    faceted = panels.facet(alt.Facet("learner:N", sort=list(frame["learner"].unique()), title=None), columns=5)
    return style_chart(faceted.properties(title=build_title("What DOB-SCV adds to the estimate, by imbalance", subtitle)))


def _draw_zero(direction: str) -> Any:
    import altair as alt

    return alt.Chart().mark_rule(color=GREY, strokeDash=[4, 3]).encode(**{direction: alt.datum(0)})


def draw_biases(biases: pd.DataFrame, measure: str = "balanced accuracy", column: str = "bias") -> Any:
    """Draw the bias and its interval for each learner and scheme, with a panel per problem."""
    import altair as alt

    frame = biases[biases["measure"] == measure]
    rows = to_records(frame, ["population", "learner", "scheme", column, f"{column}_low", f"{column}_high"])
    schemes = [scheme for scheme in SPLITTERS if (frame["scheme"] == scheme).any()]
    colours = alt.Scale(domain=schemes, range=list(PALETTE[: len(schemes)]))
    colour = alt.Color("scheme:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    offset = alt.YOffset("scheme:N", scale=alt.Scale(domain=schemes, paddingOuter=0.25))
    y = alt.Y("learner:N", title=None, sort=list(frame["learner"].unique()))
    title = f"estimated minus true {measure}"
    low, high = alt.X(f"{column}_low:Q", title=title), alt.X2(f"{column}_high:Q")
    intervals = alt.Chart().mark_rule(strokeWidth=1.6).encode(low, high, y, colour, offset)
    points = alt.Chart().mark_circle(size=38, opacity=1).encode(alt.X(f"{column}:Q", title=title), y, colour, offset)
    layers = alt.layer(_draw_zero("x"), intervals, points, data=alt.InlineData(values=tuple(rows)))
    panels = layers.properties(width=270, height=250)
    faceted = panels.facet(alt.Facet("population:N", sort=list(frame["population"].unique()), title=None), columns=2)
    models = "the learner trained on all rows" if column == "bias" else "the five fold models"
    subtitle = f"Relative to the performance of {models} on new cases; 95 % intervals"
    return style_chart(faceted.properties(title=build_title("Bias of the estimates on simulated problems", subtitle)))
