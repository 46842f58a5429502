"""Lines of a plan: by hash, once, with the latest names."""

from dataclasses import replace

import numpy as np
import pytest

from fairtrial.errors import InputError, StoreError
from fairtrial.study.store.codec import StoreIds, put_study
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        yield store


def test_ids_find_what_a_trial_is_about(store):
    with store.file.read_connection() as connection:
        ids = StoreIds.from_connection(connection)
    numbers = [ids.resolve_link(link, store.path) for link in STUDY.links()]
    assert len(set(numbers)) == len(STUDY.links()) == 48
    assert [len({each[place] for each in numbers}) for place in range(4)] == [2, 3, 8, 2]
    wrong = STUDY.links()[0]._replace(split=b"none")
    with pytest.raises(StoreError, match=r"\(1, b'none'\)"):
        ids.resolve_link(wrong, store.path)


def test_the_same_split_of_two_data_sets_is_kept_for_each(store):
    (data, own, rows), other = STUDY.splits[0], STUDY.data[1].content_hash
    small = replace(rows, train=np.array([0, 1]), test=np.array([2]))
    store.add_plan(STUDY.header, [], [], [], [(other, own, small), (data, own, rows)])
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT count(*) FROM split WHERE hash = ?", (own,)).fetchone() == (2,)


def test_a_split_of_an_unknown_data_set_is_refused(store):
    with pytest.raises(StoreError, match="data set nowhere"):
        store.add_plan(STUDY.header, [], [], [], [("nowhere", *STUDY.splits[0][1:])])


def test_the_latest_names_and_row_ids_stay(store):
    renamed = replace(STUDY.data[0], name="blossoms", row_ids=np.array([f"row {i}" for i in range(12)]))
    header = {**STUDY.header, "data": [("blossoms", renamed.content_hash), STUDY.header["data"][1]]}
    learner, facts = STUDY.learners[0]
    store.add_plan(header, [renamed], [], [(learner, replace(facts, name="wood"))], [])
    archive = store.open_archive()
    assert archive.datasets[0].name == "blossoms"
    assert archive.datasets[0].row_ids[3] == "row 3"
    with store.file.read_connection() as connection:
        assert connection.execute("SELECT id, name FROM learner ORDER BY id").fetchall() == [(1, "wood"), (2, "forest")]


def test_a_study_is_told_whether_it_changes(store):
    with store.file.write_transaction() as connection:
        header = connection.execute("SELECT header FROM study").fetchone()[0]
        assert not put_study(connection, "small", header, 1)
        assert not put_study(connection, "other", "{}", 1)
        assert put_study(connection, "small", "{}", 1)
        found = connection.execute("SELECT name, header FROM study ORDER BY turn").fetchall()
        assert found == [("other", "{}"), ("small", "{}")]


def test_names_that_no_file_can_hold_are_refused(store):
    header, odd = {**STUDY.header, "name": "half \ud83d"}, "half \ud83d"
    (condition, about), (learner, facts) = STUDY.conditions[0], STUDY.learners[0]
    plans = {
        "study": (header, [], [], [], []),
        "data set": (STUDY.header, [replace(STUDY.data[0], name=odd)], [], [], []),
        "condition": (STUDY.header, [], [(condition, replace(about, name=odd))], [], []),
        "learner": (STUDY.header, [], [], [(learner, replace(facts, name=odd))], []),
    }
    for what, plan in plans.items():
        with pytest.raises(InputError, match=rf"name of a {what} must .*, got 'half \\ud83d'"):
            store.add_plan(*plan)


def test_the_latest_row_ids_count_for_all_studies_of_the_same_data(store):
    renamed = replace(STUDY.data[0], row_ids=np.arange(12) + 100)
    store.add_plan({**STUDY.header, "name": "later"}, [renamed], [], [], [])
    assert store.open_archive("small").datasets[0].row_ids.tolist() == list(range(100, 112))
