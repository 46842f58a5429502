"""Statistical tests of differences between learners, effect sizes, post-hoc procedures and verdicts."""

from fairtrial.significance.adjust import adjust, rom_critical_values
from fairtrial.significance.bayes import Posterior, bayes_signed_rank, correlated_t
from fairtrial.significance.bootstrap_test import bootstrap_difference
from fairtrial.significance.calibration import calibration_test
from fairtrial.significance.costs import cost_test
from fairtrial.significance.counts import cochran_q, mcnemar, mcnemar_table, sign_test
from fairtrial.significance.delong_test import auc_test, delong
from fairtrial.significance.effect import (
    akinshin_gamma,
    cliffs_delta,
    cohens_d,
    cohens_d_av,
    hedges_g,
    rank_biserial,
    vargha_delaney_a12,
)
from fairtrial.significance.hierarchical import HierarchicalPosterior, hierarchical
from fairtrial.significance.margins import MarginDecision, MarginTest, margin_test
from fairtrial.significance.omnibus import aligned_ranks, anova, friedman, iman_davenport, page_trend, quade
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.significance.permutation import label_permutation, permutation_test
from fairtrial.significance.posthoc import Comparison, PostHoc, bergmann, posthoc, shaffer
from fairtrial.significance.power import Power, power
from fairtrial.significance.reading import Scores, read_scores
from fairtrial.significance.resampled import corrected_resampled_t, five_by_two_f, five_by_two_t, paired_t, ten_by_ten
from fairtrial.significance.sample_size import SampleSize, plan_auc_test, plan_datasets, plan_interval, plan_margin
from fairtrial.significance.strength import Strengths, bradley_terry
from fairtrial.significance.verdict import Verdict
from fairtrial.significance.wilcoxon import wilcoxon

__all__ = [
    "Comparison",
    "Effect",
    "HierarchicalPosterior",
    "MarginDecision",
    "MarginTest",
    "Outcome",
    "PostHoc",
    "Posterior",
    "Power",
    "SampleSize",
    "Scores",
    "Strengths",
    "Verdict",
    "adjust",
    "akinshin_gamma",
    "aligned_ranks",
    "anova",
    "auc_test",
    "bayes_signed_rank",
    "bergmann",
    "bootstrap_difference",
    "bradley_terry",
    "calibration_test",
    "cliffs_delta",
    "cochran_q",
    "cohens_d",
    "cohens_d_av",
    "corrected_resampled_t",
    "correlated_t",
    "cost_test",
    "delong",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "hedges_g",
    "hierarchical",
    "iman_davenport",
    "label_permutation",
    "margin_test",
    "mcnemar",
    "mcnemar_table",
    "page_trend",
    "paired_t",
    "permutation_test",
    "plan_auc_test",
    "plan_datasets",
    "plan_interval",
    "plan_margin",
    "posthoc",
    "power",
    "quade",
    "rank_biserial",
    "read_scores",
    "rom_critical_values",
    "shaffer",
    "sign_test",
    "ten_by_ten",
    "vargha_delaney_a12",
    "wilcoxon",
]
