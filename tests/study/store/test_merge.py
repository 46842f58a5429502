"""Merging: any order, any number of times, the same evidence."""

import itertools
import shutil
from dataclasses import replace

import pytest

from fairtrial.errors import InputError, StoreError
from fairtrial.study.records import CODES, pack
from fairtrial.study.store import schema
from fairtrial.study.store.store import open_store
from fairtrial.study.store.transfer import merge
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
LINKS = STUDY.links()


def digest(path):
    with open_store(path) as store:
        store.check()
        return store.compute_digest()


def store_of(path, *evidence, study=STUDY):
    with open_store(path, write=True, create=True) as store:
        study.plan_into(store)
        store.start_run({"engine": "local"})
        for each, link in evidence:
            store.add_records([(each, link)])
    return path


@pytest.fixture
def shards(tmp_path):
    """Shards that share some trials: one fails where another succeeds, some fail alike, some fail differently."""
    failing, other = LINKS[30], LINKS[31]
    first = [(STUDY.success(link), link) for link in LINKS[:20]] + [(STUDY.failure(failing), failing)]
    second = [(STUDY.success(link), link) for link in LINKS[15:32] if link != other] + [(STUDY.failure(other, "crash"), other)]
    third = [(STUDY.failure(link, "timeout"), link) for link in (failing, other, LINKS[33])]
    return [store_of(tmp_path / f"part-{i}", *each) for i, each in enumerate((first, second, third))]


def test_shards_together_are_the_whole(tmp_path):
    whole = STUDY.filled(tmp_path / "whole")
    parts = [STUDY.filled(tmp_path / f"part-{i}", LINKS[i::3]) for i in range(3)]
    before = [part.read_bytes() for part in parts]
    merged = merge(tmp_path / "merged", parts)
    assert digest(tmp_path / "merged") == digest(whole)
    assert (
        merged.frame()[["trials", "added", "replaced", "unchanged", "different"]].to_numpy().tolist() == [[16, 16, 0, 0, 0]] * 3
    )
    assert merged.notes == ()
    assert str(merged).startswith(f"{tmp_path / 'merged'}: 48 trials")
    assert [part.read_bytes() for part in parts] == before
    with open_store(tmp_path / "merged") as store, open_store(whole) as other:
        first, second = store.open_archive(), other.open_archive()
        left, right = (each.trials().drop(columns="trial") for each in (first, second))
        assert left.equals(right)
        predicted = [
            [each.scores.tolist() for each in archive.predictions(archive.trials()["trial"])] for archive in (first, second)
        ]
        assert predicted[0] == predicted[1]
        assert first.split("people", 1, 0)[0].tolist() == second.split("people", 1, 0)[0].tolist()


def test_any_order_gives_the_same_and_twice_changes_nothing(tmp_path, shards):
    found = set()
    for number, order in enumerate(itertools.permutations(shards)):
        target = tmp_path / f"merged-{number}"
        merge(target, order)
        found.add(digest(target))
        contents = table(target)
        merge(target, order)
        merge(target, [order[0]])
        assert table(target) == contents
    assert len(found) == 1
    one_by_one = tmp_path / "one-by-one"
    for shard in shards:
        merge(one_by_one, [shard])
    assert found == {digest(one_by_one)}
    with open_store(one_by_one) as store:
        assert store.count_by_status()["ok"] == 31
        assert len(store.find_done()) == 33
        assert len(store.open_archive().runs) == 3


def table(path):
    with open_store(path) as store, store.file.read_connection() as connection:
        names = ("study", "dataset", "condition", "learner", "split", "run", "trial", "evidence")
        return [connection.execute(f"SELECT * FROM {name}").fetchall() for name in names]


def test_a_success_wins_over_a_failure_in_both_directions(tmp_path):
    good, bad = store_of(tmp_path / "good", (STUDY.success(LINKS[0]), LINKS[0])), tmp_path / "bad"
    store_of(bad, *[(STUDY.failure(LINKS[0]), LINKS[0])] * 3)
    for name, order, replaced in (("a", [good, bad], [0, 0]), ("b", [bad, good], [0, 1])):
        merged = merge(tmp_path / name, order)
        assert merged.frame()["replaced"].tolist() == replaced
        with open_store(tmp_path / name) as store:
            assert store.count_by_status() == {"ok": 1}
            assert len(next(iter(store.open_archive().predictions([1]))).prediction) == 6
    assert digest(tmp_path / "a") == digest(tmp_path / "b") == digest(good)


def test_different_successes_are_told_and_one_is_kept_in_any_order(tmp_path):
    one = STUDY.success(LINKS[0])
    paths = [store_of(tmp_path / f"{i}", (replace(one, prediction=pack([i] * 6, CODES)), LINKS[0])) for i in range(3)]
    found = set()
    for number, order in enumerate(itertools.permutations(paths)):
        merged = merge(tmp_path / f"merged-{number}", order)
        found.add(digest(tmp_path / f"merged-{number}"))
        assert merged.frame()["different"].tolist() == [0, 1, 1]
        assert any(note.startswith(f"1 trial of {order[2].name} ") for note in merged.notes)
        assert all(note in str(merged) and f"<br>{note}" in merged._repr_html_() for note in merged.notes)
    assert len(found) == 1
    assert found < {digest(path) for path in paths}


def test_studies_of_one_name_that_differ_are_told_and_the_last_is_kept(tmp_path):
    first = STUDY.filled(tmp_path / "first")
    wider = SmallStudy(learners=("tree", "forest", "stump"))
    second = wider.filled(tmp_path / "second", wider.links()[-4:])
    merged = merge(tmp_path / "merged", [first, second])
    (note,) = merged.notes
    assert "'small'" in note
    assert "second" in note
    with open_store(tmp_path / "merged") as store:
        frame = store.open_archive().trials()
    assert len(frame) == 72
    assert (frame["status"] == "ok").sum() == 52


def test_what_cannot_be_merged_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    part = STUDY.filled(tmp_path / "part")
    for sources, told in (
        ([], r"sources must .*, got \[\]"),
        (str(part), "sources must"),
        ([part, tmp_path / "target"], "sources must not contain"),
    ):
        with pytest.raises(InputError, match=told):
            merge(tmp_path / "target", sources)
    with pytest.raises(StoreError, match="does not exist"):
        merge(tmp_path / "target", [part, tmp_path / "none"])
    newer = shutil.copy(part, tmp_path / "newer")
    monkeypatch.setattr(schema, "VERSION", 3)
    with open_store(tmp_path / "other", write=True, create=True) as store, store.file.write_transaction() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    with pytest.raises(StoreError, match="schema 2"):
        merge(tmp_path / "target", [newer])
    monkeypatch.setattr(schema, "VERSION", 2)
    with pytest.raises(StoreError, match="schema 3"):
        merge(tmp_path / "target", [part, tmp_path / "other"])
    assert not (tmp_path / "target").exists()
    with (
        open_store(tmp_path / "target", write=True, create=True),
        pytest.raises(StoreError, match="process"),
    ):
        merge(tmp_path / "target", [part])


def test_a_shard_that_is_being_written_can_be_merged(tmp_path):
    with open_store(tmp_path / "part", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.success(link), link) for link in LINKS[:10]])
        assert merge(tmp_path / "target", [tmp_path / "part"]).files[0].added == 10
        store.add_records([(STUDY.success(link), link) for link in LINKS[10:]])
    assert merge(tmp_path / "target", [tmp_path / "part"]).files[0].added == 38
    assert digest(tmp_path / "target") == digest(tmp_path / "part")
