"""WEKA's tables, repeated with our learners."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.reproduce.claim import (
    Claim,
    IntervalEstimate,
    combine_estimates,
    estimate_proportion,
    judge_direction,
    judge_fact,
)
from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published
from fairtrial.reproduce.tutorial.inputs import (
    EIGHT_LEARNERS,
    PooledPredictions,
    TutorialInputs,
    count_folds,
    pool_predictions,
    require_printed_folds,
)
from fairtrial.reproduce.tutorial.printed import DisplayedNumber, PageSection, PrintedResult, build_example, judge_agreement

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.measures import RankTable
    from fairtrial.study import Results

POSITIVE = "recurrence-events"
DIGITS = {"acc": 1, "rmse": 4, "tpr": 2, "fpr": 2, "precision": 2, "recall": 2, "f": 2, "auc": 2, "info_score": 2}
LABELS = {
    "acc": "accuracy (%)",
    "rmse": "RMSE",
    "tpr": "TPR",
    "fpr": "FPR",
    "precision": "precision",
    "recall": "recall",
    "f": "F1 score",
    "auc": "AUC",
    "info_score": "information (bits)",
}
"""Display names of the nine measures."""
_DIRECTIONS = {name: "min" if name in ("rmse", "fpr") else "max" for name in DIGITS}
NOT_FROM_WEKA = ("Bagg", "RanF")
PRINTED_ROWS = {name: "3NN" if name == "1NN" else name for name in (*EIGHT_LEARNERS[:3], "3NN", *EIGHT_LEARNERS[3:])}
"""The row of the measures table with which each learner is compared."""
_PRINTED_RANKS = {
    learner: dict(zip(DIGITS, map(int, ranks), strict=True))
    for learner, ranks in {
        "NB": "351731112",
        "C4.5": "117117575",
        "3NN": "276226433",
        "Ripp": "433443366",
        "SVM": "684554671",
        "Bagg": "848288838",
        "Boost": "522872214",
        "RanF": "764554737",
    }.items()
}
LEARNERS = ("NB", "SVM", "AdaBoost", "RandomForest")
_SMALLEST = 5e-324  # WEKA replaces a probability of 0 with the smallest positive number
_WEIGHTED = "weighted average"
_PRINTED_BY_CLASS = {
    "bad": (0.7, 0.243, 0.609, 0.7, 0.651, 0.695),
    "good": (0.757, 0.3, 0.824, 0.757, 0.789, 0.695),
    _WEIGHTED: (0.737, 0.28, 0.748, 0.737, 0.74, 0.695),
}


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Compare our tables with the printed ones, if their data sets were found."""
    yield _build_printed_ranks()
    if inputs.eight_learners is not None:
        yield from build_breast_cancer(inputs.eight_learners)
    if inputs.ten_domains is not None:
        yield build_ten_domains(inputs.ten_domains)
    if inputs.eight_learners is not None:
        yield from build_weka_summary(inputs.eight_learners)


