"""The puzzle of the paper's machine."""

import pandas as pd
import pytest

from fairtrial import Study
from fairtrial.data import load
from fairtrial.reproduce.ela.puzzle import MECHANISM, accuracies, distances, tables, variants, words
from fairtrial.reproduce.ela.sets import Sets, declared


def made():
    table = {"votes": [90.0, 55.0, 71.0], "logistic": [63.0, 46.0, 67.0], "paper": [64.83, 45.85, 66.44]}
    return pd.DataFrame(table, index=pd.Index(["car", "cleveland", "german"], name="dataset"))


def test_distances_are_means_without_sign_the_nearest_first():
    found = distances(made())
    assert found["variant"].tolist() == ["logistic", "votes"]
    assert found["mean distance"].tolist() == pytest.approx([(1.83 + 0.15 + 0.56) / 3, (25.17 + 9.15 + 4.56) / 3])
    assert found["within 2 points"].tolist() == [3, 0]
    assert found.loc[1, ["largest", "on"]].tolist() == pytest.approx([25.17, "car"])


def test_words_name_the_nearest_and_both_distances():
    text = words(made(), {"votes": 5.0, "logistic": 1.25}, {"votes": 4.0, "logistic": 1.5})
    assert "Of 2 variants, on 3 sets without noise, 'logistic' is nearest" in text
    assert "at worst 25.2 (on car)" in text
    assert "1.25 points with them and 5.00 by votes under the noise of the text, and 1.50 and 4.00 under" in text
    assert "At 10 %" not in words(made(), {}, {})


def test_tables_have_a_line_for_each_variant_and_each_set():
    summary, by_set = tables(made())
    assert len(summary.frame) == 2
    assert by_set.frame["data set"].tolist() == ["car", "cleveland", "german"]


def test_all_variants_can_be_made():
    study = Study(data=["iris"], learners=declared("puzzle")["learners"])
    assert len(study.resolve().learners) == 12


def test_the_study_of_variants_stands_beside_the_paper(request_here):
    found = accuracies(variants(request_here, Sets({"iris": load("iris")}, {}, {})))
    assert found.loc["iris", "paper"] == 94.53
    assert found.columns.tolist() == ["votes", "logistic", "paper"]
    assert found.loc["iris"].between(85, 100).all()


def test_the_mechanism_quotes_weka_on_car():
    """rows right of 1,728 in 5 folds, seed 1: by votes 1,594, with -M 1,085, with -M -V 5 1,684."""
    for right in (1594, 1085, 1684):
        assert f"{100 * right / 1728:.1f} %" in MECHANISM


def test_a_single_set_has_no_interval():
    found = distances(made().iloc[:1])
    assert found[["low", "high"]].isna().all(axis=None)
