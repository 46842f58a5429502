import duckdb
import numpy as np
import pandas as pd
import pytest

from fairtrial.predictions import streamed
from fairtrial.predictions.streamed import StreamedFile, compute_rank_contrast
from fairtrial.significance import delong

LINES = '(SELECT "truth" AS t, "a_score" AS s1, "b_score" AS s2 FROM judged)'


def drawn(seed, n, share, digits):
    """Two models whose scores are rounded to so many digits, so that few digits give many ties."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(int)
    truth[:2], truth[2:4] = 1, 0
    first = rng.normal(size=n) + 1.5 * truth
    second = first + 0.7 * rng.normal(size=n)
    return pd.DataFrame({"truth": truth, "a_score": first.round(digits), "b_score": second.round(digits)})


def contrast(folder, table):
    path = folder / "p.parquet"
    table.to_parquet(path)
    with StreamedFile([path]) as file:
        found = compute_rank_contrast(file, LINES, 1)
        with pytest.raises(duckdb.Error, match="met"):
            file._connection.execute("SELECT * FROM met")
    return found


def direct(table):
    outcome = delong(*(table[column].to_numpy() for column in ("truth", "a_score", "b_score")))
    return outcome.effect.estimate, outcome.details["standard error"] ** 2


@pytest.mark.parametrize("digits", [0, 1, 12])
@pytest.mark.parametrize("share", [0.002, 0.4, 0.97])
def test_contrasts_are_those_of_the_rows(tmp_path, share, digits):
    for seed in range(3):
        table = drawn(seed, 1500, share, digits)
        found = contrast(tmp_path, table)
        assert (found.estimate, found.error**2) == pytest.approx(direct(table), rel=1e-9, abs=1e-15)
        assert found[2:] == (table["truth"].sum(), (1 - table["truth"]).sum(), 0)


def test_batches_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr("fairtrial.predictions.streamed._BATCH", 2048)
    table = drawn(5, 20_000, 0.3, 3)
    found = contrast(tmp_path, table)
    assert (found.estimate, found.error**2) == pytest.approx(direct(table), rel=1e-9)


def test_models_that_rank_rows_alike_have_no_error(tmp_path):
    table = drawn(1, 900, 0.3, 2)
    found = contrast(tmp_path, table.assign(b_score=np.exp(table["a_score"])))
    assert (found.estimate, found.error**2) == (0, 0)


def test_a_class_of_one_row_has_no_error(tmp_path):
    table = pd.DataFrame({"truth": [1, 0, 0], "a_score": [0.2, 0.1, 0.3], "b_score": [0.1, 0.2, 0.3]})
    found = contrast(tmp_path, table)
    assert np.isnan([found.estimate, found.error**2]).all()
    assert found[2:4] == (1, 2)


@pytest.mark.parametrize(("digits", "exact"), [(1, True), (12, False)])
def test_marks_of_many_rows_are_quantiles(tmp_path, monkeypatch, digits, exact):
    """Scores that repeat often are all marked, and nothing is lost."""
    table = drawn(2, 30_000, 0.4, digits).clip(-1, 3)
    monkeypatch.setattr(streamed, "MAX_MARKS", 6000)
    found = contrast(tmp_path, table)
    estimate, variance = direct(table)
    assert found.marks == (0 if exact else 6000)
    assert found.estimate == pytest.approx(estimate, rel=1e-9 if exact else 1e-4)
    assert found.error**2 == pytest.approx(variance, rel=1e-9 if exact else 1e-3)
