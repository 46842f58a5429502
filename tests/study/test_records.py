"""Records cross processes, and none of them can be changed on its way."""

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import zstandard
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fairtrial._narrative import render
from fairtrial.conditions import ClassNoise
from fairtrial.errors import StoreError
from fairtrial.learners import Chi, Prepared
from fairtrial.study.archive import TRIAL_COLUMNS, Archive, ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.randomness import derive_generator, derive_seed
from fairtrial.study.records import (
    ABSTAINED,
    CODES,
    FAILURES,
    INDICES,
    NUMBERS,
    Chunk,
    DataRequest,
    Predictions,
    ResourceLimits,
    SplitRows,
    TrialRecord,
    TrialTask,
    find_abstention_label,
    pack,
    unpack,
)
from fairtrial.study.results.summary import count_abstentions, find_abstentions
from tests.study.archives import CLEAN, archive_of, data_facts

# --- Records ---
# Records cross processes, and none of them can be changed on its way.


TASK = TrialTask(b"k" * 16, split=0, condition=0, learner=0, condition_seed=2**100, learner_seed=7)


def test_a_chunk_survives_the_way_to_a_worker():
    rows = SplitRows(np.array([0, 1, 4]), np.array([2, 3]), repeat=1, fold=2)
    chunk = Chunk("hash", (rows,), (ClassNoise(0.1),), (b"learner",), (TASK,), ResourceLimits(2.5, 10**9))
    back = pickle.loads(pickle.dumps(chunk))
    assert (back.data, back.conditions, back.learners, back.tasks, back.limits) == (
        "hash",
        (ClassNoise(0.1),),
        (b"learner",),
        (TASK,),
        ResourceLimits(2.5, 10**9),
    )
    assert back.splits[0].train.tolist() == [0, 1, 4]
    assert back.splits[0].test.tolist() == [2, 3]
    assert (back.splits[0].repeat, back.splits[0].fold) == (1, 2)


def test_evidence_and_needs_survive_the_way_back():
    evidence = TrialRecord(b"k" * 16, "timeout", memory=5, message="too slow")
    assert pickle.loads(pickle.dumps(evidence)) == evidence
    assert pickle.loads(pickle.dumps(DataRequest("hash"))) == DataRequest("hash")


@pytest.mark.parametrize(
    "record", [TASK, ResourceLimits(), DataRequest("hash"), TrialRecord(b"", "ok")], ids=lambda one: type(one).__name__
)
def test_records_cannot_be_changed(record):
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(record, fields(record)[0].name, None)


def test_a_failure_is_everything_but_success():
    assert set(FAILURES) == {"error", "timeout", "memory", "crash"}


def test_evidence_of_a_failure_has_no_columns():
    failed = TrialRecord(b"k" * 16, "crash")
    assert [getattr(failed, name) for name in ("prediction", "scores", "rows", "y_true")] == [None] * 4


# --- Evidence ---
# Columns come back as they went in, bit for bit; damaged bytes are refused.


@given(arrays.arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_numbers_keep_every_bit(values):
    assert unpack(pack(values, NUMBERS), NUMBERS).tobytes() == values.tobytes()


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=60))
def test_codes_come_back(codes):
    assert unpack(pack(codes, CODES), CODES).tolist() == codes


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=60))
def test_places_come_back(places):
    assert unpack(pack(places, INDICES), INDICES).tolist() == places


def test_neighbouring_scores_stay_apart():
    close = np.array([1.0, np.nextafter(1.0, 0), np.nextafter(np.nextafter(1.0, 0), 0)])
    assert len(set(unpack(pack(close, NUMBERS), NUMBERS).tolist())) == 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_are_kept_row_after_row(order):
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], order=order)
    assert unpack(pack(table, NUMBERS), NUMBERS).tolist() == [1, 2, 3, 4, 5, 6]
    assert unpack(pack(table[::2], NUMBERS), NUMBERS).tolist() == [1, 2, 5, 6]


def test_bytes_are_little_endian_whatever_came():
    raw = zstandard.ZstdDecompressor().decompress(pack(np.array([1, 256], dtype=">i8"), INDICES))
    assert raw == b"\x01\x00\x00\x00\x00\x01\x00\x00"


def test_equal_columns_have_equal_bytes_in_every_thread():
    values = np.linspace(0, 1, 500)
    with ThreadPoolExecutor(4) as pool:
        barrier = threading.Barrier(4)

        def packed(_):
            barrier.wait(30)
            return pack(values, NUMBERS)

        assert set(pool.map(packed, range(4))) == {pack(values, NUMBERS)}


def test_what_was_kept_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        unpack(pack([1.0], NUMBERS), NUMBERS)[0] = 2.0


@given(st.binary(max_size=40))
def test_foreign_bytes_are_refused(damaged):
    with pytest.raises(StoreError, match="corrupted"):
        unpack(damaged, NUMBERS)


@given(st.integers(0, 60))
def test_cut_off_bytes_are_refused(kept):
    whole = pack(np.random.default_rng(1).random(20), NUMBERS)
    with pytest.raises(StoreError, match="corrupted"):
        unpack(whole[: min(kept, len(whole) - 1)], NUMBERS)


def test_bytes_of_another_type_are_refused():
    with pytest.raises(StoreError, match="corrupted"):
        unpack(pack([1, 2, 3], CODES), NUMBERS)


def test_a_single_bit_that_fell_over_is_found():
    whole = pack(np.random.default_rng(1).random(20), NUMBERS)
    values = unpack(whole, NUMBERS).tolist()
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        try:
            assert unpack(bytes(damaged), NUMBERS).tolist() == values, place
        except StoreError:
            continue


