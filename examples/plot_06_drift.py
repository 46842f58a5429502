"""
Drift and changing environments
===============================

Measure how much of its advantage over the trivial classifier a model loses if the data change after training (pD).
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairtrial import Study, draw
from fairtrial.data.simulate import flu_environments
from fairtrial.report import draw_environments
from fairtrial.study import run_environments

study = Study(
    name="wear",
    data=["iris", "wine", "breast_cancer"],
    learners=["gaussian-nb", "decision-tree"],
    conditions={
        "clean": {},
        "worn": {"condition": "attribute-noise", "level": 0.3, "part": "test"},
        "worn-all": {"condition": "attribute-noise", "level": 0.3, "part": "all"},
    },
    resampling={"folds": 5},
    seed=1,
)
with TemporaryDirectory() as folder:
    results = study.run(Path(folder) / "wear.fairtrial", jobs=1, progress=False)

# %%
# ``deterioration``: pD by learner and data set. ``worn`` changes the test set; ``worn-all`` also changes the training set.

draw(results, "deterioration")

# %%
# ``draw_environments``: pD of learners that are trained on one simulated population and tested on others.

learners = {
    "tree": DecisionTreeClassifier(min_samples_leaf=20),
    "line": make_pipeline(StandardScaler(), LogisticRegression()),
}
matrix = run_environments(
    learners, flu_environments(coding="numbers"), train_on=["NGP", "DP"], n_train=500, n_test=500, replicates=5, seed=1
)
frame = matrix.frame()
draw_environments(frame[frame["trained_on"].isin(["NGP", "DP"])], columns=1)
