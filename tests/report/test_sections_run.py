"""Tests of `fairtrial.report.sections.run`."""

import hashlib
import re
import tomllib

import numpy as np
import pandas as pd
import pytest

import fairtrial
from fairtrial import Study, compare, judge
from fairtrial._narrative import render_all
from fairtrial.measures import registry as measures
from fairtrial.report.checks import registry as checks
from fairtrial.report.page import render
from fairtrial.report.sections import run, sources
from fairtrial.report.sections.run import build_judgement_section, build_models_frame, explain_omissions
from fairtrial.report.sections.sources import (
    build_files_frame,
    build_judgement_reproduction_section,
    build_references_section,
    list_tests_used,
    read_bibliography,
    split_citation,
)
from fairtrial.report.source import describe_source
from fairtrial.resampling.splitter import schemes
from fairtrial.significance.names import get_display_name, methods
from fairtrial.significance.posthoc import POSTHOC_METHODS
from fairtrial.study import open_store
from fairtrial.study.archive import LearnerFacts
from tests.report.checks.made_results import changed, of_a_file, stopped_study
from tests.report.judgement.cases import judged, lone, sections, text_of, two_classes
from tests.report.pages import IMAGE, SCRIPT, hostile_results
from tests.report.report_numbers import check_numbers, list_tables
from tests.report.result_cases import build, cases
from tests.study.archives import real_results

# --- What was run ---
# The setup of a study.


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    section = build(run, name)
    assert check_numbers([section]) >= 5
    assert all(table.key.startswith("what-was-run-") for table in list_tables([section]))


def test_sentences_count_trials():
    summary, size, outcome = build(run, "several").sentences
    assert "4 learners on 3 data sets" in summary.text
    assert [number.value for number in size.numbers] == [4, 3, 2, 15, 120]
    assert outcome.numbers == ()
    outcomes = build(run, "failures").sentences[2:]
    assert [(number.cell.line, number.value) for sentence in outcomes for number in sentence.numbers] == [
        ("trials that failed", 2),
        ("trials not run", 8),
    ]


def test_abstentions_are_counted():
    section = build(run, "abstaining")
    # 150 rows of each of 3 data sets under 2 conditions, the first of 5 folds apart; each fifth of 30 rows is silent.
    assert "near" in section.sentences[-1].names
    assert {number.value for number in section.sentences[-1].numbers} == {24, 30, 144, 720}
    assert section.tables[-1].frame.to_numpy().tolist() == [["near", 144, 720, 24, 30]]
    assert "what-was-run-abstentions" not in {table.key for table in build(run, "several").tables}


def test_nouns_agree_with_their_numbers():
    for sentence in build(run, "one learner, one data set").sentences[:2]:
        assert re.search(r"\b1 learner on 1 data set\b", sentence.text)
        assert "2 conditions" in sentence.text


def test_results_file_has_tables_of_runs_and_versions():
    keys = {table.key.removeprefix("what-was-run-") for table in run.build_section(describe_source(stopped_study())).tables}
    assert keys == {"counts", "learners", "conditions", "settings", "trials", "runs", "versions"}
    assert "what-was-run-failures" in {table.key for table in build(run, "failures").tables}


def test_notes_of_a_file_of_predictions():
    results = changed(of_a_file(), declaration={"notes": ["Two rows were dropped."]})
    assert run.build_section(describe_source(results)).notes[1:] == ("Two rows were dropped.",)
    assert run.build_section(describe_source(real_results())).notes == ()


def test_names_are_escaped():
    text = render([run.build_section(describe_source(hostile_results()))], "Run")
    assert SCRIPT not in text
    assert IMAGE not in text


# --- Run tables ---
# Tables of the setup agree with the archive.


def test_counts_of_the_real_study():
    counts = run.build_counts_frame(cases()["failures"])["count"].to_dict()
    # Three data sets, four learners, two conditions, five folds; one learner fails on a fold, one fold has not run.
    assert counts == {
        "data sets": 3,
        "learners": 4,
        "conditions": 2,
        "splits": 15,
        "trials": 120,
        "trials that succeeded": 110,
        "trials that failed": 2,
        "trials not run": 8,
    }


def test_learners_are_described_by_their_estimator():
    frame = run.build_learners_frame(stopped_study()).set_index("learner")
    assert frame.loc["bayes", "class"] == "sklearn.naive_bayes.GaussianNB"
    assert "max_iter=2" in frame.loc["stopped", "parameters"]
    assert "random_state" not in frame.loc["stopped", "parameters"]
    assert list(frame.columns) == ["class", "parameters"]


