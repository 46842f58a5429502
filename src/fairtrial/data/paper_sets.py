"""Which data sets the papers used, by their KEEL names."""

from __future__ import annotations

_IMBALANCED = """
glass1 glass-0-4_vs_5 ecoli-0_vs_1 ecoli-0-3-4-6_vs_5 wisconsin ecoli-0-3-4-7_vs_5-6 pima yeast-0-5-6-7-9_vs_4 iris0
ecoli-0-6-7_vs_5 glass0 vowel0 yeast1 glass-0-1-6_vs_2 vehicle1 glass2 vehicle2 ecoli-0-1-4-7_vs_2-3-5-6 vehicle3
led7digit-0-2-4-5-6-7-8-9_vs_1 haberman glass-0-6_vs_5 glass-0-1-2-3_vs_4-5-6 ecoli-0-1_vs_5 vehicle0 glass-0-1-4-6_vs_2 ecoli1
ecoli-0-1-4-7_vs_5-6 new-thyroid2 cleveland-0_vs_4 new-thyroid1 ecoli-0-1-4-6_vs_5 ecoli2 ecoli4 segment0 yeast-1_vs_7 glass6
shuttle-c0-vs-c4 yeast3 glass4 ecoli3 page-blocks-1-3_vs_4 page-blocks0 abalone9-18 ecoli-0-3-4_vs_5 glass-0-1-6_vs_5
yeast-2_vs_4 shuttle-c2-vs-c4 ecoli-0-6-7_vs_3-5 yeast-1-4-5-8_vs_7 ecoli-0-2-3-4_vs_5 glass5 glass-0-1-5_vs_2 yeast-2_vs_8
yeast-0-3-5-9_vs_7-8 yeast4 yeast-0-2-5-7-9_vs_3-6-8 yeast-1-2-8-9_vs_7 yeast-0-2-5-6_vs_3-7-8-9 yeast5 ecoli-0-4-6_vs_5
ecoli-0-1-3-7_vs_2-6 ecoli-0-1_vs_2-3-5 yeast6 ecoli-0-2-6-7_vs_3-5 abalone19
"""

_STANDARD = """
automobile balance banana car cleveland contraceptive dermatology ecoli flare german glass hayes-roth heart ionosphere iris
lymphography magic monk-2 newthyroid phoneme pima ring segment sonar spambase twonorm vehicle vowel wdbc wine yeast zoo
"""

PAPER_SETS = {
    "DOB-SCV (Lopez, Fernandez and Herrera 2014)": tuple(_IMBALANCED.split()),
    "ELA (Saez, Luengo and Herrera 2016)": tuple(_STANDARD.split()),
}


def used_by(name: str) -> str:
    """The papers that used this set, by their short names.

    >>> used_by("pima"), used_by("glass1"), used_by("digits")
    ('DOB-SCV, ELA', 'DOB-SCV', '')
    """
    return ", ".join(paper.split(" ")[0] for paper, names in PAPER_SETS.items() if name in names)
