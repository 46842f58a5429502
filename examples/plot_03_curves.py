"""
Curves: ROC, precision-recall, cost, calibration
================================================

Draw the curves of two learners from the predictions of a small study. The second argument of ``draw`` is the name of the
figure. You can draw the same figures from a judgement of predictions (``fairtrial.judge``).
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from fairtrial import Study, draw

study = Study(name="curves", data=["breast_cancer"], learners=["gaussian-nb", "decision-tree"], resampling={"folds": 5}, seed=1)
with TemporaryDirectory() as folder:
    results = study.run(Path(folder) / "curves.fairtrial", jobs=1, progress=False)

# %%
# ``roc``: ROC curves with their convex hulls and 95 % confidence bands for the whole curve.

draw(results, "roc")

# %%
# ``precision-recall``: precision against recall. The dashed line is the proportion of positives.

draw(results, "precision-recall")

# %%
# ``cost-curve``: expected cost for each combination of class proportions and error costs. The strip shows the cheapest learner.

draw(results, "cost-curve")

# %%
# ``brier-curve``: loss if the probabilities are used without adjustment. The area under the curve is the Brier score.

draw(results, "brier-curve")

# %%
# ``ks``: true and false positive rates against the threshold. The largest difference is the Kolmogorov-Smirnov statistic.

draw(results, "ks")

# %%
# ``gain``: proportion of all positives that are among the cases with the highest scores, and the lift.

draw(results, "gain")

# %%
# ``calibration``: observed frequency against mean predicted probability, with Wilson intervals.

draw(results, "calibration")

# %%
# ``confusion``: numbers of rows, and rates within each true class.

draw(results, "confusion")