def test_samplers_and_tuning_have_columns_if_used():
    sampled = LearnerFacts("bayes", "B", {"sampler": {"class": "imblearn.SMOTE", "parameters": {}}}, {})
    results = changed(real_results(), learners=(sampled,), declaration={"learners": {"bayes": {"tune": {"grid": {}}}}})
    frame = run.build_learners_frame(results)
    assert frame[["sampler", "tuned in the fold"]].to_numpy().tolist() == [["imblearn.SMOTE", "yes"]]


def test_conditions_have_their_realised_level():
    results = real_results()
    noisy = (results.archive.lines["level"] > 0).to_numpy()
    frame = run.build_conditions_frame(
        changed(results, lines=results.archive.lines.assign(realised_level=np.where(noisy, 0.19, np.nan)))
    )
    assert frame["realised"].to_numpy() == pytest.approx([np.nan, 0.19], nan_ok=True)
    assert frame["effect"].tolist()[1] == "0.2 class noise"


def test_settings_runs_and_versions_of_a_store():
    results = stopped_study()
    settings = run.build_settings_frame(results).set_index("setting")["value"]
    assert settings["seed"] == "3"
    assert settings["resampling"] == "scheme=stratified, folds=2, repeats=1"
    assert settings["measures"] == "accuracy, Cohen's kappa, AUC, Brier score"
    runs = run.build_runs_frame(results)
    assert runs[["jobs", "trials", "failed"]].to_numpy().tolist() == [[1, 4, 0]]
    versions = run.build_versions_frame(results).set_index("package")["version"]
    assert versions["numpy"] == np.__version__


def test_unfinished_runs_and_different_versions():
    runs = ({"started": "now", "finished": None, "versions": {"numpy": "1"}}, {"versions": {"numpy": "2"}})
    results = changed(real_results(), runs=runs)
    assert run.build_runs_frame(results)["finished"].tolist() == ["not finished", "not finished"]
    assert run.build_versions_frame(results).to_numpy().tolist() == [["numpy", "1, 2"]]


def test_status_of_trials_and_first_failures():
    results = cases()["failures"]
    frame = run.build_status_frame(results).set_index("learner")
    assert frame.columns[0] == "succeeded"
    assert frame.loc["tree"].to_dict() == {"succeeded": 26, "error": 2, "not run": 2}
    assert frame.loc["bayes"].to_dict() == {"succeeded": 28, "error": 0, "not run": 2}
    failures = run.build_failures_frame(results)
    assert failures.to_numpy().tolist() == [["tree", "error", "ValueError", 2, 1, "no such luck"]]


def test_abstentions_by_learner():
    frame = run.build_abstentions_frame(cases()["abstaining"])
    assert frame.to_dict("records") == [
        {"learner": "near", "abstentions": 144, "of test rows": 720, "in trials": 24, "of trials": 30}
    ]
    assert run.build_abstentions_frame(cases()["several"]).empty


# --- References ---
# Each work is cited once, in alphabetical order, and every citation is in the bibliography.


UNCITED = {"none", "sidak"}
"""Adjustments without a work of their own."""


def test_bibliography_has_exactly_the_cited_works():
    cites = [each.facts.cite for each in measures.values() if each.formula.__module__.startswith("fairtrial.")]
    cites += [method.cite for method in methods.values() if method.cite]
    cites += [splitter.cite for splitter in schemes.values() if splitter.cite]
    cites += [checks[number].cite for number in checks if number.startswith("FT")]
    assert {work for cite in cites for work in split_citation(cite)} == set(read_bibliography())


def list_notes(results):
    return list(sources.build_references_section(describe_source(results)).notes)


def test_every_adjustment_is_cited():
    assert set(POSTHOC_METHODS) - {name for name, method in methods.items() if method.cite} <= UNCITED


def test_works_are_sorted_by_family_name():
    works = list_notes(real_results(declaration={"measures": ["accuracy", "auc", "kappa", "f_score"]}))
    assert len(set(works)) == len(works)
    first = [
        next(work for work in works if name in work)
        for name in ("D. Bamber", "J. Cohen (1960)", "J. Cohen (1968)", "C. J. van Rijsbergen")
    ]
    assert [works.index(each) for each in first] == sorted(works.index(each) for each in first)
    assert works[-1].startswith("C. J. van Rijsbergen")


def test_only_used_methods_are_cited():
    text = " ".join(list_notes(real_results(names=["cancer"], levels=(0.0,), declaration={"measures": ["h_measure"]})))
    assert "coherent alternative" in text
    assert "Inference for the generalization error" in text
    assert "equalized loss of accuracy" not in text
    assert "use of ranks to avoid" not in text
    several = " ".join(list_notes(real_results(declaration={"resampling": {"scheme": "dob-scv"}})))
    assert "use of ranks to avoid" in several
    assert "equalized loss of accuracy" in several
    assert "partition-induced dataset shift" in several


