"""Paragraphs say what tables hold."""

import pandas as pd

from fairtrial.reproduce.dobscv.sets import Sets
from fairtrial.reproduce.dobscv.tables import table4
from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.words import (
    agreement_words,
    damage_words,
    folds_words,
    open_words,
    puzzle_words,
    silent_share,
    truth_words,
    what_was_run,
)
from tests.reproduce.dobscv.conftest import made_cells

EMPTY = Sets({}, {}, {})


def test_agreement_tells_the_mean_absolute_difference():
    cells = made_cells(lambda *_: 0.8, names=["Glass1", "Ecoli4"])
    assert "C4.5 under SCV (KEEL's folds) 0.004" in agreement_words(table4(cells)[0].frame, cells)  # .8044 is printed
    none = made_cells(lambda *_: 0.8, names=["Glass1"])
    assert agreement_words(table4(none)[0].frame, none) == ""


def test_damaged_sets_are_named_with_what_they_do():
    cells = made_cells(
        lambda scheme, _, place, __: 0.7 + (0.1 if scheme == LITERAL and place == 0 else 0.0), names=["Bad", "Good"]
    )
    told = damage_words(Sets({}, {}, {}, {"Bad": "decimal points"}), cells)
    assert "1 set came damaged" in told
    assert "C4.5 +0.0500 (+0.0000)" in told
    assert damage_words(EMPTY, cells) == ""


def test_chi_is_silent_on_most_rows_of_cleveland(shared_data, monkeypatch):
    from fairtrial.reproduce.dobscv import sets

    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    monkeypatch.setattr(sets, "SMOKE", ("Cleveland0vs4",))
    share = silent_share(sets.gathered("smoke", 1))
    assert share is not None
    # .1188 is printed for the mean of both recalls: at least 3 in 4 rows must be errors, which only silence explains.
    assert 0.7 < share < 0.9
    cells = made_cells(lambda *_: 0.1188, names=["Cleveland0vs4"])
    assert "Ours is 0.1188" in puzzle_words(share, cells)
    assert puzzle_words(None, cells) == ""
    assert silent_share(EMPTY) is None


def test_the_truth_in_words():
    names = ["measure", "scheme", "bias", "bias_low", "bias_high", "fold_bias", "fold_bias_low", "fold_bias_high", "rmse"]
    lines = [
        ("balanced accuracy", SCV, -0.01, -0.02, 0.0, 0.0, -0.005, 0.005, 0.06),
        ("balanced accuracy", LITERAL, 0.02, 0.0, 0.04, 0.02, 0.01, 0.03, 0.05),
        ("balanced accuracy", SHUFFLED, 0.03, 0.0, 0.06, 0.009, 0.004, 0.014, 0.07),
    ]
    told = truth_words(pd.DataFrame(lines, columns=names), 12)
    assert "smallest error seen has DOB-SCV literal, the smallest bias SCV" in told
    assert "Clearly above SCV: DOB-SCV literal, whose" in told  # the interval of the other meets that of SCV


def test_what_was_run_and_what_failed():
    told = what_was_run(EMPTY, 1, {"SMO on Glass1": 2})
    assert "1 run of 5 folds" in told
    assert "SMO on Glass1 (2)" in told
    assert folds_words(EMPTY) == ""
    assert "not known" in open_words().lower()
