import pandas as pd

from fairtrial.reproduce.estimates.claims_on_ensembles import claims_on_ensembles

SINGLE = {"C4.5": 0.15, "naive Bayes": 0.02, "nearest neighbour": 0.03}


def lines(trees=(5.0, 4.0, 6.0), bayes=(0.0, -0.5, 0.5), variances=SINGLE):
    gains = {"bagged C4.5": trees, "boosted C4.5": trees, "bagged naive Bayes": bayes, "bagged nearest neighbour": (0, -1, 1)}
    single = [{"problem": "p", "learner": name, "variance": value} for name, value in variances.items()]
    ensembles = [
        {"problem": "p", "learner": name, "variance": 0.01} | dict(zip(("gain", "low", "high"), each, strict=True))
        for name, each in gains.items()
    ]
    return pd.DataFrame(single + ensembles)


def stable(frame):
    return claims_on_ensembles(frame)[1]


def test_trees_against_what_is_called_stable():
    assert [each.holds for each in claims_on_ensembles(lines())] == [True, True]
    assert stable(lines(bayes=(5.0, 4.0, 6.0))).holds is None
    assert stable(lines(bayes=(9.0, 8.0, 10.0))).holds is False


def test_the_source_is_named():
    assert stable(lines()).text.startswith("Not in the chapter, after Breiman 1996: ")


def test_a_learner_that_moves_nearly_as_much_as_trees_is_not_stable():
    assert "not stable here" not in stable(lines()).evidence
    told = stable(lines(variances=SINGLE | {"nearest neighbour": 0.109})).evidence
    assert "nearest neighbour 10.9; nearest neighbour, with more than half of the variance of C4.5, is not stable here" in told
    assert "naive Bayes, with more than half" not in told


def test_ends_that_decide_do_not_read_as_nothing():
    told = stable(lines(bayes=(-0.03, -0.06, -0.002))).evidence
    assert "bagged naive Bayes, p -0.030 (-0.060 to -0.002)" in told