def test_work_names_what_it_is_cited_for():
    assert f"{read_bibliography()['Bamber 1975']} For: AUC." in list_notes(real_results())


@pytest.mark.parametrize("name", cases())
def test_section_is_built_for_any_results(name):
    section = sources.build_references_section(describe_source(cases()[name]))
    check_numbers([section])
    assert section.notes


# --- Reproduce ---
# The study file and the commands of the section reproduce the study.


@pytest.fixture(scope="module")
def section():
    return sources.build_reproduction_section(describe_source(stopped_study()))


def test_study_file_declares_the_same_study(section, tmp_path):
    text = section.subsections[1].code
    assert tomllib.loads(text)["learners"]["stopped"]["parameters"] == {"max_iter": 2}
    (tmp_path / "stopped.toml").write_text(text, encoding="utf-8")
    assert Study.read(tmp_path / "stopped.toml").declaration.to_dict() == stopped_study().archive.declaration
    assert "stopped.toml" in section.subsections[1].sentences[0].text


def test_commands_install_the_versions_and_run_the_study(section):
    lines = section.subsections[0].code.splitlines()
    assert lines[1].startswith("pip install ")
    assert f"numpy=={np.__version__}" in lines[1].split()
    assert "python==" not in lines[1]
    assert lines[2:] == [
        "fairtrial run stopped.toml --store stopped.fairtrial",
        "fairtrial report stopped.fairtrial --out report.html",
    ]


def test_hashes_are_those_of_results_file_and_data(section):
    results = stopped_study()
    with open_store(results.archive.file.path) as store:
        digest = store.compute_digest()
    assert section.tables[0].frame.to_numpy().tolist() == [
        ["results", "stopped.fairtrial", digest],
        ["data set", "iris", results.archive.datasets[0].content_hash],
    ]


def test_study_that_cannot_be_written_has_a_reason():
    section = sources.build_reproduction_section(describe_source(cases()["several"]))
    assert section.subsections == ()
    assert len(section.notes) == 1


def test_names_are_quoted_for_the_shell():
    results = stopped_study()
    header = dict(results.archive.header) | {"name": "my; rm -rf"}
    code = sources.build_reproduction_section(describe_source(changed(results, header=header))).subsections[0].code
    assert "fairtrial run 'my; rm -rf.toml' --store 'my; rm -rf.fairtrial'" in code


def test_file_of_predictions_is_judged_again():
    found = sources.build_reproduction_section(describe_source(changed(of_a_file(), name="predictions of mine.csv")))
    assert found.code == "fairtrial judge 'predictions of mine.csv'\n"


def test_code_is_escaped():
    found = sources.build_reproduction_section(describe_source(changed(of_a_file(), name="<script>x</script>")))
    text = render([found], "Again")
    assert "<pre" in text
    assert "judge &#39;&lt;script&gt;x&lt;/script&gt;&#39;" in text


@pytest.mark.parametrize("name", cases())
def test_section_is_built_for_any_results_reproduce(name):
    check_numbers([sources.build_reproduction_section(describe_source(cases()[name]))])


# --- What was judged ---


def table_of(found, key):
    return next(table.frame for table in found.tables if table.key == key)


def test_roles_are_given_or_guessed():
    found = build_judgement_section(
        describe_source(judge(two_classes(60).rename(columns={"truth": "came"}), y_true="came", resamples=20))
    )
    roles = table_of(found, "judged-columns").set_index("column")
    assert roles.loc["came", ["role", "how"]].tolist() == ["y_true", "given"]
    assert roles.loc["tree_proba", ["role", "model", "how"]].tolist() == ["score", "tree", "guessed"]
    assert roles.loc["sex", "role"] == "subgroup"
    assert "row, score and subgroup" in found.sentences[1].names


def test_size_and_unused_columns():
    def count(name):
        return {number.cell.line: number.value for number in sections(name)["predictions"].sentences[0].numbers}

    assert count("two classes") == {"models": 3, "rows": 160}
    assert count("many sets") == {"models": 2, "rows": 200, "data sets": 5}
    assert "1 model " in sections("one model")["predictions"].sentences[0].text
    found = build_judgement_section(describe_source(judge(lone(40).assign(comment="x"), resamples=20)))
    assert "comment" in found.sentences[1].names


def test_positive_class_is_named():
    assert "The positive class is yes " in text_of(sections("two classes")["predictions"])
    assert "The positive class is no " in text_of(
        build_judgement_section(describe_source(judge(two_classes(60), positive="no", resamples=20)))
    )
    assert "positive class" not in text_of(sections("many classes")["predictions"])
    first, second = two_classes(60).assign(dataset="a"), two_classes(60, seed=3).assign(dataset="b")
    both = pd.concat([first, second.replace({"yes": "up", "no": "down"})], ignore_index=True)
    found = build_judgement_section(describe_source(judge(both, resamples=20)))
    assert table_of(found, "judged-positive").set_index("data set")["positive class"].to_dict() == {"a": "yes", "b": "up"}


