"""Repeat table 3 of the paper, and study further learners and noise levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from fairtrial._text import format_count
from fairtrial.reproduce.claim import Claim, estimate_mean, mark_inconclusive
from fairtrial.reproduce.ela import brm, claims, figures, filters
from fairtrial.reproduce.ela.claims import LOSS_LIMIT, SIMILAR_LOSS, STATEMENTS, VARIANTS
from fairtrial.reproduce.ela.datasets import LARGE, PaperDatasets
from fairtrial.reproduce.ela.low_accuracy import judge_low_accuracy, split_folds
from fairtrial.reproduce.ela.printed import build_toy_table, judge_printed
from fairtrial.reproduce.ela.tables import (
    ANY_CLASS,
    C45,
    CLEAN,
    LEARNER_LABELS,
    NOISY,
    OTHER_CLASS,
    OURS,
    QUANTITIES,
    SVM_LOGISTIC,
    SVM_VOTES,
    Table3,
    TableCells,
    build_tables,
    select_differences,
)
from fairtrial.reproduce.experiment import Reproduction, Request, ResultTable, experiment, read_study_file

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset
    from fairtrial.study import Results

CURVE_DATASETS = (
    *("balance", "cleveland", "glass", "hayes-roth", "ionosphere", "iris", "lymphography", "monk-2"),
    *("newthyroid", "pima", "sonar", "vehicle", "wdbc", "wine", "zoo"),
)
_QUICK_CURVE_DATASETS = ("iris", "newthyroid", "wine")
_QUICK_VARIANT_DATASETS = ("cleveland", "german", "hayes-roth", "zoo")
_SMOKE_VARIANTS = ("votes", "logistic")
_SMOKE_CURVE_LEARNERS = ("c45", "naive-bayes")
_CLOSE = 2.0  # points
_FAR = 3.0


@experiment(
    "ela",
    title="Which learner is more robust to class noise? ELA and RLA of C4.5 and a support vector machine",
    paper="ela",
)
def run(request: Request) -> Reproduction:
    """Repeat table 3, and run the variants and further studies."""
    datasets = PaperDatasets.load(request)
    resampling = read_study_file("ela")["resampling"]
    repeats = request.pick(smoke=1, quick=1, full=resampling["repeats"])
    results = run_study(request, "study", datasets.data, name="table3", repeats=repeats)
    variant_results, curve_results = run_variants(request, datasets), run_curves(request, datasets)
    simulated_results, filter_results = brm.run_simulated(request), run_filters(request, datasets)
    cells, draws = TableCells.from_results(results), brm.compute_draws(simulated_results)
    copies = compare_copies(request, datasets, cells, repeats)
    sizes, curves = datasets.find_other_sizes(), tabulate_curves(curve_results)
    accuracies = tabulate_accuracies(variant_results)
    variants = tabulate_distances(accuracies)
    tables = build_tables(cells)
    judged = (
        *claims.judge_claims(cells, claims.estimate_differences(results)),
        *judge_low_accuracy(split_folds(curve_results)),
        brm.judge_agreement(draws),
    )
    if request.scale == "smoke":
        judged = mark_inconclusive(judged)
    frames = {table.name: table.frame for table in tables}
    noise = frames["noise"].to_dict("records")
    values = {
        "repeats": repeats,
        "folds": request.pick(smoke=2, quick=resampling["folds"], full=resampling["folds"]),
        "n_datasets": cells.other_class["dataset"].nunique(),
        "published_decisions": frames["decided"].tail(len(QUANTITIES)).to_dict("records"),  # of the whole published table
        "n_published": len(Table3.published()),
        "agreement": _summarize_agreement(cells),
        "learner_labels": LEARNER_LABELS,
        "variants": variants.to_dict("records"),
        "without_worst": _leave_out_worst(accuracies, variants),
        "noisy_distances": _compute_noisy_distances(cells),
        "noise": noise,
        "closer_with_any": [
            LEARNER_LABELS[row["learner"]]
            for row in noise
            if row["learner"] in (C45, SVM_LOGISTIC) and row["distance, any"] < row["distance, other"]
        ],
        "corrupted": datasets.corrupted,
        "copies": copies.to_dict("records"),
        "packages": datasets.group_by_package(),
        "sizes": sizes.to_dict("records"),
        "curves": curves.to_dict("records"),
        "n_levels": len(curve_results.archive.conditions),
        "far": {kind: _find_far(cells, kind) for kind in ("other", "any")},
        "far_limit": _FAR,
        "contradictions": claims.find_contradictions(Table3.published()),
        "limit_contradictions": claims.find_contradictions(Table3.published(), limited=True),
        "n_statements": sum(not statement.limited for statement in STATEMENTS),
        "loss_limit": LOSS_LIMIT,
        "similar_loss": SIMILAR_LOSS,
        "changed": {name: find_changed(judged, name) for name in VARIANTS},
        "filters": filters.describe_gains(filter_results),
        "rank_example": brm.find_rank_example(draws),
        "bayes_errors": {name: population.bayes_error for name, population in brm.build_populations().items()},
    }
    study_tables = _build_study_tables(variants, accuracies, copies, sizes, curves)
    return Reproduction(
        values,
        (*tables, build_toy_table(), brm.build_table(draws), filters.build_table(filter_results), *study_tables),
        (*judged, *judge_printed()),
        figures.draw_figures(cells, variants, curve_results),
        {**datasets.missing, **count_failures(results, variant_results, curve_results, simulated_results, filter_results)},
        summarize(cells, judged),
    )


def summarize(cells: TableCells, judged: Sequence[Claim]) -> str:
    """Summarize which learner is better, and which verdicts depend on inferred settings."""
    table = cells.build_versions()[OURS]
    if not len(table):
        return "No data set has all numbers of table 3, so no claim about it was judged."
    rla, ela = (table.estimate_difference(quantity) for quantity in ("rla", "ela"))
    numbers = {
        name: f"{name}, C4.5 - SVM {difference.value:+.4f}, 95 % CI {difference.low:+.4f} to {difference.high:+.4f}"
        for name, difference in (("RLA", rla), ("ELA", ela))
    }
    if not rla.sign and not ela.sign:
        answer = f"C4.5 and the SVM do not differ significantly under 10 % class noise ({numbers['RLA']}; {numbers['ELA']})."
    else:
        answer = f"{_describe_loss(rla.sign)} ({numbers['RLA']}). {_describe_behaviour(ela.sign)} ({numbers['ELA']})."
    n_published = len(Table3.published())
    if len(table) < n_published:
        answer = f"On {len(table)} of the {n_published} data sets, {answer}"
    with_variants = [claim for claim in judged if claim.variants and claim.kind == "claim"]
    if not with_variants:
        return answer
    n_votes, n_any = (len(find_changed(with_variants, name)) for name in VARIANTS)
    return (
        f"{answer} The paper does not fully specify its SVM and its noise. Of {format_count(len(with_variants), 'verdict')}, "
        f"{n_votes} would be different if the SVM counted votes, and {n_any} if the noise could assign any class."
    )


def _describe_loss(sign: int) -> str:
    return {
        -1: "C4.5 loses less accuracy under 10 % class noise than the SVM, as the paper states",
        0: "C4.5 and the SVM do not differ significantly in their loss of accuracy under 10 % class noise",
        1: "C4.5 loses more accuracy under 10 % class noise than the SVM, contrary to the paper",
    }[sign]


def _describe_behaviour(sign: int) -> str:
    return {
        -1: "By ELA, which includes the accuracy without noise, C4.5 is better",
        0: "By ELA, which includes the accuracy without noise, the two learners do not differ significantly",
        1: "By ELA, which includes the accuracy without noise, the SVM is better",
    }[sign]


def find_changed(judged: Sequence[Claim], variant: str) -> list[str]:
    """List the claims whose verdict in a variant differs from that in the main run.

    Examples
    --------
    >>> from fairtrial.reproduce.claim import Claim
    >>> claims = [Claim("a", "reproduced", "", variants={"votes": "inconclusive"}), Claim("b", "reproduced", "")]
    >>> find_changed(claims, "votes")
    ['a. The verdict is "reproduced" in the main run and "inconclusive" in this variant.']
    """
    changed = []
    for claim in judged:
        main, other = claim.variants.get("main run", claim.verdict), claim.variants.get(variant)
        if other is not None and other != main:
            changed.append(f'{claim.text}. The verdict is "{main}" in the main run and "{other}" in this variant.')
    return changed


def run_study(
    request: Request, file: str, data: Mapping[str, Dataset], *, name: str = "", repeats: int = 1, **sections: Any
) -> Results:
    """Run a study file on these data sets.

    `sections` replace the sections of the file with the same names. A smoke run uses two folds.
    """
    from fairtrial import Study

    declared = {key: value for key, value in read_study_file("ela", file).items() if key not in ("name", "seed", "data")}
    declared |= sections
    folds = request.pick(smoke=2, quick=declared["resampling"]["folds"], full=declared["resampling"]["folds"])
    declared["resampling"] = {**declared["resampling"], "folds": folds, "repeats": repeats}
    study = Study(data=dict(data), seed=request.seed, name=name or file, **declared)
    results: Results = study.run(request.out / f"{study.name}.fairtrial", jobs=request.jobs, progress=request.progress)
    return results


def count_failures(*studies: Results) -> dict[str, str]:
    """Count the failed trials by learner and data set, and quote the first error message."""
    failures: dict[str, str] = {}
    for results in studies:
        for (learner, dataset), rows in results.failures().groupby(["learner", "dataset"], sort=False, observed=True):
            first = rows.iloc[0]
            failures[f"{learner} on {dataset}"] = (
                f"{format_count(len(rows), 'trial')} failed ({first['status']}: {first['message']})"
            )
    return failures


def compare_copies(request: Request, datasets: PaperDatasets, cells: TableCells, repeats: int) -> pd.DataFrame:
    """Compare accuracies on other copies of data sets with those on KEEL's files."""
    import pandas as pd

    from fairtrial.report.means import compute_level_means

    columns = ["data set", "copy", "learner", "KEEL's file", "the copy", "low", "high", "paper", "closer"]
    copies = datasets.find_copies()
    if not copies:
        return pd.DataFrame(columns=columns)
    learners = {name: read_study_file("ela")["learners"][name] for name in (C45, SVM_LOGISTIC)}
    data = {name: dataset for name, (_, dataset) in copies.items()}
    conditions = {"class-noise": [0]}
    results = run_study(request, "study", data, name="copies", repeats=repeats, conditions=conditions, learners=learners)
    clean = cells.other_class[cells.other_class["quantity"] == CLEAN].set_index(["dataset", "learner"])["value"]
    published = Table3.published().frame
    rows = []
    for name, (description, _) in copies.items():
        means = compute_level_means(results, results.archive.conditions, dataset=name)
        for learner, *interval in means[["learner", "mean", "low", "high"]].itertuples(index=False, name=None):
            mean, low, high = (100 * value for value in interval)
            keel = clean.get((name, learner), float("nan"))
            paper = published.loc[name, "acc0_c45" if learner == C45 else "acc0_svm"]
            closer = "the copy" if abs(mean - paper) < abs(keel - paper) else "KEEL's file"
            rows.append((name, description, str(learner), keel, mean, low, high, paper, closer))
    return pd.DataFrame(rows, columns=columns)


