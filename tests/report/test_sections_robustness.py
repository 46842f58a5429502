"""Tests of `fairtrial.report.sections.robustness`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.measures import ela, rla
from fairtrial.report.names import format_measure_name
from fairtrial.report.page import render
from fairtrial.report.sections import data_sets, drift, scores, verdict
from fairtrial.report.sections.drift import build_section as build_section_drift
from fairtrial.report.sections.folds import build_section as build_section_folds
from fairtrial.report.sections.robustness import LevelFamily, _describe_change, build_section
from fairtrial.report.sections.time_memory import build_section as build_section_time_memory
from fairtrial.report.source import describe_source
from fairtrial.study.archive import ConditionFacts, DataFacts
from fairtrial.study.results.selection import format_condition
from tests.report.drifting import SKILLS, WORN, WORN_ALL, drifting
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import NOISE, build, cases, few_learners, list_verdicts, skilled_results
from tests.report.test_figures_folds import split_results
from tests.study.archives import CLEAN, real_results, real_sources

# --- Robustness ---
# The section of robustness.


@pytest.mark.parametrize("name", ["several", "two classes", "one learner", "failures", "two apart"])
def test_section_is_built_for_any_results(name):
    source = describe_source(cases()[name])
    assert check_numbers([build_section(source), verdict.build_section(source)], verdicts=list_verdicts(name)) > 0


@pytest.mark.parametrize("name", ["apart", "noise alone", "all failed"])
def test_section_needs_noise_and_a_clean_condition(name):
    assert build_section(describe_source(cases()[name])) is None


def test_conditions_of_only_the_test_set_belong_to_drift():
    assert build_section(describe_source(drifting())) is None


def test_losses_are_those_of_the_formulas():
    results = cases()["several"]
    overall, each = list_tables(build_section(describe_source(results)).subsections)
    clean, noisy = results.wide("accuracy"), results.wide("accuracy", "class-noise", 0.2)
    losses = {name: measure(clean, noisy, scale=1).mean(axis=0) for name, measure in (("RLA", rla), ("ELA", ela))}
    for name, values in losses.items():
        assert np.allclose(overall.frame.set_index("learner").loc[clean.columns, name], values)
    assert len(each.frame) == 12
    assert each.long


def test_best_learner_at_the_highest_level_is_named():
    conditions = (CLEAN, *(replace(NOISE, level=level) for level in (0.3, 0.1)))
    skills = {"a": {"clean": 0.95, "class-noise": 0.8}, "b": {"clean": 0.9, "class-noise": 0.85}}
    found = build_section(describe_source(skilled_results(skills, sets=3, conditions=conditions))).subsections[0]
    frame = list_tables([found])[0].frame
    last = frame[frame["level"] == 0.3].set_index("learner")
    assert list_sentences([found])[0].names == ("class-noise", last["RLA"].idxmin())
    alt = list_figures([found])[0].alt
    assert f"level 0.3, {last['ELA'].idxmin()} " in alt
    assert f"{last['ELA'].min():.3f}" in alt


def noisy_results(**skills):
    return skilled_results(
        {name: {"clean": clean, "class-noise": noisy} for name, (clean, noisy) in skills.items()}, conditions=(CLEAN, NOISE)
    )


def list_robustness_sentences(**skills):
    return list_sentences(build_section(describe_source(noisy_results(**skills))).subsections)


def test_finding_names_the_largest_and_the_smallest_loss_and_the_best_learner():
    results = noisy_results(one=(0.95, 0.6), two=(0.85, 0.84), three=(0.7, 0.6))
    section = build_section(describe_source(results))
    changes = results.wide("accuracy", "class-noise", 0.2).mean() - results.wide("accuracy").mean()
    most, least = changes.idxmin(), changes.idxmax()
    p = (
        results.verdict(condition="class-noise", level=0.2)
        .pairs()
        .set_index(["first", "second"])
        .loc["one", "two"]["p_adjusted"]
    )
    assert p < 0.05
    assert section.sentences[0].text == (
        f"Under class-noise 0.2, accuracy worsens most for {most} ({changes[most]:+.3f}) and least for {least} "
        f"({changes[least]:+.3f}); two has the best mean instead of one; two and one differ significantly "
        f"(adjusted p = {p:.2g})."
    )
    assert section.slider is None
    assert [figure.when for figure in section.figures] == [{"measure": "accuracy"}]


def test_learners_with_the_same_rounded_mean_share_the_best_mean():
    conditions = (CLEAN, NOISE)
    lines = [("clean", "one", 0.95), ("clean", "two", 0.9), ("clean", "three", 0.8)]
    lines += [("class-noise 0.2", "one", 0.7), ("class-noise 0.2", "two", 0.90871), ("class-noise 0.2", "three", 0.90852)]
    means = pd.DataFrame(lines, columns=["condition", "learner", "mean"]).assign(low=np.nan, high=np.nan)
    means["change"] = means["mean"] - means["learner"].map(means.set_index("learner")["mean"].groupby(level=0).first())
    family = LevelFamily("class-noise", "key", "accuracy", conditions, means)
    assert _describe_change(family).text.endswith("; two and three have the best mean instead of one.")


def test_three_noise_levels_give_a_slider():
    conditions = (CLEAN, *(replace(NOISE, level=level) for level in (0.1, 0.3)))
    skills = {"a": {"clean": 0.95, "class-noise": 0.8}, "b": {"clean": 0.9, "class-noise": 0.85}}
    results = skilled_results(skills, sets=3, conditions=conditions, declaration={"measures": ["accuracy", "kappa"]})
    section = build_section(describe_source(results))
    values = ("clean", "class-noise 0.1", "class-noise 0.3")
    assert section.slider == ("condition", values)
    for measure in ("accuracy", "kappa"):
        for value in values:
            when = {"measure": format_measure_name(measure), "condition": value}
            drawn = [figure for figure in section.figures if figure.when == when]
            assert [figure.key.rsplit("-", 1)[1] for figure in drawn] == ["levels", "means"]
    findings = {(each.when["measure"], each.when["condition"]): each.text for each in section.sentences}
    assert findings["accuracy", "class-noise 0.1"].startswith("Under class-noise 0.1, accuracy worsens most for ")
    assert findings["accuracy", "clean"] == findings["accuracy", "class-noise 0.3"]
    page = render([replace(section, question="conditions")], "noise", selected={"condition": "class-noise 0.1"})
    assert 'data-selector="condition"' in page
    assert '<output for="slider-robustness">class-noise 0.1</output>' in page


def test_sentences_name_learners_with_separate_intervals():
    compared = list_robustness_sentences(good=(0.95, 0.94), bad=(0.95, 0.6))[1]
    assert compared.names == ("RLA",)
    column, separate, overlapping = list_robustness_sentences(one=(0.9, 0.85), two=(0.9, 0.85), bad=(0.95, 0.5))[1].names
    assert (column, separate) == ("RLA", "bad")
    assert overlapping in {"one", "two"}


def test_single_learner_and_data_set_have_no_comparison():
    section = build_section(describe_source(few_learners(["tree"], ["wine"])))
    assert [number.cell.column for number in section.sentences[0].numbers] == ["change"]
    (found,) = section.subsections
    assert [[number.cell.column for number in sentence.numbers] for sentence in list_sentences([found])] == [
        ["RLA", "level"],
        ["ELA", "accuracy with noise"],
    ]
    assert len(list_tables([found])) == 1


@pytest.mark.parametrize("name", ["several", "failures", "two classes"])
def test_accuracies_of_a_data_set_are_those_of_the_section_of_scores(name):
    results = cases()[name]
    tables = {table.key: table.frame for table in list_tables([scores.build_section(describe_source(results))])}
    means = tables["scores-all"].query("measure == 'accuracy'").set_index(["data set", "learner", "condition"])["mean"]
    frame = list(list_tables([build_section(describe_source(results))]))[-1].frame
    assert len(frame) > 0
    for line in frame.to_dict("records"):
        key = (line.get("data set", results.archive.datasets[0].name), line["learner"])
        both = (line["accuracy without noise"], line["accuracy with noise"])
        assert both == pytest.approx((means[(*key, "clean")], means[(*key, "class-noise")]))


def test_data_sets_without_all_learners_are_left_out():
    sections = {name: build_section(describe_source(cases()[name])).subsections[0] for name in ("several", "failures")}
    assert sections["several"].tables[0].frame["data sets"].unique().tolist() == [3]
    assert sections["failures"].tables[0].frame["data sets"].max() < 3
    assert len(sections["failures"].notes) == len(sections["several"].notes) + 1


# --- Drift ---
# The section of drift.


def test_no_section_without_a_condition_of_the_test_set():
    assert build_section_drift(describe_source(cases()["several"])) is None


def test_means_and_sentences_agree_with_the_error_rates():
    results = drifting()
    found = build_section_drift(describe_source(results))
    assert check_numbers([found]) == 5
    errors = {name: 1 - results.wide("accuracy", name).mean() for name in ("clean", "worn", "worn-all")}
    frame = found.tables[0].frame.set_index("learner")
    assert (frame["error after"] - frame["error before"]).to_dict() == pytest.approx(
        (errors["worn"] - errors["clean"]).to_dict()
    )
    assert frame["loss"].to_dict() == pytest.approx((errors["worn"] - errors["clean"]).to_dict())
    assert frame["error, trained on changed data"].to_dict() == pytest.approx(errors["worn-all"].to_dict())
    assert found.sentences[0].names == ("worn", "steady", "shaken")
    assert [number.value for number in found.sentences[0].numbers] == [0.3, *frame.loc[["steady", "shaken"], "loss"]]
    losses = (1 - results.wide("accuracy", "worn")) - (1 - results.wide("accuracy", "clean"))
    half = stats.t.ppf(0.975, 2) * losses.std(ddof=1) / np.sqrt(3)
    sure = [name for name in losses if losses[name].mean() - half[name] > 0]
    assert sure == ["shaken"]
    assert found.sentences[1].names == ("shaken",)
    assert frame["loss high"].to_dict() == pytest.approx((losses.mean() + half).to_dict())
    assert found.sentences[2].names == ("shaken", "steady")


def test_zero_losses_have_no_sign():
    skills = dict.fromkeys(("one", "two"), 1.0)
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "test"})
    both = ConditionFacts("ps-all", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "all"})
    found = build_section_drift(describe_source(skilled_results(skills, sets=2, conditions=(CLEAN, moved, both))))
    check_numbers([found])
    assert [number.text for number in found.sentences[0].numbers] == ["0.000"]
    assert "level" not in found.tables[0].frame
    means = pd.DataFrame({"learner": ["tree", "bayes"], "pD": [-0.03, -0.001]})
    sentence = drift._describe_pd(means, means)
    assert (sentence.names, sentence.numbers[0].text) == (("bayes",), "0.00")


def test_without_a_clean_condition_there_is_no_loss():
    found = build_section_drift(describe_source(skilled_results(SKILLS, sets=3, conditions=(WORN, WORN_ALL))))
    check_numbers([found])
    assert found.tables[0].frame["loss"].isna().all()
    assert found.sentences[0].text == drift._NO_CLEAN


def test_alternative_text_names_the_extremes():
    results = drifting()
    figure = build_section_drift(describe_source(results)).figures[0]
    frame = results.deterioration()
    worst = frame.loc[frame["pd"].idxmax()]
    assert f"{worst['pd']:.2f} ({worst['learner']} on {worst['dataset']})" in figure.alt


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_loss_is_drawn_if_no_condition_changes_both_sets():
    found = build_section_drift(describe_source(drifting(ideal=False)))
    assert check_numbers([found]) == 3
    assert len(found.notes) == 1
    assert found.tables[0].frame["pD"].isna().all()


# --- Folds ---
# The section of folds.


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results_folds(name):
    found = build_section_folds(describe_source(cases()[name]))
    assert check_numbers([found]) >= 0
    assert (found.tables[0].frame["faults"] == 0).all()


def test_proportions_are_counted():
    results = cases()["several"]
    found = build_section_folds(describe_source(results))
    summary = found.tables[0].frame
    facts = next(each for each in results.archive.datasets if each.name == "cancer")
    code = facts.classes.index("malignant")
    shares = [(facts.codes[results.archive.split("cancer", 0, fold)[1]] == code).mean() for fold in range(5)]
    assert summary.loc["cancer", "lowest proportion"] == pytest.approx(min(shares))
    assert summary.loc["cancer", "highest proportion"] == pytest.approx(max(shares))
    assert summary.loc["cancer", "never tested"] == 0
    assert f"{max(shares):.3f}" in found.figures[0].alt


def test_leaks_are_counted_as_faults():
    results, _ = split_results([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], [0, 0, 0, 1, 1, 0], ids=list("ppqrst"))
    found = build_section_folds(describe_source(results))
    check_numbers([found])
    assert found.sentences[0].names == ("d",)
    assert [(number.cell.column, number.value) for number in found.sentences[1].numbers] == [("in train and test", 1)]
    assert found.tables[0].frame.loc["d", "faults"] == (found.tables[1].frame["severity"] == "fault").sum() > 0


def test_ids_in_training_and_test_set_are_counted():
    results, _ = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1], ids=["p", "q", "p", "r"])
    section = build_section_folds(describe_source(results))
    counts = {number.cell.column: number.value for sentence in section.sentences for number in sentence.numbers}
    assert counts["repeated id in training and test"] == 2


def test_many_splits_are_not_listed():
    n = 400
    parts = [([row for row in range(n) if row != left], [left]) for left in range(301)]
    found = build_section_folds(describe_source(split_results(parts, [i % 2 for i in range(n)])[0]))
    assert [table.key for table in found.tables] == ["folds-summary", "folds-findings"]
    assert found.figures == ()


# --- Data sets ---
# The section of data sets.


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    section = build(data_sets, name)
    if section is not None:
        check_numbers([section], names=["class-noise 0.2"])
    check_numbers([data_sets.build_facts_section(describe_source(cases()[name]))])


def facts(name, codes, classes, **known):
    return DataFacts(name, name, classes, np.array(codes), np.arange(len(codes)), known)


def test_facts_on_data_sets():
    given = [
        facts("one", [0, 0, 0, 1], ("a", "b"), numeric=3, nominal=1, missing=7, notes=["rows doubled", "old"]),
        facts("two", [0, 1, 3, 3], ("a", "b", "never", "d"), notes="known by its predictions alone"),
    ]
    frame = data_sets.build_facts_frame(given)
    assert frame.loc["one", ["rows", "attributes", "missing", "classes", "smallest class"]].tolist() == [4, 4, 7, 2, 1]
    assert frame["imbalance ratio"].tolist() == [3.0, 2.0]
    assert frame["classes"].tolist() == [2, 3]
    assert frame["notes"].tolist() == ["rows doubled old", "known by its predictions alone"]
    assert "attributes" not in data_sets.build_facts_frame(given[1:])


def test_best_learner_of_each_data_set_has_the_best_mean():
    results = cases()["several"]
    tables = {table.key: table for table in list_tables([data_sets.build_section(describe_source(results))])}
    best = tables["data-sets-best"].frame
    wide = results.wide("accuracy")
    own = best[best["measure"] == "accuracy"].set_index("data set")
    for name, line in wide.iterrows():
        near = line[np.isclose(line, line.max(), atol=1e-12)]
        assert own.loc[name, "best"].split(", ") == list(near.index)
        assert own.loc[name, "mean"] == pytest.approx(line.max())
        assert own.loc[name, "ahead by"] == pytest.approx(line.max() - line.drop(near.index).max())
    assert tables["data-sets-accuracy"].frame.equals(wide.rename_axis(index="data set"))
    assert tables["data-sets-log-loss"].best == "min"
    assert own.loc["cancer", "best"] == "ridge, near"


def test_class_counts_are_those_of_the_data():
    frame = data_sets.build_facts_frame(real_results().archive.datasets)
    for name, (_, y, _) in real_sources().items():
        sizes = np.bincount(y)
        assert frame.loc[name, ["rows", "classes", "smallest class"]].tolist() == [len(y), len(sizes), sizes.min()]
        assert frame.loc[name, "imbalance ratio"] == pytest.approx(sizes.max() / sizes.min())


def test_a_smaller_loss_is_better():
    results = cases()["two apart"]
    best = next(each for each in data_sets.build_section(describe_source(results)).tables if each.key == "data-sets-best").frame
    assert set(best["best"]) == {"good"}
    assert (best["ahead by"] > 0).all()


@pytest.mark.parametrize("name", ["one learner", "two classes", "all failed"])
def test_single_learner_or_data_set_has_only_facts(name):
    assert build(data_sets, name) is None
    section = data_sets.build_facts_section(describe_source(cases()[name]))
    assert [table.key for table in section.tables] == ["data-sets-facts"]


def test_finding_names_where_the_winner_is_behind():
    results = cases()["several"]
    section, wide = build(data_sets, "several"), results.wide("accuracy")
    winner = results.verdict().order[0]
    behind = wide.max(axis=1) - wide[winner]
    wins = int((behind < 1e-12).sum())
    assert section.sentences[0].text == (
        f"On clean data, {winner} has the best accuracy on {wins} of {len(wide)} data sets; it is farthest behind on "
        f"{behind.idxmax()} ({behind.max():.3g})."
    )
    figure = section.figures[0]
    assert figure.when == {"measure": "accuracy", "condition": "clean"}
    assert figure.frame["data set"].iloc[0] == behind.idxmax()
    conditions = {format_condition(condition) for condition in results.archive.conditions}
    shown = {(each.when["measure"], each.when["condition"]) for each in section.figures}
    assert shown == {(name, condition) for name in ("accuracy", "AUC", "log loss") for condition in conditions}
    assert [sentence.when for sentence in section.sentences] == [each.when for each in section.figures]


def test_balanced_data_sets_have_no_imbalance_ratio_in_the_text():
    first, second = data_sets.build_facts_section(describe_source(skilled_results({"a": 0.9, "b": 0.8}, sets=3))).sentences
    assert [number.value for number in first.numbers] == [120]
    assert (second.numbers, second.names) == ((), ())


# --- Time memory ---
# The section of times.


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results_time_memory(name):
    found = build_section_time_memory(describe_source(cases()[name]))
    assert (found is None) == (name == "all failed")
    if found is not None:
        assert check_numbers([found]) >= 1


def timed(**seconds):
    results = few_learners(list(seconds))
    lines = results.archive.lines
    for learner, (wall, cpu) in seconds.items():
        lines.loc[lines["learner"] == learner, ["fit_time", "fit_cpu"]] = wall, cpu
    return results


def test_fastest_and_slowest_are_named():
    found = build_section_time_memory(describe_source(timed(bayes=(2.5, 2.5), tree=(0.125, 0.125))))
    assert found.sentences[0].names == ("tree", "bayes")
    assert [number.value for number in found.sentences[0].numbers] == [0.125, 2.5]
    assert found.figures[0].alt.index("tree (0.125 s)") < found.figures[0].alt.index("bayes (2.5 s)")
    assert found.tables[0].frame["memory (MiB)"].tolist() == [1000 / 2**20] * 2


def test_long_waiting_is_noted():
    found = build_section_time_memory(describe_source(timed(bayes=(3.0, 1.0), tree=(1.0, 1.0))))
    assert len(found.notes) == 2
    assert "bayes" in found.notes[1]
    assert "tree" not in found.notes[1]
    assert len(build_section_time_memory(describe_source(timed(bayes=(1.0, 1.0), tree=(1.0, 1.0)))).notes) == 1


def test_more_jobs_than_processors_are_noted():
    results = few_learners(["tree"])
    object.__setattr__(results.archive, "runs", ({"engine": "local", "jobs": 8, "cpus": 2},))
    assert len(build_section_time_memory(describe_source(results)).notes) == 1 + len(
        build_section_time_memory(describe_source(few_learners(["tree"]))).notes
    )
