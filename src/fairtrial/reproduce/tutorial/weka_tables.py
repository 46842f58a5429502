"""WEKA's tables, repeated with our learners: nine measures on Breast Cancer, ten domains, and C4.5 on Labour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.claim import Claim
from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published
from fairtrial.reproduce.tutorial.inputs import (
    PooledPredictions,
    TutorialInputs,
    count_folds,
    pool_predictions,
    require_printed_folds,
)
from fairtrial.reproduce.tutorial.printed import DisplayedNumber, PageSection, PrintedResult, build_example

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

POSITIVE = "recurrence-events"
DIGITS = {"acc": 1, "rmse": 4, "tpr": 2, "fpr": 2, "precision": 2, "recall": 2, "f": 2, "auc": 2, "info_score": 2}
_DIRECTIONS = {name: "min" if name in ("rmse", "fpr") else "max" for name in DIGITS}
NOT_FROM_WEKA = ("Bagg", "RanF")
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
_PRINTED_BY_CLASS = {
    "bad": (0.7, 0.243, 0.609, 0.7, 0.651, 0.695),
    "good": (0.757, 0.3, 0.824, 0.757, 0.789, 0.695),
}


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Compare all tables for which data were found with the printed ones."""
    if inputs.eight_learners is not None:
        yield from build_breast_cancer(inputs.eight_learners)
    if inputs.ten_domains is not None:
        yield build_ten_domains(inputs.ten_domains)
    if inputs.eight_learners is not None:
        yield from build_weka_summary(inputs.eight_learners)


def build_breast_cancer(results: Results) -> Iterator[PageSection]:
    """Compare nine measures of eight learners on Breast Cancer, their ranks and their efficiency, if this data set was run."""
    theirs = read_published("tutorial_breast_cancer_measures").set_index("learner")
    pooled = {name: pool_predictions(results, "Breast Cancer", name) for name in theirs.index}
    predictions = {name: rows for name, rows in pooled.items() if rows is not None}
    if not predictions:
        return
    lines = _compare_measures(predictions, theirs)
    ours = lines.pivot(index="learner", columns="measure", values="ours").loc[list(predictions), list(DIGITS)]
    n_agreeing = {str(name): int(rows["agrees"].sum()) for name, rows in lines.groupby("learner", sort=False)}
    differing = {
        str(name): rows.loc[~rows["agrees"], "measure"].tolist() for name, rows in lines.groupby("learner", sort=False)
    }
    same = [name for name in n_agreeing if name not in NOT_FROM_WEKA]
    other = [name for name in n_agreeing if name in NOT_FROM_WEKA]
    values = {
        "n_folds": count_folds(results),
        "same": same,
        "other": other,
        "n_same": sum(n_agreeing[name] for name in same),
        "n_other": sum(n_agreeing[name] for name in other),
        "differing": {name: differing[name] for name in same if differing[name]},
    }
    tables = (
        ResultTable("measures", "Nine measures of eight learners", _tabulate_measures(ours, theirs)),
        ResultTable("measures_by_line", "Nine measures, with intervals", lines, digits=4, on_page=False),
    )
    # A difference is inconclusive, because the results of another program or version do not contradict the table.
    claims = [
        Claim(
            f"Row {name} of the measures table agrees to the printed digits",
            True if n_agreeing[name] == len(DIGITS) else None,
            f"{n_agreeing[name]} of {len(DIGITS)} numbers agree",
        )
        for name in same
    ]
    yield PageSection("measures", values, tables, require_printed_folds(claims, results))
    yield _build_ranks(ours, theirs, results)
    yield _build_efficiency(ours, theirs)


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
    printed = theirs.reset_index().melt("learner", var_name="measure")
    lines = compare_with_published(ours, printed[printed["learner"].isin(list(predictions))], ["learner", "measure"])
    tolerances = [0.5 * 10.0 ** -DIGITS[name] + 1e-9 for name in lines["measure"]]
    return lines.assign(agrees=lines["difference"].abs() <= tolerances)


