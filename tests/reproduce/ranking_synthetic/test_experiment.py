"""The whole experiment at its smallest scale."""

import pytest

from fairtrial.reproduce import reproduce


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
