"""The audit finds faults of folds, and rarely reports sound ones."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold

from fairtrial.errors import InputError
from fairtrial.resampling.audit import audit
from fairtrial.resampling.dob_scv import DOBSCV
from fairtrial.resampling.grouped import GroupKFold as Groups
from fairtrial.resampling.splitters import Repeated, StratifiedKFold as Stratified
from tests.reference.folds import as_splits, dob, stratified

SHIFT = {"energy distance", "two-sample AUC", "KS", "Hellinger", "outlying", "too alike"}


def checks(found):
    return {each.check for each in found.findings}


def basis_kinds(found):
    return {each.kind for each in found.basis}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def simulated(seed=0, n=900):
    rng = np.random.default_rng(seed)
    return rng.standard_t(4, size=(n, 4)), np.repeat([0, 1], [2 * n // 3, n - 2 * n // 3])


def test_random_stratified_folds_are_mostly_left_alone():
    """200 audits at level 0.05: 10 expected, at most 21 with probability 0.999."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 2)), np.repeat([0, 1], [40, 20])
        found = audit(stratified(y, 4, rng), (X, y), n_permutations=199, random_state=seed)
        hits += bool(checks(found) & SHIFT)
        assert checks(found) <= SHIFT
    assert 1 <= hits <= 21


def test_literal_dob_scv_lies_farther_out_in_fold_1_and_shuffled_does_not():
    X, y = simulated()
    rng = np.random.default_rng(0)
    literal, shuffled = (audit(dob(X, y, 5, rng, shuffled=each), (X, y)) for each in (False, True))
    assert "outlying" in checks(literal)
    lines = literal.frame().query("check == 'outlying'").set_index("fold")
    assert lines["value"].idxmax() == 0
    assert lines["p_adjusted"][0] <= 0.05
    assert shuffled.ok
    assert "outlying" not in checks(shuffled)
    assert (shuffled.frame().query("check == 'outlying'")["p_adjusted"] > 0.5).all()


def test_repeats_show_what_one_round_may_hide():
    """Too few rows to see it in one round: fold 1 of all repeats gives it away."""
    X, y = simulated(n=240)
    literal, shuffled = (
        audit(Repeated(DOBSCV(5, assign=each), 10, random_state=0), (X, y)) for each in ("literal", "shuffled")
    )
    (found,) = (each for each in literal.faults if each.check == "outlying in all repeats")
    assert [each.kind for each in found.details if each.kind != "outlying_nearer"] == ["outlying_farther", "literal_dob_scv"]
    assert "fold 1 of all repeats" in [split["split"] for split in found.values["splits"]]
    assert shuffled.ok
    lines = literal.frame()
    single = lines[lines["check"] == "outlying"].groupby("fold")["value"].mean()
    pooled = lines[lines["check"] == "outlying in all repeats"].set_index("fold")
    np.testing.assert_allclose(single, pooled["value"])
    assert pooled["repeat"].isna().all()


def test_our_dob_scv_on_real_data(cancer):
    literal = audit(DOBSCV(5, assign="literal", random_state=0), cancer)
    shuffled = audit(DOBSCV(5, random_state=0), cancer)
    outlying = next(each for each in literal.faults if each.check == "outlying")
    assert (outlying.kind, outlying.values["splits"][0]["split"]) == ("outlying_farther", "fold 1")
    assert shuffled.ok
    assert "too alike" in checks(literal) & checks(shuffled)


def test_folds_that_are_too_alike_are_noted_not_blamed(cancer):
    found = audit(dob(*cancer, 5, np.random.default_rng(0), shuffled=True), cancer)
    assert found.ok
    (note,) = (each for each in found.findings if each.check == "too alike")
    assert (note.level, note.kind) == ("note", "too_alike")


