"""Differences set by set and their means with intervals."""

from itertools import takewhile

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_1samp

from fairtrial.reproduce.dobscv.effects import (
    bases,
    by_sets,
    effects_table,
    family,
    family_interval,
    mean_effects,
    set_differences,
    told_of,
)
from fairtrial.reproduce.dobscv.sets import declared
from fairtrial.reproduce.dobscv.table5 import ranked_runs
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV
from tests.reproduce.dobscv.conftest import LEARNERS, made_cells


def test_the_interval_is_over_sets_of_means_over_runs():
    shift = np.random.default_rng(1).normal(0.01, 0.02, size=66)
    cells = made_cells(lambda scheme, _, place, run: 0.7 + (shift[place] + (0.1 if run else -0.1) if "DOB" in scheme else 0.0))
    found = mean_effects(set_differences(cells, LITERAL, GIVEN))["SMO"]
    assert found.value == pytest.approx(shift.mean())
    names = list(declared()["data"])
    families = np.array(["".join(takewhile(lambda sign: not sign.isdigit(), name)) for name in names])
    assert {family(name) for name in names} == set(families)
    sums = [(shift - shift.mean())[families == each].sum() for each in dict.fromkeys(families)]
    count = len(sums)
    error = np.sqrt(count / (count - 1) * np.square(sums).sum()) / 66
    assert found.high - found.value == pytest.approx(t.ppf(0.975, count - 1) * error)
    assert found.freedom == count - 1


def test_sets_of_their_own_have_the_usual_interval():
    values = pd.Series([0.1, 0.3, -0.2, 0.5], index=["Pima", "Glass1", "Yeast3", "Ecoli2"])
    twin = ttest_1samp(values, 0).confidence_interval()
    found = family_interval(values)
    assert (found.low, found.high) == pytest.approx((twin.low, twin.high))
    assert np.isnan(family_interval(values.iloc[:1]).low)


def test_rounding_is_no_difference():
    cells = made_cells(lambda scheme, *_: 0.1 + 0.2 if "DOB" in scheme else 0.3)
    assert (set_differences(cells, LITERAL, GIVEN) == 0).all().all()
    assert set(effects_table(cells).frame["higher"]) == {0}
    assert set(ranked_runs(cells)["higher"]) == {0}


def test_more_runs_do_not_make_it_narrower(rising):
    more = made_cells(lambda scheme, _, place, __: 0.7 + (0.001 * (place + 1) if "DOB" in scheme else 0.0), runs=6)
    few, many = (mean_effects(set_differences(each, LITERAL, SCV))["C4.5"] for each in (rising, more))
    assert few.high - few.low == pytest.approx(many.high - many.low)


def test_the_table_has_all_pairs_and_the_published_differences(rising):
    found = effects_table(rising).frame
    assert bases(rising) == [GIVEN, SCV]
    assert len(found) == 5 * 2 * 2
    printed = found.drop_duplicates("learner").set_index("learner")["published"]
    assert printed["C4.5"] == pytest.approx(0.8439 - 0.8288)
    assert found["difference"].tolist() == pytest.approx([0.0335] * 20)  # the mean of 0.001 to 0.066
    assert set(found["higher"]) == {66}
    few = made_cells(lambda *_: 0.8, names=["Glass1", "Ecoli4"])
    assert effects_table(few).frame["published"].isna().all()


def test_sets_and_learners_keep_their_order(rising):
    found = by_sets(rising, LITERAL)
    assert tuple(found.columns) == LEARNERS
    assert found.index[0] == rising["dataset"].iloc[0]
    assert told_of(mean_effects(found)).startswith("C4.5 +0.7335 (")


def test_a_set_that_the_base_lacks_is_left_out(rising):
    name = rising["dataset"].iloc[0]
    fewer = rising[~((rising["dataset"] == name) & (rising["scheme"] == GIVEN))]
    assert name not in set_differences(fewer, LITERAL, GIVEN).index
    assert len(set_differences(fewer, LITERAL, GIVEN)) == 65