def build_breast_cancer(results: Results) -> Iterator[PageSection]:
    """Compare nine measures of eight learners on Breast Cancer, if it was run."""
    theirs = read_published("tutorial_breast_cancer_measures").set_index("learner")
    pooled = {name: pool_predictions(results, "Breast Cancer", name) for name in PRINTED_ROWS}
    predictions = {name: rows for name, rows in pooled.items() if rows is not None}
    if not predictions:
        return
    lines = _compare_measures(predictions, theirs)
    ours = lines.pivot(index="learner", columns="measure", values="ours").loc[list(predictions), list(DIGITS)]
    n_agreeing = {str(name): int(rows["agrees"].sum()) for name, rows in lines.groupby("learner", sort=False)}
    n_weka = {str(name): int(rows["WEKA agrees"].sum()) for name, rows in lines.groupby("learner", sort=False)}
    same = [name for name in n_agreeing if name not in (*NOT_FROM_WEKA, "3NN")]
    values = {
        "n_folds": count_folds(results),
        "same": same,
        "other": [name for name in n_agreeing if name in NOT_FROM_WEKA],
        "n_same": sum(n_agreeing[name] for name in same),
        "n_weka": {name: n_weka[name] for name in NOT_FROM_WEKA if name in n_weka},
        "differing": {
            name: [LABELS[measure].partition(" (")[0] for measure in rows.loc[~rows["agrees"], "measure"]]
            for name, rows in lines.groupby("learner", sort=False)
            if name in same and not rows["agrees"].all()
        },
    }
    note = (
        "Each learner has three rows: our numbers, those of WEKA 3.6.14 on the same folds, and those of the tutorial. The "
        "last column counts numbers that round to the printed digits. Row 3NN of the tutorial is compared with our "
        "results for one and for three neighbours."
    )
    tables = (
        ResultTable(
            "measures", "Nine measures of eight learners on Breast Cancer", _tabulate_measures(lines), note, is_main=True
        ),
        ResultTable("measures_by_line", "Nine measures, with intervals", lines, digits=4, on_page=False),
    )
    claims = judge_rows(n_agreeing, n_weka)
    yield PageSection("measures", values, tables, require_printed_folds(claims, results))
    eight = ours.loc[[name for name in ours.index if name != "3NN"]]
    yield _build_ranks(eight, results, predictions)
    yield _build_efficiency(eight, theirs)


def judge_rows(n_agreeing: dict[str, int], n_weka: dict[str, int]) -> list[Claim]:
    """Judge each row of the measures table.

    `n_weka` counts, for each row, the numbers from WEKA 3.6.14 that agree with the printed ones.
    """
    total = len(DIGITS)
    claims = []
    for name, count in n_agreeing.items():
        text = f"Row {PRINTED_ROWS[name]} of the measures table agrees to the printed digits"
        if name in NOT_FROM_WEKA:
            learner = "C4.5 trees are bagged instead of REPTrees" if name == "Bagg" else "the random forest is not WEKA's"
            remark = f"not comparable, because {learner}; WEKA 3.6.14 itself agrees in {n_weka[name]} of {total}"
            claims.append(judge_agreement(text, count, total, remark=remark, is_comparable=False))
        elif name == "1NN":
            claims.append(judge_agreement(f"{text} (with one neighbour)", count, total))
        elif name == "3NN":
            with_one = n_agreeing.get("1NN", 0)
            claims.append(
                Claim(
                    "Row 3NN of the measures table was computed with three neighbours",
                    judge_fact(True if count == total else False if with_one == total else None),
                    f"{count} of {total} numbers agree with three neighbours, {with_one} of {total} with one neighbour, the "
                    "default of WEKA's IBk",
                    "printed",
                )
            )
        else:
            claims.append(judge_agreement(text, count, total))
    return claims


def _compute_measures(rows: PooledPredictions) -> pd.DataFrame:
    """Compute the nine measures of one learner with intervals over its test rows."""
    import pandas as pd

    from fairtrial.measures import information_score, interval

    positive: dict[str, Any] = {"labels": rows.classes, "positive": POSITIVE}
    names = {"acc": "accuracy", "rmse": "rmse", "tpr": "recall", "fpr": "fpr", "precision": "precision"}
    names |= {"recall": "recall", "f": "f_score", "auc": "auc"}
    lines = []
    for column, name in names.items():
        predicted: Any = {"rmse": rows.probabilities, "auc": rows.get_scores(POSITIVE)}.get(column, rows.y_pred)
        options = {"labels": rows.classes} if column in ("acc", "rmse") else positive
        estimate = interval(name, rows.y_true, predicted, **options)
        factor = 100 if column == "acc" else 1
        lines.append((column, factor * estimate.estimate, factor * estimate.low, factor * estimate.high))
    bits = information_score(rows.y_true, rows.probabilities, labels=rows.classes, kind="total", prior=rows.priors)
    lines.append(("info_score", bits, float("nan"), float("nan")))
    return pd.DataFrame(lines, columns=["measure", "value", "low", "high"])


