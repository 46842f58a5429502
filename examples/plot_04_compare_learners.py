"""
Compare learners over data sets
===============================

Compare four variants of C4.5 on 14 data sets (the AUC table of Demšar, 2006) and draw the comparison.
"""

import pandas as pd

from fairtrial import compare, draw
from fairtrial.report import draw_strengths
from fairtrial.significance import bradley_terry

auc = pd.DataFrame(
    {
        "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
        "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
        "C4.5+cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.9751, 0.946],
        "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.970],
    }
)
verdict = compare(auc, measure="auc", rows="datasets")
print(verdict)

# %%
# ``critical-difference``: mean ranks. A bar joins learners without a significant difference.

draw(verdict, "critical-difference")

# %%
# ``pairs``: differences with adjusted p-values and wins, ties and losses.

draw(verdict, "pairs")

# %%
# ``ranks``: how often each learner had each rank.

draw(verdict, "ranks")

# %%
# ``simplex``: posterior distribution for two learners over data sets. Learners that differ by at most 0.01 are practically
# equivalent.

two = compare(auc[["C4.5+m+cf", "C4.5"]], measure="auc", rows="datasets", rope=0.01)
draw(two, "simplex")

# %%
# ``density``: posterior distribution of the mean difference on one data set, from the scores of ten folds.

folds = pd.DataFrame(
    {
        "fold": range(1, 11),
        "tree": [0.82, 0.85, 0.79, 0.88, 0.84, 0.81, 0.86, 0.83, 0.80, 0.87],
        "forest": [0.86, 0.87, 0.84, 0.89, 0.88, 0.83, 0.88, 0.88, 0.83, 0.90],
    }
)
one = compare(folds, measure="accuracy", rope=0.01)
draw(one, "density")

# %%
# ``draw_strengths``: Bradley-Terry strengths on the Elo scale, with intervals over data sets.

draw_strengths(bradley_terry(auc, seed=1).frame())
