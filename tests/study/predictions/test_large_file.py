import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally
from fairtrial.study.predictions import large_file
from fairtrial.study.predictions.large_file import LargeFile, name, quoted, too_long


def write(path, **columns):
    frame = pd.DataFrame(columns)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("batch", [7, 1 << 18])
def test_tallies_are_those_of_memory_with_and_without_ties(tmp_path, monkeypatch, digits, batch):
    monkeypatch.setattr(large_file, "_BATCH", batch)
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 3000), rng.random(3000).round(digits)
    scores[:40] = scores[0]  # a run that goes over batches
    path = write(tmp_path / "p.parquet", truth=truth, tree_score=scores)
    with LargeFile([path]) as file:
        found = file.tally('"tree_score"', '"truth" = 1', "TRUE", None)
        half = file.tally('"tree_score"', '"truth" = 1', '"tree_score" > 0.5', None)
    expected = ScoreTally.from_scores(truth, scores)
    assert found.frame().astype(float).equals(expected.frame())
    assert half.values.min() > 0.5
    assert half.positives == ((scores > 0.5) & (truth == 1)).sum()


def test_weights_are_added_up(tmp_path):
    path = write(tmp_path / "p.csv", truth=["a", "b", "b"], tree_score=[0.5, 0.5, 0.25], w=[1.5, 2.0, 0.5])
    with LargeFile([path]) as file:
        found = file.tally('"tree_score"', "\"truth\" = 'b'", "TRUE", '"w"')
    assert found.frame().values.tolist() == [[0.5, 2.0, 1.5], [0.25, 0.5, 0.0]]


def test_counts_beyond_a_byte(tmp_path):
    path = write(tmp_path / "p.parquet", truth=[0, 1] * 400, tree_score=[0.5, 0.25] * 400)
    with LargeFile([path]) as file:
        assert file.tally('"tree_score"', '"truth" = 1', "TRUE", None).frame().values.tolist() == [
            [0.5, 0, 400],
            [0.25, 400, 0],
        ]


def test_roles_see_classes_beyond_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(large_file, "_SAMPLE", 3)
    columns = {"truth": ["a"] * 5 + ["b"], "tree_a": [0.5] * 6, "tree_b": [0.5] * 6}
    with LargeFile([write(tmp_path / "p.parquet", **columns)]) as file:
        assert file.roles.models[0].scores == (("a", "tree_a"), ("b", "tree_b"))


def test_names_and_values_in_sql_are_harmless(tmp_path):
    odd = 'a "b" {c}'
    path = write(tmp_path / "it's {odd}.parquet", **{"truth": ["x'y", "z"], odd: ["x'y", "z"]})
    with LargeFile([path], prediction={"m": odd}) as file:
        assert file.rows(f"SELECT count(*) FROM judged WHERE {name(odd)} = {quoted(chr(120) + chr(39) + 'y')}") == [(1,)]
    assert (quoted(True), quoted(1), quoted(0.5), quoted(np.int64(3))) == ("TRUE", "1", "0.5", "3")


def test_long_files_are_known_by_their_lines(tmp_path):
    for suffix in ("csv", "parquet"):
        path = write(tmp_path / f"p.{suffix}", truth=[0, 1] * 5000, tree=[0, 1] * 5000)
        assert too_long([path], 9000)
        assert not too_long([path], 11000)
        assert too_long([path, path], 11000)


@pytest.mark.parametrize(
    ("truth", "told"),
    [([], "at least 1 line")],
)
def test_what_cannot_be_counted_is_told(tmp_path, truth, told):
    path = write(tmp_path / "p.parquet", truth=pd.Series(truth, dtype=object), tree=pd.Series(["a"] * len(truth), dtype=object))
    with pytest.raises(InputError, match=told):
        LargeFile([path])
    with pytest.raises(InputError, match="all Parquet or all text"):
        LargeFile([path, tmp_path / "p.csv"])
