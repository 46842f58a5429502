"""The paper's claims, judged on the paper's own table and on others."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.ranking_errors import index_measure
from fairtrial.reproduce.ranking_real import claims as module
from fairtrial.reproduce.ranking_real.cells import CellResult
from fairtrial.reproduce.ranking_real.claims import (
    build_claims,
    estimate_correlation,
    judge_correlations,
    judge_hardest,
    judge_lowest_auc,
    list_published_hardest,
)
from fairtrial.reproduce.ranking_real.tables import read_table1
from tests.reproduce.ranking_real.conftest import PUBLISHED, copy_published, make_cell

HARD = (
    "On Liver and Transfusion, the errors of sAUC are remarkably high in all four experiments "
    "(64.8 to 78.3 %; judged as: above 50 % in each)"
)
CREDIT = "On Credit, errors are virtually negligible (judged as: below 1 % in each experiment)"
SEVEN = "In experiment #2 on House, the error of AUC is seven times that of H (judged as: at least)"
LOWEST = "Without noise, naive Bayes has its lowest AUC on Liver and Transfusion"


def judge(text, noisy):
    return next(claim for claim in build_claims(noisy, make_clean_cells({"wdbc": 0.9})) if claim.text == text)


def make_clean_cells(values, deviation=0.01):
    cells = []
    for dataset, auc in values.items():
        values_of_measures = np.zeros(6)
        values_of_measures[index_measure("auc")] = auc
        cells.append(CellResult(dataset, 0, np.zeros((10, 6)), values_of_measures, np.full(6, deviation)))
    return cells


@pytest.fixture(scope="module")
def on_the_papers_table():
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    return build_claims(noisy, make_clean_cells({"Liver": 0.64, "Transfusion": 0.71, "Sonar": 0.8}))


def test_the_papers_table_contradicts_none_of_its_claims(on_the_papers_table):
    assert not [claim for claim in on_the_papers_table if claim.reproduced is False]
    [hard] = [claim for claim in on_the_papers_table if claim.text.startswith("The errors on Liver and Transfusion")]
    assert hard.reproduced is True  # by the mean of the six measures; each by itself does not
    assert "for single measures: true for sAUC, false for H-measure" in hard.details
    assert hard.details.endswith("; in the paper's own table: true only for sAUC")
    reproduced = {claim.text for claim in on_the_papers_table if claim.reproduced}
    assert HARD in reproduced
    assert {
        "Of the usual measures, AUC is the most robust (judged as: lowest mean error over all cells)",
        CREDIT,
        LOWEST,
    } <= reproduced
    assert len(on_the_papers_table) == 13


def test_numbers_that_the_paper_quotes(on_the_papers_table):
    details = {claim.text: claim.details for claim in on_the_papers_table}
    assert details[HARD].startswith("64.8 to 78.3 %, confidence limits from")
    spect = "In experiment #2 on Spect, the error of H is more than three times that of AUC"
    assert details[spect].startswith("H-measure 10.90 %, AUC 3.30 %")
    assert details[SEVEN].startswith("AUC 1.40 %, H-measure 0.20 %")


def test_other_numbers_give_other_verdicts():
    rates = [5, 20, 5, 5, 5, 20]
    noisy = [make_cell(e, d, rates) for e in (1, 2, 3, 4) for d in ("Liver", "Transfusion", "Credit", "Spect", "House")]
    claims = {
        claim.text: claim.reproduced
        for claim in build_claims(noisy, make_clean_cells({"Liver": 0.9, "Transfusion": 0.9, "Spect": 0.5}))
    }
    assert claims[CREDIT] is False
    assert claims["Without noise, naive Bayes has its lowest AUC on Liver and Transfusion"] is False
    assert claims["Of the usual measures, AUC is the most robust (judged as: lowest mean error over all cells)"] is False
    assert (
        claims["With noise in classes, H has on average slightly higher errors than AUC (judged as: higher by any amount)"]
        is False
    )
    assert claims[SEVEN] is False
    whole = "Errors are, overall, higher with noise in the classes of the whole data set than of training sets only"
    assert claims[whole] is None


def test_without_the_data_sets_claims_are_inconclusive():
    noisy = [make_cell(e, "wdbc", [0] * 6, repeats=5) for e in (1, 2, 3, 4)]
    claims = build_claims(noisy, make_clean_cells({"wdbc": 0.9}))
    assert not any(claim.reproduced for claim in claims)
    assert sum(claim.details == "a data set or an experiment is missing" for claim in claims) == 6


def make_hard_cells(percent, repeats, sets=("Liver", "Transfusion"), experiments=(1, 2, 3, 4)):
    return [make_cell(e, d, [0, 0, 0, percent, 0, 0], repeats) for d in sets for e in experiments]


def test_sauc_on_the_hard_data_sets_needs_both_and_all_experiments_and_enough_repeats():
    others = [make_cell(e, "Pima", [0] * 6, 1000) for e in (1, 2, 3, 4)]
    assert judge(HARD, make_hard_cells(70, 1000) + others).reproduced is True
    assert judge(HARD, make_hard_cells(30, 1000) + others).reproduced is False
    assert judge(HARD, make_hard_cells(51, 1000) + others).reproduced is None
    assert judge(HARD, make_hard_cells(70, 1000, sets=["Liver"]) + others).reproduced is None
    assert judge(HARD, make_hard_cells(70, 1000, experiments=(1, 2, 3)) + others).reproduced is None
    assert (
        judge(HARD, [make_cell(e, d, [100] * 6, 4) for e in (1, 2, 3, 4) for d in ("Liver", "Transfusion")]).reproduced is None
    )


def test_no_error_in_four_repeats_is_not_negligible_yet():
    assert judge(CREDIT, [make_cell(e, "Credit", [0] * 6, 4) for e in (1, 2, 3, 4)]).reproduced is None
    assert judge(CREDIT, [make_cell(e, "Credit", [0] * 6, 1000) for e in (1, 2, 3, 4)]).reproduced is True


def test_without_errors_there_is_no_ratio():
    assert judge(SEVEN, [make_cell(e, "House", [0] * 6) for e in (1, 2, 3, 4)]).reproduced is None


def test_vague_words_say_how_they_are_judged(on_the_papers_table):
    vague = [
        claim.text for claim in on_the_papers_table if any(word in claim.text for word in ("slightly", "remarkably", "virt"))
    ]
    assert len(vague) == 5
    assert all("judged as: " in text for text in vague)


def make_cells(hard, other, repeats=1000):
    return [
        make_cell(e, name, [rate] * 6, repeats)
        for e in (1, 2, 3, 4)
        for name, rate in (("Liver", hard), ("Transfusion", hard), ("Pima", other))
    ]


def test_the_hardest_data_sets():
    assert judge_hardest(make_cells(50, 10)).reproduced is True
    assert judge_hardest(make_cells(10, 50)).reproduced is False
    assert judge_hardest(make_cells(11, 10)).reproduced is None
    assert judge_hardest(make_cells(100, 50, repeats=4)).reproduced is None
    assert judge_hardest(make_cells(50, 10)[1:]).reproduced is None  # a cell is missing


def test_the_hardest_data_sets_in_the_papers_own_table(monkeypatch):
    assert list_published_hardest() == ["sauc"]
    table = read_table1()
    table.loc[table["dataset"].isin(["Liver", "Transfusion"]), "value"] = 99.0
    monkeypatch.setattr(module.tables, "read_table1", lambda: table)
    assert len(list_published_hardest()) == 6
    details = judge_hardest(make_cells(50, 10)).details
    assert details.endswith("in the paper's own table: true for H-measure, AUC, AUCH, sAUC, KS and taKS")
    table["value"] = 1.0
    assert judge_hardest(make_cells(50, 10)).details.endswith("in the paper's own table: true for none")


@pytest.mark.parametrize(("other", "deviation", "reproduced"), [(0.8, 0.01, True), (0.5, 0.01, False), (0.71, 0.1, None)])
def test_the_lowest_auc(other, deviation, reproduced):
    clean = make_clean_cells({"Liver": 0.64, "Transfusion": 0.7, "Sonar": other}, deviation)
    assert judge_lowest_auc(clean).reproduced is reproduced


DATASETS = tuple("abcdefgh")


def test_the_correlation_is_spearmans_with_a_jackknife_interval_over_data_sets():
    rng = np.random.default_rng(1)
    rates = rng.integers(0, 9, size=(16, 2)).astype(float)
    datasets = np.repeat(DATASETS, 2)
    correlation = estimate_correlation(rates, datasets)
    assert correlation.value == pytest.approx(stats.spearmanr(rates).statistic)
    left_out = np.array([stats.spearmanr(rates[datasets != name]).statistic for name in DATASETS])
    error = np.sqrt(7 / 8 * ((left_out - left_out.mean()) ** 2).sum())  # Efron and Stein 1981
    half = stats.t.ppf(0.975, 7) * error
    assert (correlation.low, correlation.high) == pytest.approx((correlation.value - half, min(correlation.value + half, 1)))


def make_rated_cells(compute_rate):
    return [
        make_cell(e, name, [compute_rate(row, column) for column in range(6)], 100)
        for e in (1, 2)
        for row, name in enumerate(DATASETS)
    ]


def test_correlations_are_judged():
    assert judge_correlations(make_rated_cells(lambda row, column: 5 * row + column)).reproduced is True
    mixed = make_rated_cells(lambda row, column: 5 * row + 2 if column else 50 - 5 * row)
    assert judge_correlations(mixed).reproduced is False
    assert judge_correlations(make_rated_cells(lambda *_: 3)).reproduced is None
    assert judge_correlations(make_rated_cells(lambda row, _: 5 * row)[:3]).reproduced is None
