"""SCV and DOB-SCV on the paper's data sets and on simulated problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv import claims, figures, partitions
from fairtrial.reproduce.dobscv.simulation import FOLD_MODELS, FULL_MODEL, SIZES, Simulation, build_structures
from fairtrial.reproduce.dobscv.studies import ABSTAINED, LITERAL, SCV, SHUFFLED, ImbalancedData
from fairtrial.reproduce.dobscv.tables import FoldAverages, build_tables, estimate_effects, estimate_family_mean
from fairtrial.reproduce.experiment import Reproduction, Request, ResultTable, experiment, read_study_file

if TYPE_CHECKING:
    import pandas as pd

_PUZZLE = "Cleveland0vs4"  # Chi performs far below chance on this data set
_QUICK_STRUCTURES = ("one cluster", "four clusters", "four clusters, noise")
_COSTS_NOTE = (
    "The table shows the mean AUC of 5 stratified folds. `difference` is class weights minus SMOTE on the same data sets, "
    "with a 95 % interval over families of data sets; `higher` and `lower` count data sets."
)
_GAPS_NOTE = (
    "The table shows the mean AUC on the training and on the test sets of our own folds, without the synthetic rows of SMOTE. "
    "`reduction` is the gap under SCV minus the gap under the scheme, with a 95 % interval over families of data sets."
)


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
    structures = list(build_structures())
    n_replicates = request.pick(smoke=2, quick=5, full=30)
    simulation = Simulation.run(
        request,
        request.pick(smoke=structures[:1], quick=_QUICK_STRUCTURES, full=structures),
        request.pick(smoke=SIZES[:1], quick=SIZES[:2], full=SIZES),
        n_replicates,
    )
    points = partitions.project_partitions(data, request.seed)
    gaps = partitions.measure_gaps(request, data, request.pick(smoke=1, quick=1, full=2))
    costs = data.run_costs(request)
    failures = scores[scores["value"].isna()].groupby(["learner", "dataset"]).size().reset_index(name="count")
    return Reproduction(
        values={
            "data": data,
            "n_runs": n_runs,
            "failures": failures.to_dict("records"),
            "base": averages.bases[0],
            "damage": compare_without_damaged(data, averages),
            "puzzle": _explain_puzzle(data, averages),
            "nearest": partitions.measure_nearest(points),
            "projected": points["dataset"].iloc[0],
            "n_replicates": n_replicates,
            "n_problems": len(simulation.rows.drop_duplicates(["structure", "n_rows", "proportion"])),
        },
        tables=tuple(
            sorted(
                (*build_tables(averages), *simulation.build_tables(), build_gaps_table(gaps), build_costs_table(costs)),
                key=lambda table: not table.on_page,
            )
        ),
        claims=tuple(claims.judge_claims(averages, scores, simulation, gaps, subtract_smote(costs))),
        figures={
            "Error of DOB-SCV relative to SCV on simulated problems": figures.draw_map(simulation),
            "What DOB-SCV adds to the estimate by imbalance ratio": figures.draw_differences(averages),
            "Bias on simulated problems by factor": figures.draw_level_biases(simulation),
            "Figures 3 and 4: projections of partitions": figures.draw_partitions(points),
            "Figures 1 and 2, and the folds of a small class": figures.draw_illustrations(request.seed),
        },
        skipped=dict(data.skipped),
        answer=summarize(averages, simulation),
    )


def summarize(averages: FoldAverages, simulation: Simulation) -> str:
    """Summarize how DOB-SCV changes the estimates, and which scheme has smaller errors."""
    differences = averages.compare_datasets(LITERAL, averages.bases[0])
    effect = estimate_family_mean(differences.mean(axis=1))
    n_higher = sum(estimate.sign > 0 for estimate in estimate_effects(differences).values())
    biases = {
        (scheme, estimand): simulation.estimate("bias", scheme, estimand)
        for scheme in (SCV, SHUFFLED)
        for estimand in (FOLD_MODELS, FULL_MODEL)
    }
    bias = {key: f"{estimate.value:+.3f}" for key, estimate in biases.items()}
    return (
        f"DOB-SCV gives {'higher' if effect.value > 0 else 'lower'} estimates of the AUC than SCV, with a mean difference of "
        f"{effect.format('{:+.3f}')} over {averages.n_datasets} data sets and {differences.shape[1]} learners. The "
        f"difference is significant for {n_higher} of the learners. On simulated problems with known performance, the bias "
        "of DOB-SCV is "
        f"{bias[SHUFFLED, FOLD_MODELS]} relative to its fold models and {bias[SHUFFLED, FULL_MODEL]} relative to the model "
        f"trained on all rows. The corresponding biases of SCV are {bias[SCV, FOLD_MODELS]} and {bias[SCV, FULL_MODEL]}. "
        "Compared with SCV, the "
        f"root mean squared error of DOB-SCV is {_compare_errors(simulation, FOLD_MODELS)} for the fold models and "
        f"{_compare_errors(simulation, FULL_MODEL)} for the model trained on all rows."
    )


def _compare_errors(simulation: Simulation, estimand: str) -> str:
    """Describe by how much the RMSE of DOB-SCV is lower or higher than that of SCV."""
    rmse = simulation.levels.query("factor == 'all' and estimand == @estimand").set_index("scheme")["rmse"]
    change = 100 * (rmse[SHUFFLED] / rmse[SCV] - 1)
    is_significant = simulation.estimate("excess", SHUFFLED, estimand).sign != 0
    word, significance = "lower" if change < 0 else "higher", "" if is_significant else " (not significant)"
    return f"{abs(change):.0f} % {word}{significance}"


def subtract_smote(costs: pd.DataFrame) -> pd.DataFrame:
    """Subtract the AUC with SMOTE from that with class weights, by data set and learner.

    >>> import pandas as pd
    >>> costs = pd.DataFrame({"tree, SMOTE": [0.5], "tree, class weights": [0.75]}, index=["Glass1"])
    >>> subtract_smote(costs)
            tree
    Glass1  0.25
    """
    import pandas as pd

    learners = dict.fromkeys(str(column).partition(", ")[0] for column in costs)
    return pd.DataFrame({name: costs[f"{name}, class weights"] - costs[f"{name}, SMOTE"] for name in learners})


def build_costs_table(costs: pd.DataFrame) -> ResultTable:
    """Tabulate the mean AUC with SMOTE and with class weights for each learner."""
    import pandas as pd

    differences = subtract_smote(costs)
    rows = [
        (
            learner,
            costs[f"{learner}, SMOTE"].mean(),
            costs[f"{learner}, class weights"].mean(),
            *(effect.value, effect.low, effect.high),
            int((differences[learner] > 0).sum()),
            int((differences[learner] < 0).sum()),
        )
        for learner, effect in estimate_effects(differences).items()
    ]
    columns = ["learner", "SMOTE", "class weights", "difference", "low", "high", "higher", "lower"]
    return ResultTable("costs", "Class weights instead of SMOTE", pd.DataFrame(rows, columns=columns), _COSTS_NOTE, digits=4)


def build_gaps_table(gaps: pd.DataFrame) -> ResultTable:
    """Tabulate the mean AUC on training and test sets and their gap for each learner and scheme."""
    import pandas as pd

    means = gaps.groupby(["dataset", "learner", "scheme"], sort=False)[["train_auc", "test_auc"]].mean()
    by_dataset: Any = (means["train_auc"] - means["test_auc"]).unstack("dataset")
    rows = []
    for learner, scheme in by_dataset.index:
        averages: Any = means.xs((learner, scheme), level=("learner", "scheme")).mean()
        reduction = estimate_family_mean((by_dataset.loc[(learner, SCV)] - by_dataset.loc[(learner, scheme)]).dropna())
        limits = (reduction.value, reduction.low, reduction.high) if scheme != SCV else (np.nan,) * 3
        gap = averages["train_auc"] - averages["test_auc"]
        rows.append((learner, scheme, averages["train_auc"], averages["test_auc"], gap, *limits))
    columns = ["learner", "scheme", "training AUC", "test AUC", "gap", "reduction", "low", "high"]
    return ResultTable("gaps", "Gap between training and test AUC", pd.DataFrame(rows, columns=columns), _GAPS_NOTE, digits=4)


def compare_without_damaged(data: ImbalancedData, averages: FoldAverages) -> dict[str, tuple[float, float]]:
    """Compute mean differences with and without the corrupted data sets."""
    differences = averages.compare_runs()
    is_intact = ~differences["dataset"].isin(data.damaged)
    means, intact = (rows.groupby("learner", sort=False)["value"].mean() for rows in (differences, differences[is_intact]))
    return {str(learner): (value, float(intact.get(learner, np.nan))) for learner, value in means.items()}


def _explain_puzzle(data: ImbalancedData, averages: FoldAverages) -> dict[str, Any] | None:
    """Return Chi's abstention rate and AUC on the puzzling data set; None if unknown."""
    rows = averages.frame.query("dataset == @_PUZZLE and learner == 'Chi' and scheme == @averages.bases[0]")
    abstention_rate = measure_abstention(data)
    if abstention_rate is None or not len(rows):
        return None
    return {"dataset": _PUZZLE, "abstention_rate": abstention_rate, "auc": float(rows["auc"].mean())}


def measure_abstention(data: ImbalancedData, name: str = _PUZZLE) -> float | None:
    """Measure how often no rule of Chi fires; None if KEEL's folds are missing."""
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
