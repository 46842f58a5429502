"""The table of trials: a line for each planned one, beside a twin that loops."""

import numpy as np
import pandas as pd

from fairtrial.study.archive import TRIAL_COLUMNS
from fairtrial.study.store.archive import PlannedTrials
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
LINKS = STUDY.links()


def twin(study, stored):
    """Names, numbers and status of each planned trial, by loops."""
    names = {own: name for name, own in study.header["data"]}
    return [
        (
            names[data],
            condition,
            level,
            learner,
            repeat,
            fold,
            stored.get((data, own, learner_hash, bytes.fromhex(split)), "missing"),
        )
        for _, data in study.header["data"]
        for condition, level, own in study.header["conditions"]
        for learner, learner_hash in study.header["learners"]
        for repeat, fold, split in study.header["splits"][data]
    ]


def table(frame):
    columns = ["dataset", "condition", "level", "learner", "repeat", "fold", "status"]
    return list(frame[columns].astype(object).itertuples(index=False, name=None))


def test_trials_are_those_of_the_header_with_what_is_stored(tmp_path):
    rng = np.random.default_rng(3)
    chosen = [LINKS[i] for i in rng.permutation(len(LINKS))[:30]]
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        assert table(store.open_archive().trials()) == twin(STUDY, {})
        good, bad = chosen[:25], chosen[25:]
        times = {link: float(i) for i, link in enumerate(good)}
        store.add_records([(STUDY.success(link, fit_time=times[link], notes=f"note {times[link]:g}"), link) for link in good])
        store.add_records(
            [(STUDY.failure(link, "memory", message=f"of {link.learner[:4]}", memory=2**40), link) for link in bad]
        )
        frame = store.open_archive().trials()
    assert tuple(frame.columns) == TRIAL_COLUMNS
    stored = {(link.data, link.condition, link.learner, link.split): "ok" for link in good}
    stored |= {(link.data, link.condition, link.learner, link.split): "memory" for link in bad}
    assert table(frame) == twin(STUDY, stored)
    for place, link in enumerate(LINKS):
        line = frame.iloc[place]
        if link in times:
            assert (line["fit_time"], line["notes"], line["realised_level"]) == (times[link], f"note {times[link]:g}", 0.25)
            assert line["error"] is None
        elif link in bad:
            assert (line["error"], line["message"], line["memory"]) == ("ValueError", f"of {link.learner[:4]}", 2**40)
            assert np.isnan(line["fit_time"])
        else:
            assert line["trial"] == -1
            assert line["error"] is None
    assert sorted(frame["trial"][frame["trial"] > 0]) == list(range(1, 31))
    assert all(isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("dataset", "condition", "learner", "status"))


def test_trials_of_another_seed_protocol_or_study_are_not_mixed_in(tmp_path):
    """Splits that are given do not depend on the seed: then only the keys of two studies differ."""
    other = SmallStudy(seed=2**80, name="other", learners=("forest", "stump"))
    other.data = STUDY.data
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        STUDY.plan_into(store)
        store.add_records([(STUDY.success(link), link) for link in LINKS])
        other.plan_into(store)
        shared = [link for link in other.links() if link.learner == other.learners[0][0]]
        store.add_records([(other.failure(link), link) for link in shared[:5]])
        assert store.open_archive("small").trials()["status"].value_counts()["ok"] == 48
        frame = store.open_archive("other").trials()
        assert frame["status"].value_counts().to_dict() == {"missing": 43, "error": 5} | dict.fromkeys(
            ["ok", "timeout", "memory", "crash"], 0
        )
        with store.file.write_transaction() as connection:
            connection.execute("UPDATE trial SET protocol = 99 WHERE status = 'error'")
        assert (store.open_archive("other").trials()["status"] == "missing").all()


def test_numbers_that_the_header_does_not_know_have_no_line(tmp_path):
    with open_store(STUDY.filled(tmp_path / "a.fairtrial")) as store, store.file.read_connection() as connection:
        planned = PlannedTrials.from_header(connection, STUDY.header)
    known, unknown = np.array([1]), np.array([10_000])
    assert planned.locate_lines(known, known, known, known).tolist() == [0]
    for place in range(4):
        numbers = [known] * 4
        numbers[place] = unknown
        assert planned.locate_lines(*numbers).tolist() == [-1]