# --- Archive ---
# What results need to know of a data set, and what any keeper of evidence has to offer.


def test_counts_hold_classes_without_rows():
    facts = DataFacts("mine", "hash", ("a", "b", "c"), np.array([0, 2, 2, 0, 0]), np.arange(5))
    assert facts.counts.tolist() == [3, 0, 2]


def test_rows_without_a_class_do_not_count():
    facts = DataFacts("mine", "hash", ("a", "b"), np.array([0, -1, 1, -1]), np.arange(4))
    assert facts.counts.tolist() == [1, 1]


def test_facts_of_conditions_and_learners_are_equal_by_what_they_say():
    assert ConditionFacts("noise", 0.1, "words", {"level": 0.1}) == ConditionFacts("noise", 0.1, "words", {"level": 0.1})
    assert LearnerFacts("nb", "GaussianNB", {}, {}) != LearnerFacts("nb", "GaussianNB", {"a": 1}, {})


def test_the_table_of_trials_holds_all_of_the_evidence_but_the_columns_of_rows():
    own = {name for name in TrialRecord.__dataclass_fields__ if name in TRIAL_COLUMNS}
    columns = {"key", "prediction", "scores", "score_kind", "rows", "y_true", "level"}
    assert own == set(TrialRecord.__dataclass_fields__) - columns | {"level"}
    assert len(set(TRIAL_COLUMNS)) == len(TRIAL_COLUMNS)


def test_an_archive_offers_what_results_ask_for():
    offered = {name for name in vars(Archive) if not name.startswith("_")}
    assert {"name", "declaration", "seed", "datasets", "conditions", "learners", "runs"} <= offered
    assert {"trials", "predictions", "split"} <= offered


# --- Randomness ---


def test_names_and_seed_decide_and_their_order_counts():
    seeds = {
        derive_seed(0, "a", "b"),
        derive_seed(1, "a", "b"),
        derive_seed(0, "b", "a"),
        derive_seed(0, "ab"),
        derive_seed(0, "a", "b", 0),
    }
    assert len(seeds) == 5
    assert derive_seed(0, "a", 1) == derive_seed(0, "a", "1")


def test_parts_of_names_cannot_be_confused():
    assert derive_seed(0, "a', 'b") != derive_seed(0, "a", "b")


def test_another_process_has_the_same_numbers():
    code = "from fairtrial.study.randomness import derive_seed; print(derive_seed(3, 'flu', 'train', 7))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(told) == derive_seed(3, "flu", "train", 7)


def test_generators_are_uniform():
    assert derive_generator(5, "x").random(100_000).mean() == pytest.approx(0.5, abs=0.005)


# --- Abstaining ---
# Learners that abstain: their label, the stored number of abstentions, and the counts by learner.


X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "learner",
    [
        Chi(),
        Prepared(Chi()),
        make_pipeline(MinMaxScaler(), Chi()),
        GridSearchCV(Chi(), {"labels": [3, 5]}, cv=2, scoring="accuracy"),
        GridSearchCV(make_pipeline(MinMaxScaler(), Prepared(Chi())), {"prepared__learner__labels": [3]}, cv=2),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_label_is_found_inside_wrappers(learner):
    assert find_abstention_label(learner.fit(X, Y)) == -1


@pytest.mark.parametrize("learner", [GaussianNB(), Prepared(GaussianNB()), make_pipeline(MinMaxScaler(), GaussianNB())])
def test_most_learners_have_no_label(learner):
    assert find_abstention_label(learner.fit(X, Y)) is None


def archive_with(predictions):
    """An archive of one data set; `predictions` has a list of predicted codes, or a status, for each learner and split."""
    n_splits = max(map(len, predictions.values()))
    splits = {"x": {(0, fold): (np.arange(10, 20), np.arange(10)) for fold in range(n_splits)}}
    facts = data_facts("x", [0, 1, 2, 0, 1] * 4, ("a", "b", "c"))

    def predict(_, __, learner, ___, fold):
        codes = predictions[learner][fold]
        if isinstance(codes, str):
            return codes
        rows = np.arange(len(codes))
        return Predictions(rows, facts.codes[rows], np.array(codes), None, None)

    return archive_of([facts], [CLEAN], list(predictions), splits, predict)


def test_abstentions_are_counted_by_learner():
    archive = archive_with(
        {
            "chi": [[0, ABSTAINED, ABSTAINED, 2], [1, 1], [ABSTAINED]],
            "tree": [[0, 1, 1], [0], [1]],
            "rules": ["timeout", "timeout", [1]],
        }
    )
    expected = {"learner": "chi", "trials": 3, "abstaining": 2, "rows": 5, "abstained": 3}
    assert count_abstentions(archive, archive.trials()).to_dict("records") == [expected]
    (finding,) = find_abstentions(archive, archive.trials())
    assert (finding.kind, dict(finding.values)) == ("abstentions", expected)
    assert render(finding).startswith("chi abstained on 3 of 5 test rows")


def test_no_abstention_gives_no_finding():
    archive = archive_with({"tree": [[0, 1]]})
    assert find_abstentions(archive, archive.trials()) == []


def test_failed_trials_do_not_count():
    archive = archive_with({"chi": [[ABSTAINED], "timeout"]})
    trials = archive.trials()
    trials["abstentions"] = 1
    assert count_abstentions(archive, trials)["trials"].tolist() == [1]
