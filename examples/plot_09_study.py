"""
Scores, times and tuning of a study
===================================

Draw the mean scores, the learning curves, the chosen parameters and the run times of a study.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from fairtrial import Study, draw

study = Study(
    name="overview",
    data=["iris", "wine"],
    learners={
        "bayes": "gaussian-nb",
        "tree": "decision-tree",
        "neighbours": {
            "learner": "nearest-neighbours",
            "tune": {"grid": {"n_neighbours": [1, 3, 9]}, "resampling": {"folds": 3}},
        },
    },
    conditions={"train-size": [0.2, 0.5, 1.0]},
    resampling={"folds": 5},
    seed=1,
)
with TemporaryDirectory() as folder:
    results = study.run(Path(folder) / "overview.fairtrial", jobs=1, progress=False)

# %%
# ``intervals``: mean scores with 95 % confidence intervals.

draw(results, "intervals", measure=["accuracy", "auc"])

# %%
# ``projection``: learners as points around an ideal classifier. Learners that make similar errors are close together.

draw(results, "projection")

# %%
# ``learning-curve``: a measure against the size of the training set.

draw(results, "learning-curve", measure="accuracy")

# %%
# ``tuning``: the parameters that were chosen in each fold.

draw(results, "tuning")

# %%
# ``times``: fitting time, prediction time and memory of each learner.

draw(results, "times")
