import pytest

from fairtrial.reproduce.estimates.estimates import run
from fairtrial.reproduce.reproduction import Request


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return run(Request("smoke", tmp_path_factory.mktemp("estimates")))


def test_the_whole_runs(smoke):
    assert len(smoke.claims) == 15
    assert len(smoke.figures) == 4
    assert all(chart.to_dict() for chart in smoke.figures.values())
    assert len(smoke.table("cells")) == 2 * 2 * 4 * 12


def test_so_few_samples_leave_nearly_all_open(smoke):
    """But one that a single example decides, and .632 of the nearest neighbour, whose optimism even these may show."""
    told = [each.text for each in smoke.claims if each.holds is not None]
    assert all("relative absolute error" in text or "knows its rows by heart" in text for text in told), told


def test_words_are_those_of_the_tables(smoke):
    told = " ".join(smoke.words)
    cells = smoke.table("cells")
    means = cells[cells["method"] != "resubstitution"].groupby("method")["rmse"].mean()
    assert f"{means.idxmin()} {100 * means.min():.1f}; " in told.split("**Nearest to the truth**")[1][:60]
    assert "known because" in told


def test_tables_average_the_cells(smoke):
    cells, methods = smoke.table("cells"), smoke.table("methods").set_index("method")
    own = cells[cells["method"] == ".632+"]
    assert methods.loc[".632+", "bias"] == pytest.approx(100 * own["bias"].mean())