def test_notes_are_those_of_the_judgement():
    table = two_classes(60)[["row", "truth"]].assign(p_yes=two_classes(60)["forest_proba"].round(2))
    table["p_no"] = (1 - table["p_yes"] + 0.01).clip(0, 1)
    judgement = judge(table, resamples=20)
    found = build_judgement_section(describe_source(judgement))
    assert found.notes == render_all(judgement.notes, "model")
    assert "rescaled_probabilities" in [note.kind for note in judgement.notes]


def test_models_in_memory_and_streamed(tmp_path):
    held = build_models_frame(judged("many classes")).set_index("model")
    assert held.loc["good", ["rows", "classes", "labels", "scores"]].tolist() == [150, 3, "from probabilities", "probability"]
    path = tmp_path / "p.csv"
    two_classes(40).to_csv(path, index=False)
    counted = judge(str(path), stream=True, resamples=20)
    assert build_models_frame(counted).set_index("model")["rows"].to_dict() == {"forest": 40, "tree": 40, "rule": 40}
    assert [sentence.names[0] for sentence in explain_omissions(counted)] == ["splits"]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("labels only", ["curves", "Calibration", "subgroup", "comparison"]),
        ("one model", ["subgroup", "paired tests"]),
        ("folded", ["subgroup"]),
    ],
)
def test_missing_sections_are_explained(name, missing):
    sentences = explain_omissions(judged(name))
    assert len(sentences) == len(missing)
    assert all(word in sentence.text for word, sentence in zip(missing, sentences, strict=True))


# --- References ---
# References of a judgement.


def join_notes(name):
    return " ".join(sections(name)["references"].notes)


def test_used_measures_and_tests_are_cited():
    notes = join_notes("two classes")
    assert f"{read_bibliography()['Hand 2009']} For: " in notes
    for name in ("mcnemar", "auc_test", "bootstrap_difference", "holm", "wilson"):
        assert get_display_name(name) in notes
    resampled = read_bibliography()["Nadeau & Bengio 2003"]
    assert resampled not in notes
    assert resampled in join_notes("folded")
    assert get_display_name("permutation_test") not in notes
    assert get_display_name("permutation_test") in join_notes("weighted")
    assert get_display_name("auc_test") not in join_notes("labels only")
    assert get_display_name("mcnemar") not in join_notes("one model")
    assert "interval of AUC" in join_notes("one model")
    assert "interval of AUC" not in join_notes("weighted")


def test_tests_of_clustered_rows_are_cited():
    table = two_classes()[["row", "truth", "forest_proba", "tree_proba"]].assign(patient=np.arange(160) // 4)
    section = build_references_section(describe_source(judge(table, cluster="patient", resamples=20)))
    assert any(note.startswith(read_bibliography()["Obuchowski 1998"]) for note in section.notes)


def test_each_work_is_cited_once():
    for name in ("two classes", "many sets"):
        notes = sections(name)["references"].notes
        assert len(notes) == len(set(notes))


def test_unregistered_measure_has_no_reference():
    table = [[0.9, 0.8, 0.7], [0.8, 0.6, 0.7], [0.7, 0.6, 0.5], [0.9, 0.5, 0.6], [0.8, 0.7, 0.4]]
    section = build_references_section(describe_source(compare(table, measure="my own score", better="max", rows="datasets")))
    assert not any("my own score" in note for note in section.notes)


def test_tests_of_a_verdict():
    table = [[0.9, 0.8, 0.7], [0.8, 0.6, 0.7], [0.7, 0.6, 0.5], [0.9, 0.5, 0.6], [0.8, 0.7, 0.4]]
    assert list_tests_used(compare(table, rows="datasets")) == ["iman_davenport", "bergmann"]


# --- Reproduce ---


def test_command_hash_and_version(tmp_path):
    path = tmp_path / "my file.csv"
    two_classes(60).to_csv(path, index=False)
    for stream in (None, True):
        found = judge(str(path), positive="no", measures=["auc", "ks"], resamples=20, stream=stream)
        more = " --stream" if stream else ""
        command = f"fairtrial judge 'my file.csv' --measure auc --measure ks --resamples 20 --positive no{more}"
        assert command in build_judgement_reproduction_section(describe_source(found)).code
        assert fairtrial.__version__ in text_of(build_judgement_reproduction_section(describe_source(found)))
        assert build_files_frame(found).to_numpy().tolist() == [["my file.csv", hashlib.sha256(path.read_bytes()).hexdigest()]]


def test_a_frame_has_no_command():
    found = sections("two classes")["reproduce"]
    assert found.tables == ()
    assert found.code == ""
