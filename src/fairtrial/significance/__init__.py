"""Significance: whether a difference between learners is more than chance, how large it is, and what to say about it."""

from fairtrial.significance.adjust import adjust as adjust, rom_critical_values as rom_critical_values
from fairtrial.significance.bayes import (
    Posterior as Posterior,
    bayes_signed_rank as bayes_signed_rank,
    correlated_t as correlated_t,
)
from fairtrial.significance.bootstrap_test import bootstrap_difference as bootstrap_difference
from fairtrial.significance.counts import (
    cochran_q as cochran_q,
    mcnemar as mcnemar,
    mcnemar_table as mcnemar_table,
    sign_test as sign_test,
)
from fairtrial.significance.delong_test import delong as delong
from fairtrial.significance.effect import (
    akinshin_gamma as akinshin_gamma,
    cliffs_delta as cliffs_delta,
    cohens_d as cohens_d,
    cohens_d_av as cohens_d_av,
    hedges_g as hedges_g,
    rank_biserial as rank_biserial,
    vargha_delaney_a12 as vargha_delaney_a12,
)
from fairtrial.significance.hierarchical import HierarchicalPosterior as HierarchicalPosterior, hierarchical as hierarchical
from fairtrial.significance.omnibus import (
    aligned_ranks as aligned_ranks,
    anova as anova,
    friedman as friedman,
    iman_davenport as iman_davenport,
    quade as quade,
)
from fairtrial.significance.outcome import Effect as Effect, Outcome as Outcome
from fairtrial.significance.permutation import label_permutation as label_permutation, permutation_test as permutation_test
from fairtrial.significance.posthoc import (
    Comparison as Comparison,
    PostHoc as PostHoc,
    bergmann as bergmann,
    posthoc as posthoc,
    shaffer as shaffer,
)
from fairtrial.significance.power import Power as Power, power as power
from fairtrial.significance.reading import Scores as Scores, read_scores as read_scores
from fairtrial.significance.resampled import (
    corrected_resampled_t as corrected_resampled_t,
    five_by_two_f as five_by_two_f,
    five_by_two_t as five_by_two_t,
    paired_t as paired_t,
    ten_by_ten as ten_by_ten,
)
from fairtrial.significance.strength import Strengths as Strengths, bradley_terry as bradley_terry
from fairtrial.significance.verdict import Verdict as Verdict
from fairtrial.significance.wilcoxon import wilcoxon as wilcoxon
