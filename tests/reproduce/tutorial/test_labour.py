import numpy as np

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.labour import _answer, _differ, errors, labour_again


def test_error_rates_are_wekas(labour):
    """weka.classifiers.trees.J48 and bayes.NaiveBayes -t labor.arff -s 1 and -s 2 (WEKA 3.6.14)."""
    wrong = errors(labour, 2, 10)
    rates = {name: [round(100 * np.concatenate(run).mean(), 4) for run in own] for name, own in wrong.items()}
    assert rates == {"C4.5": [26.3158, 17.5439], "NB": [10.5263, 5.2632]}


def test_page(labour, tmp_path):
    found = labour_again(labour, Request("smoke", tmp_path))
    assert [claim.holds for claim in found.claims] == [None, None]
    assert all("2 runs of 2 folds" in claim.evidence for claim in found.claims)
    assert [table.name for table in found.tables] == ["labour_runs", "mcnemar"]
    table = found.table("mcnemar").set_index("what")["ours"]
    b, c = table["only C4.5 wrong"], table["only naive Bayes wrong"]
    assert table["chi-squared with correction"] == max(abs(b - c) - 1, 0) ** 2 / (b + c)


def test_answer_follows_the_corrected_test():
    assert _answer(0.001, 0.01).startswith("Yes")
    assert _answer(0.001, 0.2).startswith("Only if runs are taken as independent")
    assert _answer(0.3, 0.2) == "It does not show."


def test_difference_is_judged_by_the_slides_test_and_both_are_told():
    claim = _differ(2.7e-07, 0.015)
    assert claim.holds is True
    assert "over runs taken as independent, as the slide does" in claim.text
    assert "p = 2.7e-07 over runs" in claim.evidence
    assert "p = 0.015" in claim.evidence
    assert _differ(0.2, 0.4).holds is None
