"""
Measure robustness to class noise
=================================

Run a small study on clean training data and on training data with wrong class labels, and plot the accuracy over the
noise level.
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
# The results keep every prediction, so any measure can be computed afterwards.

scores = results.scores("accuracy")
print(scores.pivot_table(index="learner", columns="level", values="value", observed=True).round(3))

# %%
# The figure shows the mean accuracy with its confidence interval for each noise level.

draw(results, "noise", measure="accuracy")
