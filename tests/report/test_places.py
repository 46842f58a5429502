"""Where figures and sections look."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.selection import Selection, get_main_condition, list_changed_conditions, map_unique_keys
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition, mask_condition
from tests.report.drifting import drifting
from tests.report.result_cases import cases


def test_the_main_condition_is_clean_or_the_first():
    assert get_main_condition(cases()["several"]).name == "clean"
    assert get_main_condition(cases()["noise alone"]).name == "class-noise"


def test_a_selection_names_its_data_set_condition_and_class():
    results = cases()["several"]
    with pytest.raises(InputError, match="dataset"):
        Selection().find_dataset(results)
    with pytest.raises(InputError, match="'iris'"):
        Selection(dataset="irs").check_dataset(results)
    cancer = Selection(dataset="cancer").find_dataset(results)
    assert Selection().find_condition(results).name == "clean"
    assert Selection(condition="class-noise").find_condition(results).level == 0.2
    assert Selection().find_positive(results, cancer) == "malignant"
    assert Selection(positive="benign").find_positive(results, cancer) == "benign"
    assert Selection(positive={"cancer": "benign"}).find_positive(results, cancer) == "benign"


def test_conditions_of_the_test_part_alone_are_apart():
    assert list(list_changed_conditions(drifting(), test_only=True)) == ["worn"]
    assert list(list_changed_conditions(drifting(), test_only=False)) == ["worn-all"]


@pytest.mark.parametrize(("level", "expected"), [(0.1, [True, False, False]), (float("nan"), [False, False, True])])
def test_lines_of_a_condition_with_and_without_a_level(level, expected):
    frame = pd.DataFrame({"condition": pd.Categorical(["a", "b", "a"]), "level": [0.1 + 1e-15, 0.1, np.nan]})
    assert mask_condition(frame, ConditionFacts("a", level, "", {})).tolist() == expected


def test_a_condition_without_a_level_is_told_by_its_name():
    assert format_condition(ConditionFacts("gap", float("nan"), "", {})) == "gap"


def test_keys_are_plain_and_no_two_alike():
    keys = map_unique_keys(["<script>", "script", "Ünïcode", "日本"])
    assert len(set(keys.values())) == 4
    assert all(set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for key in keys.values())


def test_long_names_give_keys_that_a_file_may_have_and_no_two_alike():
    names = ["x" * 300, "x" * 299 + "y", "é" * 300, "a b " * 100]
    keys = map_unique_keys(names)
    assert len(set(keys.values())) == 4
    assert max(map(len, keys.values())) <= 90
    assert not any(key.endswith("-") for key in keys.values())
