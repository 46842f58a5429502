"""Several resampling schemes in one study: keys, scores, verdicts by scheme, and the comparison of schemes."""

import csv
import json
import sqlite3
from contextlib import closing
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from typer.testing import CliRunner

from fairtrial import Study, open_results
from fairtrial.cli import app
from fairtrial.data import Dataset
from fairtrial.errors import InputError, SpecError
from fairtrial.report import build_sections
from fairtrial.report.checks import run_checks
from fairtrial.resampling import KFold, StratifiedKFold

SCHEMES = [
    {"name": "once", "scheme": "stratified", "folds": 2},
    {"name": "plain", "scheme": "kfold", "folds": 3},
    {"name": "twice", "scheme": "stratified", "folds": 2, "repeats": 2},
]


def make_data(count=7):
    """Make small data sets whose classes overlap."""
    data = {}
    for number in range(count):
        rng = np.random.default_rng(number)
        labels = np.arange(36) % 2
        data[f"d{number}"] = Dataset.from_table(rng.normal(size=(36, 2)) + 0.8 * labels[:, None], labels, name=f"d{number}")
    return data


def make_study(resampling, count=7):
    learners = ["gaussian-nb", "decision-stump"]
    return Study(make_data(count), learners, resampling=resampling, measures=["accuracy"], seed=5, name="schemes")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("schemes") / "schemes.fairtrial"
    make_study(SCHEMES).run(path, jobs=2, progress=False)
    return path


@pytest.fixture(scope="module")
def results(path):
    return open_results(path)


def list_keys(study):
    plan = study.plan()
    return {bytes(key) for number in range(len(plan.data)) for key in plan.get_keys(number).ravel()}


def test_a_single_scheme_has_the_same_keys_and_header_in_either_spelling(tmp_path):
    head = 'data = ["iris"]\nlearners = ["gaussian-nb"]\n'
    plans = []
    for brackets in ("[resampling]", "[[resampling]]"):
        (tmp_path / "study.toml").write_text(f'{head}{brackets}\nscheme = "dob-scv"\nfolds = 3\n')
        plans.append(Study.read(tmp_path / "study.toml").plan())
    assert plans[0].get_keys(0).tobytes() == plans[1].get_keys(0).tobytes()
    assert plans[0].to_header() == plans[1].to_header()
    assert "resampling" not in plans[0].to_header()


def test_other_schemes_change_no_key():
    several = list_keys(make_study(SCHEMES))
    for scheme in SCHEMES:
        assert list_keys(make_study(scheme)) < several
    assert list_keys(make_study(SCHEMES)) == list_keys(make_study(SCHEMES[::-1]))


def test_results_of_one_scheme_are_extended(tmp_path):
    path = tmp_path / "a.fairtrial"
    before = make_study(SCHEMES[0], count=2).run(path, jobs=1, progress=False)
    stored = set(before.trials()["trial"])
    trials = make_study(SCHEMES[:2], count=2).run(path, jobs=1, progress=False).trials()
    assert set(trials.loc[trials["resampling"] == "once", "trial"]) == stored
    assert len(trials) == 2 * 2 * (2 + 3)


