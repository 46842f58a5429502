"""Tallies of files equal those of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally, auc, h_measure, ks, roc_curve


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 5000)
    return pd.DataFrame(
        {"y_true": truth, "score": (rng.normal(size=5000) + truth).round(2), "w": rng.integers(0, 4, 5000).astype(float)}
    )


def same(first, second):
    assert first.values == pytest.approx(second.values)
    assert first.pos == pytest.approx(second.pos)
    assert first.neg == pytest.approx(second.neg)


def test_parquet_equals_memory(rows, tmp_path):
    rows.to_parquet(tmp_path / "p.parquet")
    tally = ScoreTally.from_parquet(tmp_path / "p.parquet")
    same(tally, ScoreTally.from_scores(rows["y_true"], rows["score"]))
    for measure in (auc, ks, h_measure):
        assert measure.of(tally) == pytest.approx(measure(rows["y_true"], rows["score"]), rel=1e-12)


def test_all_scores_distinct_keep_one_byte_counts(tmp_path):
    pd.DataFrame({"y_true": [0, 1] * 500, "score": np.random.default_rng(1).random(1000)}).to_parquet(tmp_path / "p.parquet")
    tally = ScoreTally.from_parquet(tmp_path / "p.parquet")
    assert tally.pos.dtype == np.uint8
    assert len(tally.values) == 1000


def test_large_counts_get_room(tmp_path):
    frame = pd.DataFrame({"y_true": [0] * 70_000 + [1] * 300 + [1], "score": [0.1] * 70_000 + [0.1] * 300 + [0.9]})
    frame.to_parquet(tmp_path / "p.parquet")
    tally = ScoreTally.from_parquet(tmp_path / "p.parquet")
    assert (tally.pos.tolist(), tally.neg.tolist()) == ([1, 300], [0, 70_000])
    assert auc.of(tally) == pytest.approx(auc(frame["y_true"], frame["score"]))


def test_weights_names_and_csv(rows, tmp_path):
    rows = rows.assign(y_true=np.where(rows["y_true"] == 1, "it's", "not")).rename(columns={"score": 'my "score"'})
    rows.to_csv(tmp_path / "o'hara.csv", index=False)
    tally = ScoreTally.from_parquet(tmp_path / "o'hara.csv", score='my "score"', weight="w", positive="it's")
    expected = ScoreTally.from_scores(rows["y_true"], rows['my "score"'], positive="it's", sample_weight=rows["w"])
    kept = tally.pos + tally.neg > 0
    same(ScoreTally(tally.values[kept], tally.pos[kept], tally.neg[kept]), expected)


def test_little_memory_spills_to_disk(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"y_true": rng.integers(0, 2, 1_000_000), "score": rng.random(1_000_000)})
    frame.to_parquet(tmp_path / "p.parquet")
    tally = ScoreTally.from_parquet(tmp_path / "p.parquet", memory_limit="64MB")
    assert auc.of(tally) == pytest.approx(auc(frame["y_true"], frame["score"]), rel=1e-12)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ({"y_true": [0, 1], "scores": [0.1, 0.2]}, {}, "'score'.*'scores'"),
        ({"y_true": [0, 1], "score": [0.1, np.nan]}, {}, "scores.*1"),
        ({"y_true": [0, 1], "score": [0.1, np.inf]}, {}, "scores.*1"),
        ({"y_true": [0, 1], "score": ["a", "b"]}, {}, "scores"),
        ({"y_true": [0, None], "score": [0.1, 0.2]}, {}, "y_true"),
        ({"y_true": [0, 1, 2], "score": [0.1, 0.2, 0.3]}, {}, "positive"),
        ({"y_true": [0, 1], "score": [0.1, 0.2]}, {"positive": 7}, "positive.*7"),
        ({"y_true": [0, 1], "score": [0.1, 0.2], "w": [1.0, -1.0]}, {"weight": "w"}, "weights.*1"),
        ({"y_true": np.array([], dtype=int), "score": np.array([], dtype=float)}, {}, "0"),
    ],
)
def test_bad_files_are_refused(frame, options, message, tmp_path):
    pd.DataFrame(frame).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=message):
        ScoreTally.from_parquet(tmp_path / "p.parquet", **options)


def test_absent_and_foreign_files_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"path.*absent.parquet"):
        ScoreTally.from_parquet(tmp_path / "absent.parquet")
    (tmp_path / "foreign.parquet").write_text("this is not Parquet")
    with pytest.raises(InputError, match=r"path.*foreign.parquet"):
        ScoreTally.from_parquet(tmp_path / "foreign.parquet")


def test_curves_of_a_file_hold_every_score(tmp_path):
    """One-byte counts must not overflow: 128 positives and 128 negatives are 256 cases."""
    frame = pd.DataFrame({"y_true": [1] * 128 + [0] * 128 + [1, 0, 0], "score": [0.5] * 256 + [0.9, 0.2, 0.1]})
    frame.to_parquet(tmp_path / "p.parquet")
    curve = roc_curve.of(ScoreTally.from_parquet(tmp_path / "p.parquet"))
    assert curve["threshold"].tolist() == [np.inf, 0.9, 0.5, 0.2, 0.1]
    assert curve["tpr"].tolist() == pytest.approx([0, 1 / 129, 1, 1, 1])


def test_patterns_numpy_positives_and_text_in_csv(tmp_path):
    for part in (1, 2):
        pd.DataFrame({"y_true": [0, 1], "score": [0.1 * part, 0.3 * part]}).to_parquet(tmp_path / f"{part}.parquet")
    assert auc.of(ScoreTally.from_parquet(tmp_path / "*.parquet", positive=np.int64(1))) == 1.0
    pd.DataFrame({"t": ["no", "yes"], "s": [0.1, 0.9]}).to_csv(tmp_path / "a.csv", index=False)
    assert auc.of(ScoreTally.from_parquet(tmp_path / "a.csv", y_true="t", score="s", positive="yes")) == 1.0
    with pytest.raises(InputError, match="memory_limit"):
        ScoreTally.from_parquet(tmp_path / "a.csv", y_true="t", score="s", memory_limit="lots")
