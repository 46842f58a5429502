"""Results of many kinds for tests of sections."""

from functools import cache

import numpy as np

from fairtrial.report.sections.verdict import VerdictContext
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from fairtrial.study.archive import ConditionFacts
from tests.study.archives import CLEAN, Predictions, archive_of, data_facts, folds, real_evidence, real_results

NOISE = ConditionFacts("class-noise", 0.2, "a fifth of the labels", {"condition": "class-noise", "level": 0.2})


def skilled_results(skills, sets=8, conditions=(CLEAN,), declaration=None, names=None, splits=2):
    """Simulate learners with these accuracies, by learner or by learner and condition, with a fixed seed."""
    rng = np.random.default_rng(3)
    datasets = [data_facts(f"set{i}", np.arange(120) % 2, ("no", "yes")) for i in range(sets)]
    if names:
        datasets = [data_facts(name, each.codes, each.classes) for name, each in zip(names, datasets, strict=True)]
    parts = {each.name: folds(each.codes, 1, splits) for each in datasets}

    def evidence(facts, condition, learner, repeat, fold):
        skill = skills[learner][condition.name] if isinstance(skills[learner], dict) else skills[learner]
        test = parts[facts.name][repeat, fold][1]
        truth = facts.codes[test]
        prediction = np.where(rng.random(len(test)) < skill, truth, 1 - truth)
        return Predictions(test, truth, prediction, None, None)

    return Results(archive_of(datasets, list(conditions), list(skills), parts, evidence, declaration))


def few_learners(learners, names=None, **options):
    """Select some learners of the real results."""
    datasets, conditions, splits, found = real_evidence()
    datasets = [each for each in datasets if names is None or each.name in names]
    return Results(
        archive_of(
            datasets,
            conditions,
            learners,
            splits,
            lambda facts, condition, learner, *where: found[facts.name, condition.name, condition.level, learner, *where],
            **options,
        )
    )


def _some_fail(dataset, _condition, learner, _repeat, fold):
    if (dataset, learner, fold) == ("iris", "tree", 1):
        return "error"
    return "missing" if (dataset, fold) == ("wine", 2) else None


def _some_abstain(dataset, condition, learner, repeat, fold):
    """Let nearest neighbours abstain on each fifth row."""
    if learner != "near" or fold == 0:
        return None
    one = real_evidence()[3][dataset, condition.name, condition.level, learner, repeat, fold]
    silent = np.arange(len(one.y_true)) % 5 == 0
    shares = np.where(silent[:, None], 0.0, one.scores)
    return Predictions(one.rows, one.y_true, np.where(silent, -1, one.prediction), shares, "decision")


@cache
def cases():
    """Make results by name: two or many classes, one or several data sets, one learner, failures, no success."""
    return {
        "several": real_results(declaration={"measures": ["accuracy", "auc", "log_loss"]}),
        "many classes": real_results(names=["iris"]),
        "two classes": real_results(names=["cancer"]),
        "two learners": few_learners(["bayes", "tree"], ["cancer"], declaration={"verdict": {"rope": 0.01}}),
        "one learner": few_learners(["tree"]),
        "one learner, one data set": few_learners(["ridge"], ["wine"], declaration={"measures": ["brier"]}),
        "failures": real_results(_some_fail),
        "worst rank": real_results(_some_fail, declaration={"verdict": {"failures": "worst-rank"}}),
        "abstaining": real_results(_some_abstain, declaration={"measures": ["accuracy", "g_mean", "auc", "brier"]}),
        "all failed": real_results(lambda *_: "crash"),
        "no probabilities": real_results(levels=(0.0,), declaration={"measures": ["brier", "f_score"]}),
        "control": real_results(declaration={"verdict": {"control": "tree"}}),
        "apart": skilled_results({"good": 0.95, "fair": 0.9, "poor": 0.6}),
        "two apart": skilled_results(
            {"poor": {"clean": 0.6, "class-noise": 0.9}, "good": {"clean": 0.95, "class-noise": 0.6}},
            conditions=(CLEAN, NOISE),
            declaration={"measures": ["error_rate"], "verdict": {"rope": 0.01}},
        ),
        "one split": skilled_results({"a1": 0.9, "b2": 0.8}, sets=1, splits=2, names=["<b>2 & 3</b>"]),
        "noise alone": skilled_results({"a": 0.9, "b": 0.8}, conditions=(NOISE,)),
    }


def list_verdicts(name):
    """List the verdicts under all conditions of the results of this name."""
    contexts = VerdictContext.list_for_study(cases()[name])
    return [context.verdict for context in contexts if context.verdict is not None]


@cache
def build(module, name):
    """Build the section of a module for the results of this name, once."""
    return module.build_section(describe_source(cases()[name]))
