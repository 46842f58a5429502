"""
Robustness to class noise
=========================

Run a small study with increasing class noise in the training set, and draw how much accuracy each learner loses.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fairtrial import Study, draw
from fairtrial.conditions import ClassNoise, Clean
from fairtrial.report import build_case_frame, draw_changes

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
# ``noise``: mean accuracy with its confidence interval for each noise level.

draw(results, "noise", measure="accuracy")

# %%
# ``rla``: relative loss of accuracy. A learner that is poor without noise can have a small loss.

draw(results, "rla")

# %%
# ``ela``: equalized loss of accuracy, which takes the accuracy without noise into account.

draw(results, "ela")

# %%
# ``loss-surface``: the path of each learner on the surfaces of RLA and ELA.

draw(results, "loss-surface")

# %%
# ``draw_changes``: which cases a condition changes.

rng = np.random.default_rng(4)
X = np.vstack([rng.normal(centre, 0.7, size=(40, 2)) for centre in ([0.0, 0.0], [2.2, 0.6], [1.0, 2.2])])
y = np.repeat(["a", "b", "c"], 40)
schemes = {"clean": Clean(), "uniform": ClassNoise(0.15), "borderline": ClassNoise(0.15, "neighbourwise-borderline")}
draw_changes({name: build_case_frame(X, y, noise.apply(X, y, rng=1)) for name, noise in schemes.items()})
