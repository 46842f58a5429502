"""The whole experiment at its smallest scale."""

import pytest

from fairtrial.reproduce import reproduce
from fairtrial.reproduce.ranking_errors import DISPLAY_NAMES
from fairtrial.reproduce.ranking_synthetic.experiment import draw_curve
from fairtrial.reproduce.ranking_synthetic.simulation import NOISES, simulate_curves


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    return folder, reproduce("ranking-synthetic", scale="smoke", out=folder, jobs=2, progress=False)


def test_tables_figures_and_page_are_there(smoke):
    folder, reproduction = smoke
    assert len(reproduction.figures) == 3
    assert reproduction.frame("error-rates")["noise"].nunique() == 4
    assert reproduction.frame("mean-errors")["pairs"].tolist() == [200] * 4
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert page.count(".png)") == 3
    assert "here they are equal at every level" in page


def test_so_few_pairs_decide_nothing_but_that_errors_occur_without_noise(smoke):
    decided = [claim.text for claim in smoke[1].claims if claim.reproduced is not None]
    assert all("at 0 % all errors are expected to be 0" in text for text in decided)
    assert len(smoke[1].claims) == 15


def test_figures_have_a_line_for_each_measure():
    (curve,) = simulate_curves(NOISES[:1], step=50, pairs=40, seed=1, jobs=1, progress=False)
    rows = [row for values in draw_curve(curve, 4).to_dict()["datasets"].values() for row in values]
    assert {row["learner"] for row in rows} == set(DISPLAY_NAMES.values())
    assert {row["level"] for row in rows} == {0, 50, 100}
