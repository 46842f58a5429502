import dataclasses

import pytest

from fairtrial.reproduce.drift.declared import plan_of
from fairtrial.reproduce.drift.running import run_parts


@pytest.fixture(scope="module")
def matrices():
    declared = dict(plan_of("smoke").declared)
    declared["learners"] = {name: told for name, told in declared["learners"].items() if "NN" not in name}
    plan = dataclasses.replace(plan_of("smoke"), n_train=40, n_test=40, replicates=1, declared=declared)
    return plan, run_parts(plan, seed=3, jobs=1)


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
