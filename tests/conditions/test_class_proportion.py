import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from fairtrial.conditions import ClassProportion
from fairtrial.errors import InputError, SuspectInputWarning

Y = np.array(["neg"] * 10 + ["pos"] * 10)


@pytest.mark.parametrize(("level", "left"), [(0.05, 10), (0.15, 8), (0.25, 8), (0.5, 5), (0.95, 0)])
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_exactly_the_share_of_the_positives_goes(level, left):
    changed = ClassProportion(level).apply(np.arange(20), Y, rng=1)
    assert (changed.y == "pos").sum() == left
    assert (changed.y == "neg").sum() == 10
    assert changed.X.tolist() == changed.rows.tolist()
    assert changed.level == (10 - left) / 10
    assert changed.mask.sum() == 10 - left


def test_forms_and_the_positive_class():
    X = pd.DataFrame({"a": range(20)}, index=range(30, 50))
    changed = ClassProportion(0.5, positive="neg").apply(X, pd.Series(Y, index=X.index), rng=1)
    assert changed.X.index.equals(X.index[changed.rows])
    assert changed.y.value_counts().to_dict() == {"pos": 10, "neg": 5}
    listed = ClassProportion(0.5).apply(X.to_numpy().tolist(), Y.tolist(), rng=1)
    assert len(listed.X) == len(listed.y) == 15
    with pytest.raises(InputError, match=r"positive.*'yes'"):
        ClassProportion(0.5, positive="yes").apply(X, Y)
    with pytest.raises(InputError, match="positive"):
        ClassProportion(0.5).apply([[0]] * 3, ["a", "b", "c"])
    with pytest.raises(InputError, match="positive"):
        ClassProportion(0.5).apply([[0]] * 2, ["a", "a"])


def test_no_positive_left_is_suspect_and_no_case_left_an_error():
    with pytest.warns(SuspectInputWarning, match="'pos'"):
        ClassProportion(1.0).apply(np.arange(20), Y)
    with pytest.raises(InputError, match="level"), pytest.warns(SuspectInputWarning):
        ClassProportion(1.0, positive="a").apply([[0]] * 2, ["a", "a"])


def test_all_positives_are_alike():
    hits = np.sum([ClassProportion(0.3).apply(np.arange(20), Y, rng=seed).mask for seed in range(1000)], axis=0)
    assert not hits[:10].any()
    assert chisquare(hits[10:]).pvalue > 0.01
    assert str(ClassProportion(0.3)).startswith("30 % of the positives")
    assert "cases of class a" in str(ClassProportion(0.3, positive="a"))
