"""The whole page, without data sets, and the inputs: studies, folds and pooled predictions."""

import numpy as np
import pytest

from fairtrial.learners import C45, make_learner
from fairtrial.reproduce.claim import Claim
from fairtrial.reproduce.experiment import Request, experiments
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.tutorial.experiment import run
from fairtrial.reproduce.tutorial.inputs import (
    DOMAINS,
    TutorialInputs,
    count_folds,
    declare_study,
    pool_predictions,
    require_printed_folds,
)
from fairtrial.resampling import WekaFolds


@pytest.fixture(scope="module")
def without_data(tmp_path_factory):
    """The request and its reproduction if no data set is found: all worked examples remain."""
    folder = tmp_path_factory.mktemp("tutorial")
    request = Request("smoke", folder, 1, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(folder))
        return request, run(request)


def test_worked_examples_need_no_data(without_data):
    _, reproduction = without_data
    names = {table.name for table in reproduction.tables}
    examples = {"kappa", "rmse", "information_score", "t_test", "cohens_d", "sign_test", "wilcoxon", "wilcoxon_folds"}
    assert examples | {"friedman", "nemenyi", "anneal_printed", "known_error", "repeated_tests"} <= names
    assert len(names) == len(reproduction.tables)
    assert len(reproduction.values["printed_errors"]) == 6


def test_missing_data_sets_are_named(without_data):
    _, reproduction = without_data
    assert set(DOMAINS["eight_learners"]) <= set(reproduction.skipped)
    assert set(reproduction.skipped) <= set(DOMAINS["eight_learners"]) | set(DOMAINS["ten_domains"])


def test_only_claims_about_printed_input_are_judged_at_smoke_scale(without_data):
    _, reproduction = without_data
    inconclusive = [claim for claim in reproduction.claims if claim.reproduced is None]
    assert len(inconclusive) == 9 + 6  # both simulations


def test_claims_judged_by_a_limit_state_it(without_data):
    texts = " ".join(claim.text for claim in without_data[1].claims)
    for limit in ("less than 5 %", "by more than 10 %", "more than 5 points", "within 0.01", "p > 0.05"):
        assert limit in texts


def test_page_renders_without_data(without_data):
    request, reproduction = without_data
    page = write_page(experiments["tutorial"], request, reproduction, [1.0]).read_text(encoding="utf-8")
    assert page.startswith("# tutorial: ")
    assert "In 6 examples, printed numbers do not follow from the printed input" in page
    assert page.count("*Not run: its data set is missing") == 9  # each study or Labour section
    assert "Kappa is 43.29 %" in page


def test_page_renders_with_data(shared_data, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    request = Request("smoke", tmp_path, 1, False)
    reproduction = run(request)
    page = write_page(experiments["tutorial"], request, reproduction, [1.0]).read_text(encoding="utf-8")
    assert "Not run" not in page
    assert len(reproduction.claims) == 63
    for table in reproduction.tables:
        assert f"]({table.name}.csv)" in page
    for figure in tmp_path.glob("*.png"):
        assert f"]({figure.name})" in page


@pytest.mark.parametrize(("name", "n_learners"), [("eight_learners", 8), ("ten_domains", 6)])
def test_study_files_declare_learners_that_exist(name, n_learners):
    declared = declare_study(name, 10)
    assert len(declared["learners"]) == n_learners
    for entry in declared["learners"].values():
        plain = {key: value for key, value in entry.get("parameters", {}).items() if not isinstance(value, dict)}
        make_learner(entry["learner"], **plain)
    assert declared["resampling"] == {"scheme": "weka", "folds": 10, "random_state": 1}


def test_missing_data_sets_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    inputs = TutorialInputs.load(Request("quick", tmp_path, 1, False))
    assert (inputs.eight_learners, inputs.ten_domains, inputs.labour) == (None, None, None)
    assert set(inputs.missing) == set(DOMAINS["eight_learners"]) | set(DOMAINS["ten_domains"])
    assert all("FAIRTRIAL_DATA" in reason and "did you mean" not in reason for reason in inputs.missing.values())


@pytest.mark.parametrize("seed", [1, 23])
def test_study_has_the_seed_of_the_request(seed, tmp_path, monkeypatch):
    """WEKA's folds stay those of the slides."""

    class RecordedStudy:
        name = "recorded"

        def __init__(self, data, seed, resampling, **others):
            self.seeds = seed, resampling["random_state"]

        def run(self, *args, **options):
            return self.seeds

    monkeypatch.setattr("fairtrial.reproduce.tutorial.inputs.load_datasets", lambda names: (dict.fromkeys(names), {}))
    monkeypatch.setattr("fairtrial.study.study.Study", RecordedStudy)
    inputs = TutorialInputs.load(Request("quick", tmp_path, 1, False, seed=seed))
    assert inputs.eight_learners == inputs.ten_domains == (seed, 1)


def test_pooled_rows_are_those_of_a_plain_loop(small_study, labour):
    pooled = pool_predictions(small_study, "Labour", "C4.5")
    y_true, probabilities, priors = [], [], []
    for train, test in WekaFolds(10, random_state=1).freeze(labour.X, labour.y):
        learner = C45().fit(labour.X.iloc[train], labour.y.iloc[train])
        probabilities.append(learner.predict_proba(labour.X.iloc[test]))
        y_true += labour.y.iloc[test].astype(str).tolist()
        count = (labour.y.iloc[train].astype(str) == "bad").sum() + 1
        priors += [count / (len(train) + 2)] * len(test)
    assert pooled.y_true.tolist() == y_true
    np.testing.assert_allclose(pooled.probabilities, np.vstack(probabilities))
    np.testing.assert_allclose(pooled.priors[:, pooled.classes.index("bad")], priors)
    np.testing.assert_allclose(pooled.get_scores("good"), np.vstack(probabilities)[:, 1])
    assert (~pooled.correct).sum() == 15  # WEKA: 15 of 57 wrong


def test_rows_that_the_study_lacks_are_none(small_study):
    assert pool_predictions(small_study, "Labour", "RanF") is None
    assert pool_predictions(small_study, "Nowhere", "NB") is None


def test_other_folds_decide_nothing(small_study, two_folds):
    claims = [Claim("x", True, "seen"), Claim("y", None, "seen")]
    assert (count_folds(small_study), count_folds(two_folds)) == (10, 2)
    assert list(require_printed_folds(claims, small_study)) == claims
    assert [claim.reproduced for claim in require_printed_folds(claims, two_folds)] == [None, None]
    assert "2 folds" in require_printed_folds(claims, two_folds)[0].details
