import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.estimates.by_learner import by_learner, every_learner
from fairtrial.reproduce.estimates.judging import biased


def draws(biases, spread=0.05):
    """Each learner with a bias of its own, exact to the last digit, on 400 samples."""
    rng = np.random.default_rng(1)
    lines = []
    for learner, bias in biases.items():
        noise = stats.zscore(rng.standard_normal(400), ddof=1)
        for replicate, value in enumerate(0.3 + bias + spread * noise):
            lines.append(("p", 25, learner, replicate, "a", value, 0.0, 1.0, 0.3))
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "truth"]
    return pd.DataFrame(lines, columns=columns)


def found(**biases):
    return by_learner(draws(biases), lambda own: biased(own, "a"))


def test_one_learner_does_not_carry_the_others():
    """The half width of a learner's interval is 0.0049; that of the mean excludes 0 in all three."""
    assert every_learner(found(trees=0.1, bayes=0.02)) is True
    assert every_learner(found(trees=0.1, bayes=0.0)) is None
    assert every_learner(found(trees=0.1, bayes=-0.02)) is False
    assert all(found(trees=0.1, bayes=each).whole.above for each in (0.02, 0.0, -0.02))


def test_a_refusal_is_widened_for_all_numbers_of_the_claim():
    """-0.0052 is below 0 by its own interval (0.0049), and not by one for four numbers (0.0063)."""
    one = found(trees=0.1, bayes=-0.0052)
    assert one.learners["bayes"].above is False
    assert every_learner(one, found(trees=0.1, bayes=0.1)) is None


def test_each_learner_is_told_with_its_interval():
    one = found(trees=0.1, bayes=0.02)
    half = 100 * stats.t.ppf(0.975, 399) * 0.05 / np.sqrt(400)
    assert one.points().startswith("+6.00 (")
    assert f"by learner: trees +10.00 ({10 - half:+.2f} to {10 + half:+.2f}), bayes +2.00 ({2 - half:+.2f} to" in one.points()
    assert one.points().endswith("cells whose own interval is above 0: 2 of 2, below: 0")


def test_ratios_are_told_as_such():
    one = found(trees=np.log(2), bayes=np.log(3))
    assert "trees 2.00 (" in one.ratio()
    assert "bayes 3.00 (" in one.ratio()
    assert one.ratio().startswith(f"ratio {np.sqrt(6):.2f} (")


def test_a_learner_without_an_interval_leaves_it_open():
    frame = draws({"trees": 0.1, "bayes": 0.1})
    few = frame[(frame["learner"] == "trees") | (frame["replicate"] < 1)]
    assert every_learner(by_learner(few, lambda own: biased(own, "a"))) is None
    assert every_learner() is None


@pytest.mark.parametrize("order", [("trees", "bayes"), ("bayes", "trees")])
def test_learners_keep_their_order(order):
    assert tuple(found(**dict.fromkeys(order, 0.1)).learners) == order
