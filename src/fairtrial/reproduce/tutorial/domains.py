"""The ten domains run again: four learners, their accuracies beside the printed ones, and the tests on ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.beside import beside
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.tested import as_printed, folds_told

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

LEARNERS = ("NB", "SVM", "AdaBoost", "RandomForest")
_ALL = 10
AS_WEKA_COMES = {"NB": "NB-default", "SVM": "SVM-default"}


def domains(results: Results) -> Reproduction:
    """Accuracies beside the printed ones with intervals, tests on ours, and the critical-difference diagram."""
    theirs = published("tutorial_ten_domains_accuracy").set_index("dataset")
    lines = _beside(results, theirs)
    table = lines.pivot(index="dataset", columns="learner", values="ours")[list(LEARNERS)]
    agreeing = lines.assign(agrees=lines["difference"].abs() <= 0.00501).groupby("learner")["agrees"].sum()
    frame = table.join(theirs.add_suffix(" (tutorial)")).reset_index()
    tables = (
        Table("ten_domains", f"{_caption(len(table))}: accuracy", frame, _note(lines, agreeing, results), digits=2),
        Table("ten_domains_by_line", "The same line by line", lines, "", digits=3, shown=False),
    )
    found = Reproduction((_words(agreeing, len(table), results),), tables, _claims(agreeing, len(table), as_printed(results)))
    if len(table) < 2:
        return found
    chart, judged = _judged(table, theirs.loc[table.index])
    return Reproduction(found.words, (*tables, judged), found.claims, {_caption(len(table)): chart})


def _caption(sets: int) -> str:
    return "Four learners on the ten domains" if sets == _ALL else f"Four learners on {sets} of the ten domains"


def _beside(results: Results, theirs: pd.DataFrame) -> pd.DataFrame:
    """Means over folds in percent, with the interval that allows for folds sharing training rows."""
    import pandas as pd

    from fairtrial.study.results.stacking import compute_half_width, compute_test_fraction

    scores = results.scores("accuracy")
    rows = []
    for (dataset, learner), own in scores.groupby(["dataset", "learner"], sort=False, observed=True):
        if learner in LEARNERS:
            splits = list(zip(own["repeat"].tolist(), own["fold"].tolist(), strict=True))
            half = compute_half_width(
                100 * own["value"].to_numpy(), compute_test_fraction(results.archive, str(dataset), splits), 0.05
            )
            value = 100 * float(own["value"].mean())
            rows.append((str(dataset), str(learner), value, value - half, value + half))
    ours = pd.DataFrame(rows, columns=["dataset", "learner", "value", "low", "high"])
    printed = theirs.reset_index().melt("dataset", var_name="learner")
    return beside(ours, printed[printed["dataset"].isin(ours["dataset"])], ["dataset", "learner"])


def _note(lines: pd.DataFrame, agreeing: pd.Series[int], results: Results) -> str:
    plain = 100 * results.wide("accuracy")
    printed = lines.pivot(index="dataset", columns="learner", values="published")
    far = {name: float((plain[other] - printed[name]).abs().max()) for name, other in AS_WEKA_COMES.items()}
    most = lines[lines["learner"] != "RandomForest"]
    largest = most.iloc[int(most["difference"].abs().to_numpy().argmax())]
    return (
        f"*Asked:* how accurate are four learners on these domains? Means over {folds_told(results)}, in percent. *Answer:* to "
        f"the second decimal the tutorial's in {_counts(agreeing, lines)}. The slides do not give the settings. We inferred "
        "those of NB and SVM from the printed accuracies, among two and three that we tried: numbers discretised, and a "
        "quadratic kernel. So this tells what was probably run, and is no independent check of these two. As WEKA comes, they "
        f"would be up to {far['NB']:.1f} and {far['SVM']:.1f} points away; AdaBoost is as it comes. Without the forest the "
        f"largest difference, ours less the tutorial's, is {largest['difference']:+.2f} ({largest['learner']} on "
        f"{largest['dataset']}). WEKA 3.6.14 with that kernel has 91.52 and 62.15 % of all rows right on Balance Scale "
        "and Glass, near what is printed, where ours differs. The forest is not WEKA's: it draws other "
        "numbers and splits nominal columns in two."
    )


def _counts(agreeing: pd.Series[int], lines: pd.DataFrame) -> str:
    sets = lines["dataset"].nunique()
    return ", ".join(f"{agreeing[name]} of {sets} for {name}" for name in LEARNERS)


def _words(agreeing: pd.Series[int], sets: int, results: Results) -> str:
    return (
        f"**The ten domains.** Accuracies of {sets} domains over {folds_told(results)} agree to the second decimal in "
        + ", ".join(f"{agreeing[name]} ({name})" for name in LEARNERS)
        + " cases. The settings of the first two are not on the slides: they were inferred from the printed accuracies "
        "(numbers discretised; a quadratic kernel), so that their agreement is no independent check."
    )


def _claims(agreeing: pd.Series[int], sets: int, judged: bool) -> tuple[Claim, ...]:
    """Open where some differ: another program, or another version of it, is no evidence against the table."""
    return tuple(
        Claim(
            f"The column {name} of the ten domains, to the second decimal",
            True if judged and agreeing[name] == sets else None,
            f"{agreeing[name]} of {sets} agree"
            + ("" if judged else ", over other folds than the printed ones")
            + {"RandomForest": ", of a forest that is not WEKA's", "AdaBoost": ""}.get(
                name, ", with settings inferred from the column"
            ),
        )
        for name in LEARNERS
    )


def _judged(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[object, Table]:
    """What the tests say of our accuracies and of the printed ones, and the diagram of ours."""
    import pandas as pd

    from fairtrial.report.figures.critical_difference import draw_critical_difference
    from fairtrial.significance import friedman, posthoc

    found, printed = (posthoc(table, "nemenyi") for table in (ours, theirs))
    frame = found.frame().merge(printed.frame(), on=["first", "second"], suffixes=("", " (printed accuracies)"))
    first = {
        "first": "all four (Friedman)",
        "second": "",
        **{
            column: value
            for table, mark in ((ours, ""), (theirs, " (printed accuracies)"))
            for column, value in (
                (f"statistic{mark}", friedman(table).statistic),
                (f"p_adjusted{mark}", friedman(table).p_value),
            )
        },
    }
    shown = ["first", "second", "statistic", "p_adjusted", "statistic (printed accuracies)", "p_adjusted (printed accuracies)"]
    frame = pd.concat([pd.DataFrame([first]), frame])[shown].reset_index(drop=True)
    groups = ["/".join(each) for each in found.groups]
    note = (
        "*Asked:* do the four learners differ over the domains? The tutorial tests pairs only; Friedman's test and Nemenyi's "
        f"look at all. *Answer:* groups of learners that are not told apart: {', '.join(groups)}; by the printed accuracies: "
        f"{', '.join('/'.join(each) for each in printed.groups)}."
    )
    chart = draw_critical_difference(
        dict(zip(found.learners, found.means, strict=True)),
        found.groups,
        critical_difference=found.critical_difference,
        title=f"Four learners on {len(ours)} domains (Nemenyi)",
    )
    return chart, Table("ten_domains_tests", "The four learners tested", frame, note)
