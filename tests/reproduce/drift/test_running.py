import dataclasses

import pandas as pd
import pytest

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
    monkeypatch.setattr(running, "_run", lambda plan, part, seed: ran.append(part) or run(plan, part, seed))
    again = run_parts(plan, seed=3, jobs=1, folder=tmp_path)
    assert len(ran) == 1
    assert again[ran[0]].runs()["error"].tolist() == found[ran[0]].runs()["error"].tolist()
