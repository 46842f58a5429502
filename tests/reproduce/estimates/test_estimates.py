import pytest

from fairtrial.reproduce.estimates.estimates import run
from fairtrial.reproduce.reproduction import Request

ORDERED = ("Nearest to the truth", "Largest bias", "Intervals")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("estimates")


@pytest.fixture(scope="module")
def smoke(folder):
    return run(Request("smoke", folder))


def test_the_whole_runs(smoke):
    assert len(smoke.claims) == 15
    assert len(smoke.figures) == 4
    assert all(chart.to_dict() for chart in smoke.figures.values())
    assert len(smoke.table("cells")) == 2 * 2 * 4 * 12


def test_so_few_samples_leave_all_open_that_they_would_decide(smoke):
    """But one that a single example decides."""
    assert [each.text for each in smoke.claims if each.holds is not None] == [
        "The relative absolute error lies between 0 and 1"
    ]
    assert any(each.evidence.endswith("too coarse to decide") for each in smoke.claims)


def test_words_are_those_of_the_tables(smoke):
    told = " ".join(smoke.words)
    cells = smoke.table("cells")
    means = cells[cells["method"] != "resubstitution"].groupby("method")["rmse"].mean()
    assert f"{means.idxmin()} {100 * means.min():.1f}; " in told.split("**Nearest to the truth**")[1][:60]
    assert "known because" in told
    assert "Least coverage, mean over cells: " in told


def test_cells_are_counted_with_and_without_the_problem_that_has_no_signal(smoke):
    told = " ".join(smoke.words)
    assert "16 in all, 8 without 'no signal'" in told
    evidence = smoke.claims[0].evidence
    assert " of 8, below: " in evidence
    assert "a claim holds if it does for each learner" in told


def test_resubstitution_is_left_out_of_all_three_sentences_and_said_so(smoke):
    cells = smoke.table("cells")
    own = cells[cells["method"] == "resubstitution"]
    nearest, bias, intervals = (next(each for each in smoke.words if each.startswith(f"**{word}")) for word in ORDERED)
    for told in (nearest, bias, intervals):
        before, after = told.split("Resubstitution, which is no estimate of what is new, is left out; it has ")
        assert "resubstitution" not in before.lower()
        assert after
    assert nearest.endswith(f"it has {100 * own['rmse'].mean():.1f}.")
    trees = own[(own["learner"] == "C4.5") & (own["problem"] != "no signal")]
    assert f"{100 * trees['bias'].mean():+.1f} (C4.5)" in bias
    assert f"it has {own['coverage'].mean():.1%} (" in intervals


def test_worst_bias_is_of_the_methods_that_stay(smoke):
    cells = smoke.table("cells")
    own = cells[(cells["learner"] == "nearest neighbour") & (cells["problem"] != "no signal")]
    means = own[own["method"] != "resubstitution"].groupby("method")["bias"].mean()
    worst = means.abs().idxmax()
    assert f"nearest neighbour: {worst} {100 * means[worst]:+.1f} points" in " ".join(smoke.words)


def test_notes_explain_noise_and_limits(smoke):
    notes = {each.name: each.note for each in smoke.tables}
    assert "half of the sum over classes of p (1 - p)" in notes["ensembles"]
    assert "limits for many rows" in notes["worked"]


@pytest.mark.usefixtures("smoke")
def test_progress_is_told_where_it_is_asked_for(folder, capsys):
    """The cells are read from the files of the first run."""
    run(Request("smoke", folder, progress=True))
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("estimates: ")]
    assert len(told) == 16 + 3
    assert told[11] == "estimates: cell 12 of 16"


def test_tables_average_the_cells(smoke):
    cells, methods = smoke.table("cells"), smoke.table("methods").set_index("method")
    own = cells[cells["method"] == ".632+"]
    assert methods.loc[".632+", "bias"] == pytest.approx(100 * own["bias"].mean())
