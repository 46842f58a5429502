"""The whole experiment at its smallest scale."""

import pytest

from fairtrial.reproduce.experiments import reproduce


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    return folder, reproduce("ranking-synthetic", scale="smoke", out=folder, jobs=2, progress=False)


def test_tables_figures_and_page_are_there(found):
    folder, made = found
    assert len(made.figures) == 3
    assert made.table("error-rates")["noise"].nunique() == 4
    assert made.table("mean-errors")["pairs"].tolist() == [200] * 4
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert page.count(".png)") == 3
    assert "here they are equal at every level" in page


def test_so_few_pairs_decide_nothing_but_that_errors_occur_without_noise(found):
    decided = [claim.text for claim in found[1].claims if claim.holds is not None]
    assert all("at 0 % all errors are expected to be 0" in text for text in decided)
    assert len(found[1].claims) == 15
