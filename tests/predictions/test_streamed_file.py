import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally
from fairtrial.predictions import streamed
from fairtrial.predictions.judgement import is_too_long
from fairtrial.predictions.streamed import StreamedFile, quote_identifier, quote_literal


def write(path, **columns):
    frame = pd.DataFrame(columns)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("batch", [7, 1 << 18])
def test_tallies_are_those_in_memory_with_and_without_ties(tmp_path, monkeypatch, digits, batch):
    monkeypatch.setattr(streamed, "_BATCH", batch)
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 3000), rng.random(3000).round(digits)
    scores[:40] = scores[0]  # a run that goes over batches
    path = write(tmp_path / "p.parquet", truth=truth, tree_score=scores)
    with StreamedFile([path]) as file:
        found = file.tally('"tree_score"', '"truth" = 1', "TRUE", None)
        half = file.tally('"tree_score"', '"truth" = 1', '"tree_score" > 0.5', None)
    expected = ScoreTally.from_scores(truth, scores)
    assert found.frame().astype(float).equals(expected.frame())
    assert half.values.min() > 0.5
    assert half.positives == ((scores > 0.5) & (truth == 1)).sum()


def test_weights_are_added_up(tmp_path):
    path = write(tmp_path / "p.csv", truth=["a", "b", "b"], tree_score=[0.5, 0.5, 0.25], w=[1.5, 2.0, 0.5])
    with StreamedFile([path]) as file:
        found = file.tally('"tree_score"', "\"truth\" = 'b'", "TRUE", '"w"')
    assert found.frame().values.tolist() == [[0.5, 2.0, 1.5], [0.25, 0.5, 0.0]]


def test_counts_beyond_a_byte(tmp_path):
    path = write(tmp_path / "p.parquet", truth=[0, 1] * 400, tree_score=[0.5, 0.25] * 400)
    with StreamedFile([path]) as file:
        assert file.tally('"tree_score"', '"truth" = 1', "TRUE", None).frame().values.tolist() == [
            [0.5, 0, 400],
            [0.25, 400, 0],
        ]


def test_roles_see_classes_beyond_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "_SAMPLE", 3)
    columns = {"truth": ["a"] * 5 + ["b"], "tree_a": [0.5] * 6, "tree_b": [0.5] * 6}
    with StreamedFile([write(tmp_path / "p.parquet", **columns)]) as file:
        assert file.roles.models[0].scores == (("a", "tree_a"), ("b", "tree_b"))


def test_names_and_values_in_sql_are_harmless(tmp_path):
    odd = 'a "b" {c}'
    path = write(tmp_path / "it's {odd}.parquet", **{"truth": ["x'y", "z"], odd: ["x'y", "z"]})
    with StreamedFile([path], prediction={"m": odd}) as file:
        assert file.fetch_rows(
            f"SELECT count(*) FROM judged WHERE {quote_identifier(odd)} = {quote_literal(chr(120) + chr(39) + 'y')}"
        ) == [(1,)]
    assert (quote_literal(True), quote_literal(1), quote_literal(0.5), quote_literal(np.int64(3))) == ("TRUE", "1", "0.5", "3")


def test_lines_of_long_files_are_estimated(tmp_path):
    for suffix in ("csv", "parquet"):
        path = write(tmp_path / f"p.{suffix}", truth=[0, 1] * 5000, tree=[0, 1] * 5000)
        assert is_too_long([path], 9000)
        assert not is_too_long([path], 11000)
        assert is_too_long([path, path], 11000)


def test_empty_and_mixed_files_are_refused(tmp_path):
    path = write(tmp_path / "p.parquet", truth=pd.Series([], dtype=object), tree=pd.Series([], dtype=object))
    with pytest.raises(InputError, match=r"p\.parquet"):
        StreamedFile([path])
    with pytest.raises(InputError, match="Parquet"):
        StreamedFile([path, tmp_path / "p.csv"])