def _tabulate_measures(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Show the tutorial's numbers with the printed decimal places, and ours with one more."""
    import pandas as pd

    lines = []
    for learner in ours.index:
        for source, numbers, more in (
            ("ours", ours.loc[learner], 1),
            ("tutorial", theirs.loc[learner], 0),
            ("difference", ours.loc[learner] - theirs.loc[learner], 1),
        ):
            cells = {name: DisplayedNumber(float(numbers[name]), f".{digits + more}f") for name, digits in DIGITS.items()}
            lines.append({"learner": learner, "source": source, **cells})
    return pd.DataFrame(lines, dtype=object)


def _rank(table: pd.DataFrame) -> pd.DataFrame:
    """Rank the numbers after rounding to the printed digits."""
    from fairtrial.measures import rank_table

    return rank_table(table.round(DIGITS), directions=_DIRECTIONS).ranks  # type: ignore[arg-type]


def _build_ranks(ours: pd.DataFrame, theirs: pd.DataFrame, results: Results) -> PageSection:
    """Rank the learners by each measure, with the tutorial's rank in brackets if it differs."""
    import pandas as pd

    ranks, recomputed = _rank(ours), _rank(theirs)
    cells = {
        name: [
            f"{rank}" if rank == _PRINTED_RANKS[learner][name] else f"{rank} ({_PRINTED_RANKS[learner][name]})"
            for learner, rank in zip(map(str, ranks.index), ranks[name], strict=True)
        ]
        for name in DIGITS
    }
    errors = [
        f"{learner} {name} {_PRINTED_RANKS[learner][name]} instead of {recomputed.loc[learner, name]}"
        for name in DIGITS
        for learner in theirs.index
        if _PRINTED_RANKS[learner][name] != recomputed.loc[learner, name]
    ]
    first = {name: [str(learner) for learner in ranks.index[ranks[name] == 1]] for name in DIGITS}
    winners: dict[str, list[str]] = {}
    for name, learners in first.items():
        winners.setdefault("/".join(learners), []).append(name)
    claim = Claim(
        "Which classifier is best depends on the measure: not all nine have the same winner",
        len({learner for learners in first.values() for learner in learners}) > 1,
        ", ".join(f"{learner} by {', '.join(names)}" for learner, names in winners.items()),
    )
    table = ResultTable("ranks", "Ranks by measure", pd.DataFrame({"learner": list(ours.index), **cells}))
    values = {"winners": winners, "errors": errors}
    return PageSection("ranks", values, (table,), require_printed_folds([claim], results))


def _build_efficiency(ours: pd.DataFrame, theirs: pd.DataFrame) -> PageSection:
    from fairtrial.measures import efficiency

    our_frame, printed_frame = (
        efficiency(table[["acc", "auc", "rmse"]], outputs=["acc", "auc"], inputs=["rmse"]).frame() for table in (ours, theirs)
    )
    frame = our_frame.join(printed_frame.add_suffix(" of the printed table")).rename_axis("learner").reset_index()
    efficient = [str(learner) for learner in our_frame.index[our_frame["efficiency"] >= 1 - 1e-9]]
    table = ResultTable("efficiency", "The efficiency method of Nakhaeizadeh and Schnabl", frame, digits=4)
    return PageSection("efficiency", {"efficient": efficient}, (table,))


def build_ten_domains(results: Results) -> PageSection:
    """Compare accuracies on ten domains with the printed ones; test our accuracies if there are at least two domains."""
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
    claims = require_printed_folds(judge_ten_domains(values["agreeing"], n_domains), results)
    return PageSection("ten_domains", values, tuple(tables), claims, figures)


def _compare_accuracies(results: Results, theirs: pd.DataFrame) -> pd.DataFrame:
    """Compare mean accuracies in percent, with intervals corrected for overlapping training sets (Nadeau and Bengio)."""
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
    """Judge each column of accuracies. A difference is inconclusive, because another program's results do not contradict the
    table."""
    remarks = {"RandomForest": ", with a random forest that is not WEKA's", "AdaBoost": ""}
    return [
        Claim(
            f"Column {name} of the ten domains agrees to two decimal places",
            True if n_agreeing[name] == n_domains else None,
            f"{n_agreeing[name]} of {n_domains} agree{remarks.get(name, ', with settings inferred from the column')}",
        )
        for name in LEARNERS
    ]


def _test_accuracies(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[ResultTable, Any, dict[str, Any]]:
    """Test our accuracies and the printed ones, and draw the critical difference diagram of our accuracies."""
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
    reproduced = True if n_agreeing == len(printed) else None
    claim = Claim(f"{title} agrees to the printed digits", reproduced, f"{n_agreeing} of {len(printed)} numbers agree")
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
    from fairtrial.measures import auc, f_score, fpr, precision, recall

    measures = {"TP rate": recall, "FP rate": fpr, "precision": precision, "recall": recall, "F1 score": f_score}
    lines = []
    for label, printed in _PRINTED_BY_CLASS.items():
        positive: dict[str, Any] = {"labels": rows.classes, "positive": label}
        numbers = {name: float(measure(rows.y_true, rows.y_pred, **positive)) for name, measure in measures.items()}
        numbers["ROC area"] = float(auc(rows.y_true, rows.get_scores(label), **positive))
        lines += [
            PrintedResult(f"{name} of {label}", ours, theirs, 3)
            for (name, ours), theirs in zip(numbers.items(), printed, strict=True)
        ]
    return lines


def _get_true_class_probabilities(rows: PooledPredictions) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the predicted probability of the true class of each row."""
    return np.asarray(rows.probabilities[np.arange(len(rows.y_true)), rows.true_codes])
