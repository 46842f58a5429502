"""The list of measures is complete and agrees with the metadata."""

import pytest

from fairtrial.errors import InputError
from fairtrial.measures import listing, registry


def test_every_measure_is_listed_with_its_facts():
    frame = listing.build_facts_frame().set_index("measure")
    assert set(frame.index) == set(registry)
    assert (frame["reference"] != "").all()
    assert frame.loc["brier", ["needs", "better", "range"]].tolist() == ["probabilities", "lower", "0 to 2"]


def test_the_list_can_be_narrowed():
    assert set(listing.build_facts_frame("values")["needs"]) == {"values"}
    with pytest.raises(InputError, match=r"needs.*'scores'"):
        listing.build_facts_frame("score")


def test_one_measure_is_described():
    text = listing.format_measure("partial_auc")
    assert text.startswith("partial AUC\n\npartial_auc(y_true, y_score, *, ")
    assert "max_fpr=0.1" in text
    assert "McClish 1989" in text
