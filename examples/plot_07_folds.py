"""
Folds and their audit
=====================

Show which rows each fold tests, and compare given folds with random folds.
"""

import pandas as pd
from sklearn.datasets import load_iris, load_wine

from fairtrial.report import draw_audit, draw_rarest_class, draw_splits
from fairtrial.resampling import DOBSCV, StratifiedKFold, audit

X, y = load_iris(return_X_y=True)
splits = StratifiedKFold(5, random_state=1).freeze(X, y)

# %%
# ``splits``: training and test rows of each split.

draw_splits(splits)

# %%
# ``audit``: statistics of each fold, compared with random stratified folds. Triangles mark findings.

X, y = load_wine(return_X_y=True)
result = audit(DOBSCV(5, assign="literal", random_state=0), (X[:, :4], y), n_permutations=199, random_state=0)
print(result)
draw_audit(result)

# %%
# ``draw_rarest_class``: the proportion of the rarest class in each test set. The bar shows its proportion in all rows.

wine = StratifiedKFold(5, random_state=1).freeze(X, y)
draw_rarest_class(
    pd.DataFrame(
        {
            "data set": "wine",
            "repeat": 1,
            "fold": range(1, 6),
            "rarest class": "class_2",
            "proportion in test": [(y[split.test] == 2).mean() for split in wine],
            "proportion overall": (y == 2).mean(),
        }
    )
)