def run_variants(request: Request, datasets: PaperDatasets) -> Results:
    """Run the variants of the SVM without noise on all data sets except the large ones.

    Smoke and quick runs use fewer data sets.
    """
    small = [name for name in datasets.data if name not in LARGE]
    names = request.pick(smoke=tuple(datasets.data)[:1], quick=_QUICK_VARIANT_DATASETS, full=small)
    learners = read_study_file("ela", "variants")["learners"]
    if request.scale == "smoke":
        learners = {name: learners[name] for name in _SMOKE_VARIANTS}
    return run_study(request, "variants", datasets.select(names), learners=learners)


def tabulate_accuracies(results: Results) -> pd.DataFrame:
    """Tabulate the accuracy of each variant by data set, in percent.

    The column `paper` contains the published accuracy.
    """
    accuracies = 100 * results.wide("accuracy")
    published = Table3.published().frame["acc0_svm"]
    named = accuracies.set_axis([str(name) for name in accuracies.columns], axis=1)
    return named.assign(paper=published.reindex(accuracies.index))


def tabulate_distances(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Tabulate how far the accuracies of each variant are from those of the paper.

    The table contains the mean and the largest distance, and the number of data sets on which the distance is small.

    >>> import pandas as pd
    >>> accuracies = pd.DataFrame({"paper": [60.0, 90.0], "votes": [90.0, 91.0]}, index=["car", "iris"])
    >>> tabulate_distances(accuracies)[["variant", "mean distance", "largest", "largest on", "within 2 points"]].values.tolist()
    [['votes', 15.5, 30.0, 'car', 1]]
    """
    import numpy as np
    import pandas as pd

    rows = []
    for name in accuracies.columns.drop("paper"):
        distance = (accuracies[name] - accuracies["paper"]).abs().dropna()
        mean, n_close, n = estimate_mean(distance), int((distance <= _CLOSE).sum()), len(distance)
        low = float(np.maximum(mean.low, 0))  # keeps NaN, unlike `max`
        rows.append((name, mean.value, low, mean.high, distance.max(), distance.idxmax() if n else "", n_close, n))
    columns = ["variant", "mean distance", "low", "high", "largest", "largest on", "within 2 points", "data sets"]
    return pd.DataFrame(rows, columns=columns).sort_values("mean distance", kind="stable", ignore_index=True)


def run_curves(request: Request, datasets: PaperDatasets) -> Results:
    """Run more learners at more noise levels on small, uncorrupted data sets.

    Smoke and quick runs use fewer data sets and noise levels. A smoke run also uses fewer learners.
    """
    declared = read_study_file("ela", "curves")
    names = request.pick(smoke=tuple(datasets.data)[:2], quick=_QUICK_CURVE_DATASETS, full=CURVE_DATASETS)
    levels = request.pick(smoke=[0, 0.3], quick=[0, 0.1, 0.3, 0.5], full=declared["conditions"]["class-noise"])
    learners = declared["learners"]
    if request.scale == "smoke":
        learners = {name: learners[name] for name in _SMOKE_CURVE_LEARNERS}
    return run_study(request, "curves", datasets.select(names), learners=learners, conditions={"class-noise": levels})


def run_filters(request: Request, datasets: PaperDatasets) -> Results:
    """Run learners with and without noise filters on small data sets with numeric columns."""
    declared = read_study_file("ela", "filters")
    names = request.pick(smoke=tuple(datasets.data)[:2], quick=filters.QUICK_DATASETS, full=filters.DATASETS)
    learners = declared["learners"]
    if request.scale == "smoke":
        learners = {name: learners[name] for name in filters.SMOKE_LEARNERS}
    return run_study(request, "filters", datasets.select(names), learners=learners)


def tabulate_curves(results: Results) -> pd.DataFrame:
    """Tabulate accuracy by noise level, ELA and RLA of each learner."""
    import pandas as pd

    losses = results.robustness("class-noise", by="all")
    highest = losses["level"].max()
    by_dataset = results.robustness("class-noise").astype({"dataset": object, "learner": object})
    mean_ela = by_dataset.pivot_table(
        index="dataset", columns="learner", values="ela", aggfunc=lambda values: values.mean(skipna=False)
    )
    mean_ranks = mean_ela.dropna().rank(axis=1).mean()
    rows = []
    for learner, curve in losses.groupby("learner", sort=False, observed=True):
        row: dict[str, Any] = {"learner": str(learner), "0 %": 100 * curve["clean"].iloc[0]}
        row |= {f"{100 * level:.0f} %": 100 * noisy for level, noisy in zip(curve["level"], curve["noisy"], strict=True)}
        row |= {"mean ELA": curve["ela"].mean(), "mean rank": float(mean_ranks[str(learner)])}
        last = curve[curve["level"] == highest].iloc[0]
        for name in ("ela", "rla"):
            interval = f"{last[name]:.3f} ({last[f'{name}_low']:.3f} to {last[f'{name}_high']:.3f})"
            row[f"{name.upper()} at {100 * highest:.0f} %"] = interval
        rows.append(row | {"data sets": int(curve["datasets"].min())})
    return pd.DataFrame(rows).sort_values("mean ELA", kind="stable", ignore_index=True)


def _build_study_tables(
    variants: pd.DataFrame, accuracies: pd.DataFrame, copies: pd.DataFrame, sizes: pd.DataFrame, curves: pd.DataFrame
) -> list[ResultTable]:
    by_dataset = accuracies.reset_index(names="data set")
    tables = [
        ResultTable("puzzle", "Distance of each variant of the SVM to the paper", variants, _VARIANTS_NOTE, digits=2),
        ResultTable("puzzle-by-set", "The variants by data set", by_dataset, "Accuracy in percent.", digits=2),
        ResultTable("copies", "Other copies of the same data sets", copies, _COPIES_NOTE, digits=2),
        ResultTable("sizes", "Data sets whose size differs from the paper's", sizes, _SIZES_NOTE),
        ResultTable("curves", "More learners under class noise", curves, _CURVES_NOTE, digits=3),
    ]
    return [table for table in tables if len(table.frame)]


_VARIANTS_NOTE = (
    "The accuracies come from one cross-validation without noise, so a difference of one point on a small data set can be due "
    "to chance. Distances are absolute differences in points. C is 100 and columns are scaled to 0..1 with one binary column "
    "per nominal value, unless the name of the variant states otherwise. The variant 'votes' predicts the class that wins "
    "most pairs. The variant 'logistic' fits a logistic model to each SVM's outputs for its training rows and combines the "
    "pairs into class probabilities."
)
_COPIES_NOTE = (
    "The table shows the accuracy without noise in percent, on KEEL's file and on the other copy. 'low' and 'high' are 95 % "
    "confidence limits of the accuracy on the copy. 'closer' names the file whose accuracy is closer to the paper's."
)
_SIZES_NOTE = "These files were run unchanged, so our numbers and the paper's are based on different rows."
_CURVES_NOTE = (
    "The table shows means over data sets, with the accuracy in percent. The column 'mean ELA' is the mean over all noise "
    "levels above 0. For 'mean rank', the learners are ranked by this mean on each data set (1 is the lowest ELA), and the "
    "ranks are averaged. ELA and RLA at the highest noise level have 95 % t intervals over data sets. The table uses the data "
    "sets on which no learner failed."
)


def _summarize_agreement(cells: TableCells) -> list[dict[str, Any]]:
    """Summarize the distance of each learner to the paper, by kind of noise."""
    comparisons = ((OTHER_CLASS, CLEAN), (OTHER_CLASS, NOISY), (ANY_CLASS, NOISY))
    summaries = []
    for learner, label in LEARNER_LABELS.items():
        frames = [select_differences(cells.compare(noise), learner, quantity) for noise, quantity in comparisons]
        if len(frames[0]):
            misses = [int(((frame["low"] > 0) | (frame["high"] < 0)).sum()) for frame in frames]
            distances = [float(frame["difference"].abs().mean()) for frame in frames]
            summaries.append({"label": label, "n": len(frames[0]), "distances": distances, "misses": misses})
    return summaries


def _compute_noisy_distances(cells: TableCells) -> dict[str, dict[str, float]] | None:
    """Compute the distances of both SVMs to the paper at 10 % noise; None if unknown."""
    distances = {
        kind: {
            svm: float(select_differences(cells.compare(noise), learner, NOISY)["difference"].abs().mean())
            for svm, learner in (("votes", SVM_VOTES), ("logistic", SVM_LOGISTIC))
        }
        for kind, noise in (("other", OTHER_CLASS), ("any", ANY_CLASS))
    }
    is_complete = not any(isnan(value) for by_svm in distances.values() for value in by_svm.values())
    return distances if is_complete else None


def _leave_out_worst(accuracies: pd.DataFrame, variants: pd.DataFrame) -> dict[str, Any] | None:
    """Compare votes and logistic models without the worst data set for votes."""
    worst = variants.set_index("variant").loc["votes", "largest on"]
    others = accuracies.drop(index=worst).dropna(subset=["paper", "votes", "logistic"])
    if others.empty:
        return None
    votes, logistic = ((others[name] - others["paper"]).abs() for name in ("votes", "logistic"))
    return {
        "dataset": worst,
        "votes": float(votes.mean()),
        "logistic": float(logistic.mean()),
        "n_closer": int((logistic < votes).sum()),
        "n_farther": int((logistic > votes).sum()),
    }


def _find_far(cells: TableCells, kind: str) -> list[dict[str, Any]]:
    """Find the accuracies of the SVM with logistic models that are far from the paper's.

    An accuracy is far if it differs from the paper's significantly and by more than `_FAR` points.
    """
    comparison = cells.compare(OTHER_CLASS if kind == "other" else ANY_CLASS)
    selected = comparison[(comparison["learner"] == SVM_LOGISTIC) & comparison["quantity"].isin([CLEAN, NOISY])]
    is_far = (selected["difference"].abs() > _FAR) & ((selected["low"] > 0) | (selected["high"] < 0))
    columns = ["dataset", "difference", "quantity"]
    return [dict(zip(columns, row, strict=True)) for row in selected[is_far][columns].itertuples(index=False, name=None)]