def test_shared_splits_are_run_once(path, results):
    """Both repeats of `twice` start with the repeat of `once`."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM trial").fetchone()[0] == 7 * 2 * (2 + 3 + 2)
    trials = results.trials()
    assert len(trials) == 7 * 2 * (2 + 3 + 4)
    assert results.complete


def test_a_scheme_has_the_scores_and_the_verdict_of_its_own_study(tmp_path, results):
    scores = results.scores()
    assert list(dict.fromkeys(scores["resampling"])) == ["once", "plain", "twice"]
    for scheme in SCHEMES[1:2]:
        alone = make_study(scheme).run(tmp_path / f"{scheme['name']}.fairtrial", jobs=1, progress=False)
        expected = alone.scores()
        found = scores[scores["resampling"] == scheme["name"]].reset_index(drop=True)
        pd.testing.assert_series_equal(found["value"], expected["value"])
        verdict = results.verdict(resampling=scheme["name"])
        assert (verdict.p_value, verdict.order) == (alone.verdict().p_value, alone.verdict().order)
        pd.testing.assert_frame_equal(results.wide(resampling=scheme["name"]), alone.wide())
    assert results.verdict().p_value == results.verdict(resampling="once").p_value
    assert results.for_resampling("plain").schemes == ("plain",)


def test_checks_cover_every_scheme_and_name_it(tmp_path):
    """Check FT016 is raised by a single partition, which only the second scheme has."""
    schemes = [{"name": "often", "folds": 2, "repeats": 5}, {"name": "once", "folds": 2}]
    results = make_study(schemes, count=2).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    findings = {check.number: finding for check, finding in run_checks(results)}
    assert findings["FT016"].outcome == "raised"
    assert findings["FT016"].text.startswith("With once: ")
    assert "often" not in findings["FT016"].text
    assert findings["FT011"].text == "Every planned trial has run."  # the same with both schemes
    assert findings["FT008"].outcome == "raised"
    alone = {name: dict(run_checks(results.for_resampling(name))) for name in results.schemes}
    outcomes = {name: {check.number: finding.outcome for check, finding in found.items()} for name, found in alone.items()}
    assert (outcomes["often"]["FT016"], outcomes["once"]["FT016"]) == ("passed", "raised")


def enumerate_signs(differences):
    """Compute the exact two-sided p-value of the signed-rank test over all signs; rounding errors are not differences."""
    rounded = np.round(differences, 12)
    rounded = rounded[rounded != 0]
    ranks = rankdata(np.abs(rounded))
    sums = np.array([np.dot(signs, ranks) for signs in product([-1, 1], repeat=len(ranks))])
    return np.mean(np.abs(sums) >= abs(np.dot(np.sign(rounded), ranks)))


def test_schemes_are_compared_by_wilcoxon_and_holm(results):
    frame = results.compare_resampling()
    assert len(frame) == 2 * 3
    scores = results.scores()
    means = scores.groupby(["learner", "resampling", "dataset"], observed=True)["value"].mean()
    for learner, first, second, p in frame[["learner", "first", "second", "p"]].itertuples(index=False):
        assert p == pytest.approx(enumerate_signs((means[learner, first] - means[learner, second]).to_numpy()))
    ordered = frame["p"].sort_values()
    holm = np.maximum.accumulate(np.minimum(ordered.to_numpy() * np.arange(len(ordered), 0, -1), 1))
    assert frame.loc[ordered.index, "p_adjusted"].to_numpy() == pytest.approx(holm)


def test_few_data_sets_cannot_decide(tmp_path):
    study = Study(["iris", "wine"], ["gaussian-nb", "decision-stump"], resampling=SCHEMES[:2], measures=["accuracy"])
    results = study.run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    assert set(results.compare_resampling()["outcome"]) == {"cannot be decided"}
    with pytest.raises(InputError, match=r"declare several \[\[resampling\]\] tables"):
        results.for_resampling("once").compare_resampling()


def test_command_line(path, tmp_path):
    run = CliRunner().invoke
    shown = run(app, ["results", str(path), "--show", "resampling"])
    assert shown.exit_code == 0
    assert "cannot be decided" in shown.output or "no significant difference" in shown.output
    tables = [
        run(app, ["results", str(path), "--show", "table", "--csv", *option]).output
        for option in ([], ["--resampling", "plain"])
    ]
    assert tables[0] != tables[1]
    wrong = run(app, ["results", str(path), "--resampling", "plan"])
    assert wrong.exit_code == 2
    assert "did you mean 'plain'?" in wrong.stderr
    exported = tmp_path / "a.csv"
    assert run(app, ["export", str(path), "--csv", str(exported)]).exit_code == 0
    with exported.open() as lines:
        assert {line["resampling"] for line in csv.DictReader(lines)} == {"once", "plain", "twice"}


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "streamed"])
def test_an_export_is_judged_by_one_scheme(path, tmp_path, stream):
    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    whole, alone = tmp_path / "whole.csv", tmp_path / "alone.csv"
    assert call("export", path, "--csv", whole).exit_code == 0
    assert call("export", path, "--csv", alone, "--scheme", "plain").exit_code == 0
    for file in (whole, alone):  # one data set suffices
        header, *lines = file.read_text().splitlines(keepends=True)
        file.write_text(header + "".join(line for line in lines if line.startswith('"d0"')))
    assert "resampling" not in alone.read_text().splitlines()[0]
    options = ["--csv", "--measure", "accuracy", "--resamples", "50", *stream]
    refused = call("judge", whole, *options)
    assert refused.exit_code == 2
    assert refused.stderr == (
        "fairtrial: the file must have one resampling scheme, got once, plain and twice: judge one of them with --scheme once\n"
    )
    judged = call("judge", whole, *options, "--scheme", "plain")
    assert judged.exit_code == 0, judged.output
    assert judged.stdout == call("judge", alone, *options).stdout
    for command in (["judge", whole, *options], ["export", path, "--csv", tmp_path / "other.csv"]):
        wrong = call(*command, "--scheme", "plan")
        assert wrong.exit_code == 2
        assert "did you mean 'plain'?" in wrong.stderr
    without = call("judge", alone, *options, "--scheme", "plain")
    assert without.exit_code == 2
    assert "scheme must be omitted for a file without a column 'resampling'" in without.stderr


def test_summary_and_report_name_the_schemes(results):
    text = str(results)
    assert "with once" in text.lower()
    assert "3 resampling schemes" in text
    assert "clean, plain" in text
    sections = {section.key: section for section in build_sections(results)}
    means, pairs = (table.frame for table in sections["resampling"].tables)
    for name in results.schemes:
        assert means[name].to_dict() == pytest.approx(results.wide(resampling=name).mean().to_dict())
    assert len(pairs) == 6
    counts = next(table.frame for table in sections["what-was-run"].tables if "splits" in table.frame.index)
    assert counts.loc["splits", "count"] == 7 * (2 + 3 + 4)
    assert not any("could not be built" in str(sentence) for section in sections.values() for sentence in section.sentences)
    for key in ("answer", "scores", "verdict", "folds"):
        assert "Resampling scheme: once." in sections[key].notes
    assert "Resampling schemes: once, plain and twice." in sections["time-memory"].notes
    assert "With once and plain: " in " ".join(highlight.text for highlight in sections["checks"].highlights)
    single = build_sections(results.for_resampling("plain"))
    assert not any(note.startswith("Resampling scheme") for section in single for note in section.notes)
    assert "resampling" not in {section.key for section in single}


@pytest.mark.parametrize(
    ("resampling", "location", "message"),
    [
        (["stratified", {"folds": 3}], "resampling", "must have distinct names, got 'stratified' twice"),
        ([{"folds": 3}, {"folds": 3, "name": "same"}], "resampling[1]", "'stratified' and 'same' are the same"),
        ([], "resampling", "at least 1 scheme"),
        (["kfold", {"folds": 1}], "resampling[1].folds", "folds must be a whole number of at least 2"),
        (["kfold", "dobscv"], "resampling[1].scheme", "no scheme is called 'dobscv'"),
        ([{"scheme": "kfold", "fold": 3}, "dob-scv"], "resampling[0].fold", "kfold has no parameter 'fold'"),
    ],
)
def test_wrong_schemes_are_refused(resampling, location, message):
    with pytest.raises(SpecError) as caught:
        Study(["iris"], ["gaussian-nb"], resampling=resampling).resolve()
    [problem] = caught.value.problems
    assert message in problem.message
    assert problem.location == location


def test_schemes_survive_a_study_file(tmp_path):
    study = Study(
        ["iris"], ["gaussian-nb"], resampling=[StratifiedKFold(4), KFold(3), {"scheme": "weka", "name": "as in WEKA"}]
    )
    again = Study.read(study.write(tmp_path / "study.toml"))
    assert [named.name for named in again.resolve().schemes] == ["stratified", "kfold", "as in WEKA"]
    assert list_keys(again) == list_keys(study)
    assert json.loads(json.dumps(again.declaration.to_dict()["resampling"]))[1] == {"scheme": "kfold", "folds": 3, "repeats": 1}
