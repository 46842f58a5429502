import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.reproduce.interval import mean_interval
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial import known_error as module
from fairtrial.reproduce.tutorial.known_error import (
    _bias,
    _cells,
    _drawn,
    _errors,
    _jackknife,
    _naive_bayes,
    _nearest,
    _smaller,
    _spread,
    _unbiased,
    known_error,
)


@pytest.mark.parametrize(("rule", "learner"), [(_naive_bayes, GaussianNB()), (_nearest, KNeighborsClassifier(1))])
def test_rules_are_scikit_learns(rule, learner):
    (X, y), (new, _) = _drawn(40, 0.3, [1, 2]), _drawn(300, 0.3, [1, 3])
    assert np.mean(rule(X, y, new) == learner.fit(X, y).predict(new)) > 0.995


def test_flipped_labels_make_the_error_large():
    clean, noisy = (_drawn(4000, share, [7, 1]) for share in (0.0, 0.3))
    assert np.mean(clean[1] != noisy[1]) == pytest.approx(0.3, abs=0.03)


def test_page(tmp_path):
    found = known_error(Request("smoke", tmp_path))
    frame = found.table("known_error")
    assert len(frame) == 2 * 2 * 5
    root = np.sqrt(frame["bias"] ** 2)
    assert (frame["root mean squared error"] >= root - 1e-12).all()
    assert len(found.claims) == 9


def test_smoke_decides_nothing(tmp_path, monkeypatch):
    """Not even a bias that three samples show to be there."""
    monkeypatch.setattr(module, "_estimates", lambda *_: dict.fromkeys(module.SCHEMES, 0.9))
    claims = known_error(Request("smoke", tmp_path)).claims
    assert {claim.holds for claim in claims} == {None}
    assert all(claim.evidence.endswith("3 samples are too few to judge by (20 are asked for)") for claim in claims)


def test_evidence_says_which_less_which():
    evidence = _smaller("x", table(), "a", "b", _spread).evidence
    value = float(table()["b"].std() - table()["a"].std())
    assert f", b less a {value:+.4f} (" in evidence
    assert "difference" not in evidence


def test_each_problem_has_samples_of_its_own(monkeypatch):
    """Two problems that are the same distribution must not be the same sample."""
    monkeypatch.setattr(module, "_FLIPPED", {"one": 0.0, "other": 0.0})
    errors = _errors(4, 40, 1).drop(columns="problem")
    one, other = errors.iloc[:8], errors.iloc[8:].reset_index(drop=True)
    assert (one[["learner", "replicate"]] == other[["learner", "replicate"]]).all().all()
    assert (one["truth"] != other["truth"]).any()
    assert (one["10-fold"] != other["10-fold"]).any()


def table(n=200, learners=("l",), seed=1):
    """Errors of two schemes, `b` twice as wide; every learner has the same ones."""
    rng = np.random.default_rng(seed)
    plain = {"replicate": range(n), "truth": 0.0, "a": rng.normal(0, 1, n), "b": rng.normal(0, 2, n)}
    return pd.concat([pd.DataFrame({"problem": "p", "learner": name, **plain}) for name in learners])


def test_what_is_clearly_smaller_is_found():
    own = table()
    assert _smaller("x", own, "a", "b", _spread).holds is True
    assert _smaller("x", own, "b", "a", _spread).holds is False
    assert _smaller("x", own, "a", "a", _spread).holds is None


def test_learners_on_the_same_sample_are_not_more_evidence():
    """Four learners that err alike tell what one of them tells: no interval may shrink."""
    one, four = table(), table(learners=("k", "l", "m", "n"))
    assert _bias(four, "a").told("{:.12f}") == mean_interval(one["a"]).told("{:.12f}")
    (alone,) = _cells(one, "a", "b", _spread)
    assert [each.gap for each in _cells(four, "a", "b", _spread)] == [alone.gap] * 4


def test_each_cell_must_agree():
    """The mean over both learners has `a` far below `b`; one learner of the two has it above."""
    one, other = table(), table(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    both = pd.concat([one.assign(b=10 * one["b"]), other])
    claim = _smaller("x", both, "a", "b", _spread)
    assert claim.holds is False
    assert "l, p: " in claim.evidence
    assert "m, p: " in claim.evidence
    assert _smaller("x", pd.concat([one, other.assign(b=other["a"])]), "a", "b", _spread).holds is None


def test_what_the_slides_exempt_is_told_and_not_judged():
    one, other = table(), table(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = _smaller("x", one, "a", "b", _spread, exempt=other)
    assert claim.holds is True
    assert "; exempted by the slides: m, p: " in claim.evidence


def test_e632_against_10_fold_is_judged_on_naive_bayes():
    """e632 better for naive Bayes on both problems, far worse for the nearest neighbour."""
    rng = np.random.default_rng(4)
    widths = {"NB": (2, 1), "1NN": (1, 9)}
    rows = [
        pd.DataFrame({"problem": problem, "learner": learner, "replicate": range(100), "truth": 0.3})
        .assign(**dict.fromkeys(module.SCHEMES, 0.1))
        .assign(**{"10-fold": folds * rng.normal(size=100), "e632": boot * rng.normal(size=100)})
        for problem in module._FLIPPED
        for learner, (folds, boot) in widths.items()
    ]
    claims = {claim.text.split(":")[0]: claim for claim in module._claims(pd.concat(rows))}
    (better,) = [claim for text, claim in claims.items() if "better than 10-fold" in text]
    assert better.holds is True
    assert "exempted by the slides: 1NN, small error" in better.evidence
    assert claims["The e632 bootstrap is poor for nearest neighbours"].holds is True


def test_jackknife_of_a_mean_is_students_interval():
    """Pseudo-values of a mean are the values themselves."""
    values = np.random.default_rng(2).normal(1, 3, 30)
    found, expected = _jackknife(np.mean, values), mean_interval(values)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_jackknife_covers_a_known_spread():
    """The interval of a standard deviation, which is 1 here, misses it in about 5 % of samples."""
    samples = np.random.default_rng(3).normal(0, 1, (300, 60))
    found = [_jackknife(lambda own: own.std(ddof=1), own).less(1) for own in samples]
    assert sum(each.sign != 0 for each in found) / 300 == pytest.approx(0.05, abs=0.04)


def test_few_replicates_leave_it_open():
    assert _smaller("x", table(n=3), "a", "b", _spread).holds is None


@pytest.mark.parametrize(("centre", "spread", "holds"), [(0.0, 0.01, True), (0.0, 0.5, None), (0.1, 0.01, False)])
def test_unbiased_needs_the_whole_interval(centre, spread, holds):
    wide = centre + spread * np.array([-1.0, 1.0] * 50)
    assert _unbiased("x", pd.DataFrame({"replicate": range(100), "a": wide}), "a").holds is holds
