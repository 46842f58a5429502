"""Pages for tests: one with artificial sections, and the report of a study in which every name is an attack."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairtrial.measures import cost_curve, roc_curve
from fairtrial.report.figures.comparison import draw_ranks
from fairtrial.report.figures.curves import draw_cost, draw_roc
from fairtrial.report.section import Figure, ReportTable, Section, build_sentence
from fairtrial.study import Results
from fairtrial.study.archive import ConditionFacts
from tests.study.archives import CLEAN, archive_of, data_facts, folds, random_predictions

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = '"><img src=x onerror=window.hacked=1>'
NOISE = ConditionFacts("class-noise", 0.2, "0.2 class noise", {"condition": "class-noise", "level": 0.2})

# Sorted as words 10 comes before 9, and -1.5 after both.
VALUES = [9.0, 10.0, -1.5, float("nan"), 1 / 3]


def small_table():
    learners = ["tree", SCRIPT, IMAGE, 'a "b", c', "rule"]
    frame = pd.DataFrame({"learner": learners, "mean": VALUES, "note": [IMAGE, "", "x", "y", "z"]})
    return ReportTable("small", f"Means {SCRIPT}", frame, {"mean": "{:.2f}"}, note=f"A note {IMAGE}")


def middle_table(lines=20):
    frame = pd.DataFrame({"data set": [f"set {i}" for i in range(lines)], "mean": np.arange(lines) / 7})
    return ReportTable("middle", "Every data set", frame, {"mean": "{:.1f}"}, long=True)


def long_table(lines=1000):
    frame = pd.DataFrame(
        {"data set": [f"set {i}" for i in range(lines)], "mean": np.arange(lines) / 7, "kind": [IMAGE] * lines}
    )
    return ReportTable("long", "All of them", frame, {"mean": "{:.1f}"}, long=True)


def curves(names=("tree", IMAGE)):
    truth = [0, 0, 1, 1, 0, 1]
    scores = {name: np.roll([0.1, 0.4, 0.35, 0.8, 0.3, 0.7], i) for i, name in enumerate(names)}
    roc = draw_roc({name: roc_curve(truth, score) for name, score in scores.items()}, title=f"ROC {SCRIPT}")
    cost = draw_cost({name: cost_curve(truth, score) for name, score in scores.items()})
    table = pd.DataFrame({name: [1.0, 2.0, 1.5] for name in names}, index=pd.Index(["a", SCRIPT, "c"], name="data set"))
    return (
        Figure(
            "curves-roc",
            f"ROC {IMAGE}",
            roc,
            f"Two curves {IMAGE}",
            pd.DataFrame({"learner": list(names), "auc": [1 / 3, 0.5]}),
        ),
        Figure("curves-cost", "Cost", cost, "Two cost curves"),
        Figure("ranks-box", "Ranks", draw_ranks(table), "Ranks of two learners"),
    )


def sections():
    said = build_sentence("{learner} is ahead on {data}.", learner=SCRIPT, data=IMAGE)
    part = Section("scores-part", f"Part {SCRIPT}", tables=(middle_table(), long_table()), notes=(IMAGE,))
    return [
        Section("answer", "The answer", (said,), question="answer"),
        Section("scores", "Scores", tables=(small_table(),), subsections=(part,), question="size"),
        Section("curves", "Curves", figures=tuple(replace(figure, lead=True) for figure in curves())),
        Section("references", "References", notes=("The last words.",), question="how"),
    ]


def hostile_results():
    """Make a small study in which the names of data sets, classes and learners contain scripts."""
    rng = np.random.default_rng(5)
    codes = np.arange(40) % 2
    datasets = [data_facts(name, codes, (SCRIPT, IMAGE)) for name in (f"{SCRIPT} one", f"{IMAGE} two")]
    splits = {each.name: folds(codes, 1, 2) for each in datasets}

    def evidence(facts, _condition, _learner, repeat, fold):
        return random_predictions(rng, codes, splits[facts.name][repeat, fold][1], 2)

    learners = [f"{SCRIPT} learner", f"{IMAGE} learner"]
    return Results(archive_of(datasets, [CLEAN, NOISE], learners, splits, evidence))
