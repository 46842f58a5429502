"""The figure of an audit shows each fold's numbers, and which are beyond chance."""

import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.folds import draw_audit
from fairtrial.report.files import save
from fairtrial.resampling.audit import audit
from tests.reference.folds import as_splits, stratified


@pytest.fixture(scope="module")
def shifted():
    x = np.column_stack([np.arange(120.0), np.random.default_rng(0).normal(size=120)])
    return audit(as_splits(np.arange(120) // 40), (x, np.array(["u", "v"])[np.arange(120) % 2]), n_permutations=99)


@pytest.fixture(scope="module")
def drawn(shifted):
    return panels(draw_audit(shifted))


def panels(chart):
    """The rows of each panel, in order."""
    drawn = chart.to_dict()
    return [drawn["datasets"][panel["data"]["name"]] for line in drawn["vconcat"] for panel in line["hconcat"]]


def test_points_are_the_numbers_of_the_frame(shifted, drawn):
    frame = shifted.frame().query("check == 'energy distance'")
    assert [row["value"] for row in drawn[0]] == pytest.approx(frame["value"].tolist())
    assert {row["outcome"] for row in drawn[0] if row["p_adjusted"] <= 0.05} == {"beyond chance"}
    assert {row["split"] for row in drawn[0]} == {"1", "2", "3"}


def test_of_attributes_the_most_unusual_is_shown(drawn):
    assert [row["class"] for row in drawn[2]] == ["u"] * 3 + ["v"] * 3 + ["all classes"] * 3
    assert {row["attribute"] for row in drawn[2]} == {"x0"}


def test_outlying_is_in_percent(shifted, drawn):
    frame = shifted.frame().query("check == 'outlying'")
    assert [row["value"] for row in drawn[3]] == pytest.approx((100 * frame["value"]).tolist())


def test_a_frame_will_do_and_alpha_may_be_given(shifted):
    assert all(row["outcome"] == "within chance" for row in panels(draw_audit(shifted.frame(), alpha=1e-9))[0])


def test_repeats_many_classes_and_many_splits():
    rng = np.random.default_rng(0)
    y = np.arange(160) % 8
    splits = [split for _ in range(9) for split in stratified(y, 4, rng)]
    chart = draw_audit(audit(splits, (rng.normal(size=(160, 2)), y), n_permutations=19))
    assert len(panels(chart)[0]) == 30


def test_it_becomes_a_file(shifted, tmp_path):
    assert save(draw_audit(shifted, title="Folds in order"), tmp_path / "audit.svg").read_text().count("Folds in order") >= 1


def test_other_tables_are_refused(shifted):
    with pytest.raises(InputError, match="must have the column 'check'"):
        draw_audit(shifted.table())
