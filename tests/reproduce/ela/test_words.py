"""Words: their numbers are those of the tables."""

import pandas as pd
import pytest

from fairtrial.data import load
from fairtrial.reproduce.ela.cells import LOGISTIC, as_printed, their_cells
from fairtrial.reproduce.ela.paired import exact_lines
from fairtrial.reproduce.ela.tables import compared
from fairtrial.reproduce.ela.words import agreement, damage, distance_at_noise, opening, slips, sources, unexplained


def test_opening_counts_sets(printed):
    text = opening(compared(printed, their_cells()), 5, 5)
    assert "on 32 data sets" in text
    assert "by 5 rounds of 5 folds. All of the paper's sets were run. Averages" in text
    few = printed[printed["dataset"].isin(["iris", "wine"])]
    assert "The paper has 32; 2 were run." in opening(compared(few, their_cells()), 1, 5)


def test_agreement_tells_distances_and_intervals_that_miss(printed, shifted):
    text = agreement(compared(printed, their_cells()), compared(shifted, their_cells()))
    assert "C4.5 is 0.00 points from the paper on average without noise (0 of 32 intervals miss" in text
    assert "2.00 (32) with noise to any class" in text


def test_distance_at_noise_is_of_both_machines(shifted, printed):
    assert distance_at_noise(compared(shifted, their_cells())) == pytest.approx({"votes": 2.0, "logistic": 2.0})
    assert distance_at_noise(compared(printed[printed["learner"] == "c45"], their_cells())) == {}


def test_damage_names_files_and_copies():
    frame = pd.DataFrame(
        [
            ("heart", "UCI's", "c45", 1.0, 2.0, 1.0, 3.0, 2.0, "the copy"),
            ("heart", "UCI's", "svm", 2.0, 1.0, 1.0, 3.0, 2.0, "KEEL's file"),
        ],
        columns=["data set", "copy", "learner", "KEEL's file", "the copy", "low", "high", "paper", "nearer"],
    )
    text = damage({"heart": "damaged"}, frame)
    assert text.startswith("KEEL's files of heart are damaged")
    assert "the other copy for heart (c45), and KEEL's file for the rest" in text
    assert damage({}, frame.iloc[1:]).endswith("KEEL's file is nearer to the paper in every case.")
    assert damage({}, None) == ""


def test_what_is_far_off_is_named(printed, shifted):
    near = compared(shifted, their_cells())
    assert "models on no data set under the noise of the text, and on no data set with noise to any" in unexplained(near, near)
    far = printed["dataset"] == "car"
    off = printed.assign(**{end: printed[end] + 5 * far for end in ("value", "low", "high")})
    text = unexplained(compared(off, their_cells()), near)
    assert "models on car (+5.0, accuracy at 0 %), car (+5.0, accuracy at 10 %) under the noise of the text, and on no" in text


def test_slips_are_computed_from_the_table():
    table = as_printed(their_cells(), LOGISTIC)
    text = slips(exact_lines(table))
    assert text.startswith("2 of the paper's 10 statements")
    assert "'SVM is better without and with noise' (on autos); 'One or both gain by noise" in text
    assert "RLA C4.5' (on flare)." in text
    assert "By it the paper's table contradicts 'Both lose remarkably (here: more than 2 %)' (on wine)." in text
    mended = table.drop(index=["autos", "flare", "wine"])
    assert slips(exact_lines(mended)).startswith(
        "0 of the paper's 10 statements on single data sets contradict its own table 3."
    )
    assert "agrees with it" in slips(exact_lines(mended))


def test_sets_of_packages_are_told(tmp_path, monkeypatch):
    (tmp_path / "zoo.csv").write_text("a,class\n" + "1.0,x\n2.0,y\n" * 5)
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    text = sources({name: load(name) for name in ("iris", "wine", "zoo")})
    assert "from packages (scikit-learn: iris, wine). Those of scikit-learn are not KEEL's files." in text
    assert sources({"zoo": load("zoo")}) == ""