def test_folds_in_the_order_of_an_attribute_are_shifted():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), np.sort(rng.normal(size=200))])
    found = audit(as_splits(np.arange(200) // 40), (pd.DataFrame(X, columns=["still", "moving"]), None))
    assert {"energy distance", "two-sample AUC", "KS"} <= checks(found)
    cells = next(each.values["cells"] for each in found.faults if each.check == "KS")
    assert {cell["attribute"] for cell in cells} == {"moving"}
    assert "fold 1" in {cell["split"] for cell in cells}


def test_a_shift_that_classes_share_is_found():
    """One of five folds of 200 rows by one deviation, 20 times. Within the two classes alone about 14 would be found."""
    hits = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 100)
        X = rng.normal(size=(200, 3)) + 10 * y[:, None]
        splits = stratified(y, 5, rng)
        X[splits[0][1], 0] += 1
        found = audit(splits, (X, y), n_permutations=199, random_state=seed)
        hits += not found.ok
    assert hits >= 17


def test_the_absence_of_shift_is_reported():
    X, y = simulated(n=90)
    assert "no_shift" in basis_kinds(audit(Stratified(3, random_state=0), (X, y)))
    ordered = audit(as_splits(np.arange(90) // 30), (np.arange(90.0)[:, None], None))
    assert "no_shift" not in basis_kinds(ordered)


def test_the_number_of_permutations_for_duplicates_is_reported():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(60, 2)), rng.integers(0, 2, 60)
    basis = audit(Stratified(5, random_state=0), (X, y)).basis
    assert [each["drawn"] for each in basis if each.kind == "duplicate_reference"] == [199]


def test_a_nominal_attribute_that_goes_with_the_fold():
    rng = np.random.default_rng(0)
    fold = np.arange(150) % 3
    frame = pd.DataFrame({"where": np.array(["here", "there", "far"])[fold], "x": rng.normal(size=150)})
    found = audit(as_splits(fold), (frame, rng.integers(0, 2, 150)))
    assert "Hellinger" in checks(found)


def test_missing_values_that_go_with_the_fold():
    rng = np.random.default_rng(0)
    fold, x = np.arange(200) % 4, rng.normal(size=200)
    x[(fold == 2) & (rng.random(200) < 0.7)] = np.nan
    found = audit(as_splits(fold), (pd.DataFrame({"x": x, "y": rng.normal(size=200)}), None))
    cells = next(each.values["cells"] for each in found.faults if each.check == "KS")
    assert {(cell["attribute"], cell["split"]) for cell in cells} == {("x", "fold 3")}


def test_groups_are_found(cancer):
    X, y = cancer
    groups = np.argsort(np.argsort(X[:, 0])) // 60
    found = audit(list(GroupKFold(5).split(X, y, groups)), (X, y), n_permutations=99)
    assert not found.ok


def test_groups_of_a_group_splitter_may_differ(cancer):
    X, y = cancer
    groups = np.argsort(np.argsort(X[:, 0])) // 60
    found = audit(Groups(5, random_state=0).freeze(X, y, groups), (X, y), n_permutations=99)
    assert found.ok
    assert {"energy distance", "KS"} <= {each.check for each in found.findings if each.level == "note"}


def test_the_leak_of_abalone9_18_is_found(shared_data):
    """KEEL's own folds: 117 of 147 test rows of fold 1 are in its training file, 612 of 731 rows are ever tested."""
    frames = {}
    with zipfile.ZipFile(shared_data / "keel-imbalanced-5fold" / "abalone9-18-5-fold.zip") as archive:
        for name in archive.namelist():
            lines = archive.read(name).decode().splitlines()
            frames[name[-9:-4]] = [tuple(map(str.strip, line.split(","))) for line in lines if line and line[0] != "@"]
    rows = sorted({row for part in frames.values() for row in part})
    assert len(rows) == 731
    place = {row: i for i, row in enumerate(rows)}
    splits = [[[place[row] for row in frames[f"-{k}{part}"]] for part in ("tra", "tst")] for k in range(1, 6)]
    table = pd.DataFrame(rows)
    X = table.iloc[:, :-1].apply(lambda column: pd.to_numeric(column, errors="coerce") if column.name else column)
    found = audit(splits, (X, table.iloc[:, -1]))
    assert not found.ok
    values = {each.check: each.values for each in found.faults}
    (overlap,) = values["in train and test"]["splits"]
    assert dict(overlap.values) == {"split": "fold 1", "rows": 117, "test_rows": 147}
    assert dict(values["never tested"]) == {"rows": 119, "n_rows": 731}


def test_the_frame_holds_every_number(cancer):
    X, y = cancer
    found = audit(StratifiedKFold(5, shuffle=True, random_state=0), (X[:, :4], y), n_permutations=99)
    frame = found.frame()
    counts = frame.groupby("check").size()
    assert counts["KS"] == 5 * 3 * 4
    assert counts["energy distance"] == counts["two-sample AUC"] == 15
    assert set(frame.loc[frame["check"] == "KS", "class"]) == {"0", "1", ""}
    assert counts["outlying"] == counts["duplicates"] == 5
    rows = frame[(frame["check"] == "test rows") & frame["class"].isna()]
    assert rows["value"].sum() == 569
    judged = frame[frame["p"].notna()]
    assert (judged["low"] <= judged["high"]).all()
    assert (judged["p_adjusted"] >= judged["p"] - 0.02).all()
    table = found.table()
    assert table["test"].sum() == 569
    assert table.columns.tolist()[-4:] == ["energy p", "AUC p", "attribute p", "outlying p"]


def test_repeats_and_splitters_of_our_own():
    X, y = simulated(n=90)
    found = audit(Repeated(Stratified(3), 2, random_state=0), (X, y), n_permutations=99)
    assert found.table()["split"].iloc[-1] == "fold 3 of repeat 2"
    assert "6 splits in 2 repeats of 90 rows" in found.summary
    assert found.frame()["repeat"].nunique() == 2


def test_leave_one_out_has_no_shift_to_look_for():
    X, y = simulated(n=40)
    found = audit(LeaveOneOut(), (X, y))
    assert found.ok
    assert "single_test_rows" in basis_kinds(found)
    assert len(found.summary.splitlines()) > 20
    assert "20 more" in found.summary


def test_samples_of_rows_are_reported():
    X, y = simulated(n=300)
    found = audit(Stratified(5, random_state=0), (X, y), n_permutations=19, max_rows=50)
    (samples,) = (each["samples"] for each in found.basis if each.kind == "sampled_rows")
    assert [(each["rows"], each["total"]) for each in samples] == [(50, 300), (50, 200), (50, 100)]
    assert [each.values.get("class_name") for each in samples] == [None, 0, 1]


def test_large_classes_keep_their_neighbours_in_a_sample():
    """DOB-SCV parts neighbours, which a sample alone would not show: neighbours are sought among all rows."""
    X, y = simulated(n=1200)
    found = audit(DOBSCV(5, random_state=0), (X, y), n_permutations=199, max_rows=100)
    statistics = next(each.values["statistics"] for each in found.findings if each.check == "too alike")
    assert "two-sample AUC" in {each["check"] for each in statistics}


def test_the_same_seed_gives_the_same_audit():
    X, y = simulated(n=100)
    first, second = (audit(Stratified(5, random_state=0), (X, y), n_permutations=49, random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(first.frame(), second.frame())


def test_html_is_escaped():
    X, y = simulated(n=60)
    found = audit(Stratified(3, random_state=0), (X, np.where(y == 1, "<b>", "a")), n_permutations=19)
    assert "<b>" not in found._repr_html_()
    assert "<table" in found._repr_html_()
    assert repr(found).startswith("<Audit of StratifiedKFold(n_splits=3")


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"n_permutations": 5}, "n_permutations"),
        ({"alpha": 0}, "alpha"),
        ({"max_rows": 2}, "max_rows"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_options_are_refused(options, argument):
    with pytest.raises(InputError, match=argument):
        audit([([0], [1])], ([[1.0], [2.0]], None), **options)


def test_too_few_permutations_are_reported():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = ["a", "b"] * 30
    folds = [(np.flatnonzero(np.arange(60) % 3 != fold), np.flatnonzero(np.arange(60) % 3 == fold)) for fold in range(3)]
    (warning,) = (each for each in audit(folds, (X, y), n_permutations=19).basis if each.kind == "few_permutations")
    assert (warning["permutations"], warning["alpha"]) == (19, 0.05)
    assert 19 < warning["needed"] <= 199
    assert "few_permutations" not in basis_kinds(audit(folds, (X, y), n_permutations=199))
