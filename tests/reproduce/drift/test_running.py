import dataclasses

import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier

from fairtrial.learners import C45
from fairtrial.reproduce.drift import running
from fairtrial.reproduce.drift.declared import plan_of
from fairtrial.reproduce.drift.running import run_parts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def matrices(folder):
    declared = dict(plan_of("smoke").declared)
    declared["learners"] = {name: told for name, told in declared["learners"].items() if "NN" not in name}
    plan = dataclasses.replace(plan_of("smoke"), n_train=40, n_test=40, replicates=2, declared=declared)
    return plan, run_parts(plan, seed=3, jobs=1, folder=folder)


def test_every_part_is_run_once(matrices):
    plan, found = matrices
    wanted = {part for variant in ("", "age in years") for part in plan.parts(variant).values()}
    assert set(found) == wanted
    assert all(not matrix.failures for matrix in found.values())


def test_tables_are_those_of_the_tutorial(matrices):
    plan, found = matrices
    frames = {table: found[part].frame() for (table, name), part in plan.parts().items() if name == "1R"}
    changed = {table: frame[frame["trained_on"] != frame["tested_on"]] for table, frame in frames.items()}
    assert {table: len(frame) for table, frame in changed.items()} == {"populations": 7, "missing": 10, "definitions": 6}
    assert set(changed["populations"]["trained_on"]) == {"NGP"} == set(changed["missing"]["tested_on"])


def test_the_same_patients_however_they_are_coded(matrices):
    plan, found = matrices
    by_coding = [found[plan.parts(variant)["populations", "1R"]].runs() for variant in ("", "age in years")]
    assert by_coding[0]["trivial"].tolist() == by_coding[1]["trivial"].tolist()
    assert by_coding[0]["error"].tolist() != by_coding[1]["error"].tolist()


def test_finished_parts_are_found_again_and_others_are_not(matrices, folder, monkeypatch):
    plan, found = matrices
    assert len(list(folder.iterdir())) == len(found)
    monkeypatch.setattr(running, "_run", None)  # whoever runs now fails
    again = run_parts(plan, seed=3, jobs=1, folder=folder)
    assert list(again) == list(found)
    for part, matrix in found.items():
        pd.testing.assert_frame_equal(again[part].runs(), matrix.runs())
        pd.testing.assert_frame_equal(again[part].frame(), matrix.frame())
    for changes in ({"n_test": 41}, {"replicates": 1}, {"n_train": 41}, {"rounds": 11}):
        with pytest.raises(TypeError):
            run_parts(dataclasses.replace(plan, **changes), seed=3, jobs=1, folder=folder)
    with pytest.raises(TypeError):
        run_parts(plan, seed=4, jobs=1, folder=folder)


def test_a_stopped_run_goes_on_with_what_is_missing(matrices, folder, tmp_path, monkeypatch):
    plan, found = matrices
    files = sorted(folder.iterdir())
    for path in files[1:]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    run, ran = running._run, []
    monkeypatch.setattr(running, "_run", lambda plan, part, *rest: ran.append(part) or run(plan, part, *rest))
    again = run_parts(plan, seed=3, jobs=1, folder=tmp_path)
    assert len(ran) == 1
    assert again[ran[0]].runs()["error"].tolist() == found[ran[0]].runs()["error"].tolist()


def only(name):
    """A plan of one learner."""
    told = plan_of("smoke")
    declared = dict(told.declared) | {"learners": {name: told.declared["learners"][name]}}
    return dataclasses.replace(told, n_train=40, n_test=40, variants=(), declared=declared)


def test_a_part_stopped_half_way_goes_on_after_the_last_training(tmp_path, monkeypatch):
    fit, trained = C45.fit, []

    def counted(self, *given):
        if len(trained) == 20:
            raise KeyboardInterrupt
        trained.append(self)
        return fit(self, *given)

    plan = only("Decision Tree")
    whole = run_parts(plan, seed=3, jobs=1, folder=tmp_path / "whole")
    monkeypatch.setattr(C45, "fit", counted)
    with pytest.raises(KeyboardInterrupt):
        run_parts(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    assert not list((tmp_path / "stopped").glob("*.npz"))  # the first part takes 2 x 11 trainings
    trained.clear()
    with pytest.raises(KeyboardInterrupt):
        run_parts(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    assert len(list((tmp_path / "stopped").glob("*.npz"))) == 2  # 2 trainings were left, then 2 x 8
    monkeypatch.setattr(C45, "fit", fit)
    again = run_parts(plan, seed=3, jobs=1, folder=tmp_path / "stopped")
    for part, matrix in whole.items():
        pd.testing.assert_frame_equal(again[part].runs(), matrix.runs())
    assert {each.suffix for each in (tmp_path / "stopped").iterdir()} == {".npz"}


def test_no_part_of_a_network_that_was_stopped_is_kept(tmp_path, monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_update_no_improvement_count", press)
    with pytest.raises(KeyboardInterrupt):
        run_parts(only("Complex NN"), seed=3, jobs=1, folder=tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize(("progress", "terminal", "shown"), [(True, False, True), (None, True, True), (None, False, False)])
def test_parts_that_are_begun_are_told(progress, terminal, shown, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    run_parts(only("1R"), 3, 1, tmp_path, progress)
    told = capsys.readouterr().err.splitlines()
    assert [line.split(" (")[0] for line in told] == [f"drift: part {place} of 3" for place in (1, 2, 3)] * shown
    assert all("1R" in line for line in told)
    run_parts(only("1R"), 3, 1, tmp_path, progress)
    assert capsys.readouterr().err == ""  # all are found
