"""
Measure robustness to class noise
=================================

Run a small study with increasing class noise in the training set, and plot the accuracy against the noise level.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from fairtrial import Study, draw

study = Study(
    name="noise",
    data=["iris", "wine"],
    learners=["gaussian-nb", "decision-tree"],
    conditions={"class-noise": [0, 0.1, 0.2, 0.3]},
    resampling={"folds": 5},
    seed=1,
)
with TemporaryDirectory() as folder:
    results = study.run(Path(folder) / "noise.fairtrial", jobs=1, progress=False)

# %%
# The results file stores every prediction, so you can compute any measure afterwards.

scores = results.scores("accuracy")
print(scores.pivot_table(index="learner", columns="level", values="value", observed=True).round(3))

# %%
# The figure shows the mean accuracy with its confidence interval for each noise level.

draw(results, "noise", measure="accuracy")