def _compare_measures(predictions: dict[str, PooledPredictions], theirs: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    ours = pd.concat([_compute_measures(rows).assign(learner=name) for name, rows in predictions.items()])
    rows = theirs.loc[[PRINTED_ROWS[name] for name in predictions]].set_axis(list(predictions)).rename_axis("learner")
    lines = compare_with_published(ours, rows.reset_index().melt("learner", var_name="measure"), ["learner", "measure"])
    weka = read_published("tutorial_weka").melt("learner", var_name="measure", value_name="WEKA 3.6.14")
    lines = lines.merge(weka, on=["learner", "measure"], how="left")
    tolerances = np.array([0.5 * 10.0 ** -DIGITS[name] + 1e-9 for name in lines["measure"]])
    return lines.assign(
        agrees=lines["difference"].abs() <= tolerances,
        **{"WEKA agrees": (lines["WEKA 3.6.14"] - lines["published"]).abs() <= tolerances},
    )


def _tabulate_measures(lines: pd.DataFrame) -> pd.DataFrame:
    """Format the printed numbers as printed, and all others with one more digit."""
    import pandas as pd

    rows = []
    for learner, group in lines.groupby("learner", sort=False):
        numbers: dict[Any, Any] = group.set_index("measure").to_dict()
        for source, column, more in (("ours", "ours", 1), ("WEKA 3.6.14", "WEKA 3.6.14", 1), ("tutorial", "published", 0)):
            cells = {
                LABELS[name]: DisplayedNumber(float(numbers[column][name]), f".{digits + more}f")
                for name, digits in DIGITS.items()
            }
            agreement = {"ours": "agrees", "WEKA 3.6.14": "WEKA agrees"}.get(source)
            count = f"{sum(numbers[agreement].values())} of {len(DIGITS)}" if agreement else ""
            name = f"row {PRINTED_ROWS[str(learner)]}" if source == "tutorial" else str(learner)
            rows.append({"learner": name, "source": source, **cells, "agreeing": count})
    return pd.DataFrame(rows, dtype=object)


def _build_printed_ranks() -> PageSection:
    """Rank the printed measures again.

    No data sets are needed.
    """
    theirs = read_published("tutorial_breast_cancer_measures").set_index("learner")
    recomputed = _rank(theirs).ranks
    errors = [
        f"{learner} {LABELS[name]} {_PRINTED_RANKS[learner][name]} instead of {recomputed.loc[learner, name]}"
        for name in DIGITS
        for learner in theirs.index
        if _PRINTED_RANKS[learner][name] != recomputed.loc[learner, name]
    ]
    claim = Claim(
        "The printed ranks follow from the printed measures",
        judge_fact(not errors),
        f"{len(errors)} of {recomputed.size} do not: {', '.join(errors)}",
        "printed",
    )
    return PageSection("printed_ranks", {"errors": errors, "n": recomputed.size}, (), (claim,))


def _rank(table: pd.DataFrame) -> RankTable:
    """Rank the numbers after rounding them to the printed digits."""
    from fairtrial.measures import rank_table

    return rank_table(table.round(DIGITS), directions=_DIRECTIONS)  # type: ignore[arg-type]


def _build_ranks(ours: pd.DataFrame, results: Results, predictions: dict[str, PooledPredictions]) -> PageSection:
    """Rank the learners by each measure, beside the tutorial's ranks."""
    import pandas as pd

    ranking = _rank(ours)
    ranks = ranking.ranks
    printed = {name: _PRINTED_RANKS[PRINTED_ROWS[name]] for name in map(str, ranks.index)}
    cells = {
        LABELS[name].partition(" (")[0]: [
            f"{rank}" if rank == printed[learner][name] else f"{rank} ({printed[learner][name]})"
            for learner, rank in zip(map(str, ranks.index), ranks[name], strict=True)
        ]
        for name in DIGITS
    }
    winners: dict[str, list[str]] = {}
    for name in DIGITS:
        winners.setdefault("/".join(map(str, ranks.index[ranks[name] == 1])), []).append(LABELS[name].partition(" (")[0])
    top_three = ranking.count_top(3)
    frame = pd.DataFrame({"learner": list(ours.index), **cells, "among the best three": top_three.tolist()})
    claims: tuple[Claim, ...] = ()
    if {"NB", "C4.5"} <= set(predictions):
        claims = require_printed_folds([judge_disagreement(predictions["NB"], predictions["C4.5"])], results)
    values = {"winners": winners, "top_three": {str(name): int(count) for name, count in top_three.items()}}
    figures = {"Ranks of eight learners by nine measures, Breast Cancer (1 is best)": _draw_ranks(ranks)}
    return PageSection("ranks", values, (ResultTable("ranks", "Ranks by measure", frame),), claims, figures)


def judge_disagreement(nb: PooledPredictions, c45: PooledPredictions) -> Claim:
    """Judge whether different learners are best by accuracy and by AUC.

    In the printed table, C4.5 has the highest accuracy and naive Bayes the highest AUC.
    """
    from fairtrial.measures import difference

    by_accuracy = difference("accuracy", nb.y_true, c45.y_pred, nb.y_pred, labels=nb.classes)
    options: dict[str, Any] = {"labels": nb.classes, "positive": POSITIVE}
    by_auc = difference("auc", nb.y_true, nb.get_scores(POSITIVE), c45.get_scores(POSITIVE), **options)
    estimates = [IntervalEstimate(gap.estimate, gap.low, gap.high) for gap in (by_accuracy, by_auc)]
    return Claim(
        "Global measures disagree on which classifier is better: C4.5 by accuracy, naive Bayes by AUC (judged as: both "
        "differences, paired by test row)",
        judge_direction(estimates),
        f"accuracy, C4.5 - NB: {estimates[0].format('{:+.3f}')}; AUC, NB - C4.5: {estimates[1].format('{:+.3f}')}",
    )


def _draw_ranks(ranks: pd.DataFrame) -> Any:
    """Draw the ranks as a grid of learners and measures, with dark cells for the best ranks."""
    import altair as alt

    from fairtrial.report.figures.base import build_chart, style_chart

    records = [
        {"learner": str(learner), "measure": LABELS[str(name)], "rank": int(rank)}
        for learner, row in ranks.iterrows()
        for name, rank in row.items()
    ]
    base = build_chart(records).encode(
        alt.X("measure:N", sort=list(LABELS.values()), title=None, axis=alt.Axis(orient="top", labelAngle=-35)),
        alt.Y("learner:N", sort=list(map(str, ranks.index)), title=None),
    )
    scale = alt.Scale(domain=[1, 8], range=["#0072b2", "#edf8fb"])
    colour = alt.condition("datum.rank <= 3", alt.value("white"), alt.value("#2b2b2b"))
    cells = base.mark_rect().encode(alt.Color("rank:Q", scale=scale, legend=None))
    return style_chart(
        (cells + base.mark_text(fontSize=13).encode(text="rank:Q", color=colour)).properties(width=480, height=260)
    )


def _build_efficiency(ours: pd.DataFrame, theirs: pd.DataFrame) -> PageSection:
    import pandas as pd

    from fairtrial.measures import efficiency

    our_frame, printed_frame = (
        efficiency(table[["acc", "auc", "rmse"]], outputs=["acc", "auc"], inputs=["rmse"]).frame() for table in (ours, theirs)
    )
    printed_frame.index = pd.Index(["1NN" if name == "3NN" else name for name in printed_frame.index])
    frame = our_frame.join(printed_frame.add_suffix(" of the printed table")).rename_axis("learner").reset_index()
    efficient = [str(learner) for learner in our_frame.index[our_frame["efficiency"] >= 1 - 1e-9]]
    table = ResultTable("efficiency", "The efficiency method of Nakhaeizadeh and Schnabl", frame, digits=4)
    return PageSection("efficiency", {"efficient": efficient}, (table,))


def build_ten_domains(results: Results) -> PageSection:
    """Compare accuracies on the ten domains with the printed ones.

    If at least two domains were run, also test whether the learners differ.
    """
    theirs = read_published("tutorial_ten_domains_accuracy").set_index("dataset")
    lines = _compare_accuracies(results, theirs)
    ours = lines.pivot(index="dataset", columns="learner", values="ours")[list(LEARNERS)]
    n_domains = len(ours)
    agreeing = lines.assign(agrees=lines["difference"].abs() <= 0.00501).groupby("learner")["agrees"].sum()
    caption = "Four learners on the ten domains" if n_domains == 10 else f"Four learners on {n_domains} of the ten domains"
    frame = ours.join(theirs.add_suffix(" (tutorial)")).reset_index()
    tables = [
        ResultTable("ten_domains", f"{caption}: accuracy", frame, digits=2),
        ResultTable("ten_domains_by_line", "Accuracies on the ten domains, with intervals", lines, digits=3, on_page=False),
    ]
    with_defaults = 100 * results.wide("accuracy")
    printed = lines.pivot(index="dataset", columns="learner", values="published")
    without_forest = lines[lines["learner"] != "RandomForest"]
    values: dict[str, Any] = {
        "n_folds": count_folds(results),
        "n_domains": n_domains,
        "agreeing": {name: int(agreeing[name]) for name in LEARNERS},
        "default_differences": {
            name: float((with_defaults[f"{name}-default"] - printed[name]).abs().max()) for name in ("NB", "SVM")
        },
        "largest": without_forest.iloc[int(without_forest["difference"].abs().to_numpy().argmax())].to_dict(),
        "groups": None,
    }
    figures = {}
    if n_domains > 1:
        table, figures[caption], groups = _test_accuracies(ours, theirs.loc[ours.index])
        tables.append(table)
        values |= groups
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        differences = _estimate_forest_differences(results)
    claims = require_printed_folds([*judge_ten_domains(values["agreeing"], n_domains), judge_forest(differences)], results)
    return PageSection("ten_domains", values, tuple(tables), claims, figures)


def _compare_accuracies(results: Results, theirs: pd.DataFrame) -> pd.DataFrame:
    """Compare mean accuracies with the printed ones, with corrected intervals."""
    import pandas as pd

    from fairtrial.study.results.stacking import compute_half_width, compute_test_fraction

    lines = []
    for (dataset, learner), scores in results.scores("accuracy").groupby(["dataset", "learner"], sort=False, observed=True):
        if learner in LEARNERS:
            splits = list(zip(scores["repeat"].tolist(), scores["fold"].tolist(), strict=True))
            test_fraction = compute_test_fraction(results.archive, str(dataset), splits)
            half = compute_half_width(100 * scores["value"].to_numpy(), test_fraction, 0.05)
            mean = 100 * float(scores["value"].mean())
            lines.append((str(dataset), str(learner), mean, mean - half, mean + half))
    ours = pd.DataFrame(lines, columns=["dataset", "learner", "value", "low", "high"])
    printed = theirs.reset_index().melt("dataset", var_name="learner")
    return compare_with_published(ours, printed[printed["dataset"].isin(ours["dataset"])], ["dataset", "learner"])


def judge_ten_domains(n_agreeing: dict[str, int], n_domains: int) -> list[Claim]:
    """Judge whether each learner's column of accuracies agrees with the printed column."""
    inferred = "with settings inferred from the column"
    remarks = {"RandomForest": "not comparable, because the random forest is not WEKA's", "AdaBoost": ""}
    return [
        judge_agreement(
            f"Column {name} of the ten domains agrees to two decimal places",
            n_agreeing[name],
            n_domains,
            remark=remarks.get(name, inferred),
            is_comparable=name != "RandomForest",
        )
        for name in LEARNERS
    ]


def judge_forest(differences: dict[str, IntervalEstimate]) -> Claim:
    """Judge by the sign test whether the random forest beats AdaBoost."""
    mean = combine_estimates(differences.values())
    values = [estimate.value for estimate in differences.values()]
    proportion = estimate_proportion(sum(value > 0 for value in values), sum(value != 0 for value in values))
    return Claim(
        "Random forest is significantly better than AdaBoost on the ten domains (judged by the sign test of our accuracies)",
        judge_direction([proportion.subtract(0.5)]),
        f"higher on {sum(value > 0 for value in values)} of {len(values)} domains, a proportion of "
        f"{proportion.format('{:.2f}')}; mean difference on these domains {mean.format('{:+.1f}')} percentage points",
    )


def _estimate_forest_differences(results: Results) -> dict[str, IntervalEstimate]:
    """Estimate accuracy differences in points, with corrected intervals over folds."""
    from fairtrial.significance import corrected_resampled_t

    scores = results.scores("accuracy")
    n_folds = count_folds(results)
    differences = {}
    for dataset, rows in scores.groupby("dataset", sort=False, observed=True):
        folds = 100 * rows.pivot(index="fold", columns="learner", values="value")
        test = corrected_resampled_t(folds["RandomForest"], folds["AdaBoost"], test_fraction=1 / n_folds)
        assert test.effect is not None
        differences[str(dataset)] = IntervalEstimate(test.effect.estimate, test.effect.low, test.effect.high, n_folds - 1)
    return differences


def _test_accuracies(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[ResultTable, Any, dict[str, Any]]:
    """Test our accuracies and the printed ones, and draw the diagram of ours."""
    import pandas as pd

    from fairtrial.report.figures.critical_difference import draw_critical_difference
    from fairtrial.significance import friedman, posthoc

    test, printed_test = (posthoc(table, "nemenyi", distribution="asymptotic") for table in (ours, theirs))
    suffix = " (printed accuracies)"
    pairs = test.frame().merge(printed_test.frame(), on=["first", "second"], suffixes=("", suffix))
    overall: dict[str, Any] = {"first": "all four (Friedman)", "second": ""}
    for table, ending in ((ours, ""), (theirs, suffix)):
        outcome = friedman(table, distribution="asymptotic")
        overall |= {f"statistic{ending}": outcome.statistic, f"p_adjusted{ending}": outcome.p_value}
    frame = pd.concat([pd.DataFrame([overall]), pairs])[list(overall)].reset_index(drop=True)
    chart = draw_critical_difference(
        dict(zip(test.learners, test.means, strict=True)),
        test.groups,
        critical_difference=test.critical_difference,
        title=f"Four learners on {len(ours)} domains (Nemenyi)",
    )
    groups = {"groups": list(test.groups), "printed_groups": list(printed_test.groups)}
    return ResultTable("ten_domains_tests", "Tests of the four learners", frame), chart, groups


def build_weka_summary(results: Results) -> Iterator[PageSection]:
    """Recompute WEKA's summary of C4.5 on Labour, if this data set was run."""
    rows = pool_predictions(results, "Labour", "C4.5")
    if rows is None:
        return
    title = "WEKA's summary of C4.5 on Labour"
    lines = [*_count_outcomes(rows), *_compute_information(rows), *_compute_errors(rows), *_compute_by_class(rows)]
    printed = [line for line in lines if line.agrees is not None]
    n_agreeing = sum(bool(line.agrees) for line in printed)
    claim = judge_agreement(f"{title} agrees to the printed digits", n_agreeing, len(printed))
    values = {
        "n_folds": count_folds(results),
        "n_agreeing": n_agreeing,
        "n_printed": len(printed),
        "n_impossible": int(np.sum(_get_true_class_probabilities(rows) == 0)),
    }
    yield build_example("weka_summary", title, lines, claims=require_printed_folds([claim], results), values=values)


def _count_outcomes(rows: PooledPredictions) -> list[PrintedResult]:
    from fairtrial.measures import accuracy, kappa

    percentage = 100 * accuracy(rows.y_true, rows.y_pred)
    printed = {("bad", "bad"): 14, ("bad", "good"): 6, ("good", "bad"): 9, ("good", "good"): 28}
    return [
        PrintedResult("correctly classified", int(rows.correct.sum()), 42, 0),
        PrintedResult("correctly classified (%)", percentage, 73.6842, 4),
        PrintedResult("incorrectly classified (%)", 100 - percentage, 26.3158, 4),
        PrintedResult("kappa", kappa(rows.y_true, rows.y_pred), 0.4415, 4),
        *(
            PrintedResult(
                f"{true} predicted as {predicted}", int(np.sum((rows.y_true == true) & (rows.y_pred == predicted))), count, 0
            )
            for (true, predicted), count in printed.items()
        ),
    ]


def _compute_information(rows: PooledPredictions) -> list[PrintedResult]:
    from fairtrial.measures import information_score

    n = len(rows.y_true)
    total = information_score(rows.y_true, rows.probabilities, labels=rows.classes, kind="total", prior=rows.priors)
    last_prior = rows.priors[-1]
    relative = 100 * total / -float(np.sum(last_prior * np.log2(last_prior)))
    order_0 = -float(np.sum(np.log2(rows.priors[np.arange(n), rows.true_codes])))
    scheme = -float(np.sum(np.log2(np.maximum(_get_true_class_probabilities(rows), _SMALLEST))))
    return [
        PrintedResult("relative information score (%)", relative, 1769.6451, 4),
        PrintedResult("information score (bits)", total, 16.5588, 4),
        PrintedResult("information score per case (bits)", total / n, 0.2905, 4),
        PrintedResult("class complexity, order 0 (bits)", order_0, 53.3249, 4),
        PrintedResult("class complexity, order 0, per case (bits)", order_0 / n, 0.9355, 4),
        PrintedResult("class complexity, scheme (bits)", scheme, 3267.2456, 4),
        PrintedResult("class complexity, scheme, per case (bits)", scheme / n, 57.3201, 4),
        PrintedResult("complexity improvement (bits)", order_0 - scheme, -3213.9207, 4),
        PrintedResult("complexity improvement per case (bits)", (order_0 - scheme) / n, -56.3846, 4),
    ]


def _compute_errors(rows: PooledPredictions) -> list[PrintedResult]:
    from fairtrial.measures import mae, rmse

    absolute, root = (float(measure(rows.y_true, rows.probabilities, labels=rows.classes)) for measure in (mae, rmse))
    prior_absolute, prior_root = (float(measure(rows.y_true, rows.priors, labels=rows.classes)) for measure in (mae, rmse))
    note = "relative to predicting the priors"
    return [
        PrintedResult("mean absolute error", absolute, 0.3192, 4),
        PrintedResult("root mean squared error", root, 0.4669, 4),
        PrintedResult("relative absolute error (%)", 100 * absolute / prior_absolute, 69.7715, 4, note),
        PrintedResult("root relative squared error (%)", 100 * root / prior_root, 97.7888, 4),
    ]


def _compute_by_class(rows: PooledPredictions) -> list[PrintedResult]:
    """Compute the rates of both classes and their averages, weighted by class size."""
    from fairtrial.measures import auc, f_score, fpr, precision, recall

    measures = {"TP rate": recall, "FP rate": fpr, "precision": precision, "recall": recall, "F1 score": f_score}
    by_class = {}
    for label in rows.classes:
        positive: dict[str, Any] = {"labels": rows.classes, "positive": label}
        numbers = {name: float(measure(rows.y_true, rows.y_pred, **positive)) for name, measure in measures.items()}
        by_class[label] = numbers | {"ROC area": float(auc(rows.y_true, rows.get_scores(label), **positive))}
    weights = {label: float(np.mean(rows.y_true == label)) for label in rows.classes}
    by_class[_WEIGHTED] = {
        name: sum(weights[label] * by_class[label][name] for label in rows.classes) for name in by_class[rows.classes[0]]
    }
    return [
        PrintedResult(f"{name}, {label}" if label == _WEIGHTED else f"{name} of {label}", ours, theirs, 3)
        for label, printed in _PRINTED_BY_CLASS.items()
        for (name, ours), theirs in zip(by_class[label].items(), printed, strict=True)
    ]


def _get_true_class_probabilities(rows: PooledPredictions) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the predicted probability of the true class of each row."""
    return np.asarray(rows.probabilities[np.arange(len(rows.y_true)), rows.true_codes])
