"""Studies of noise filters under class noise, and of class weights beside SMOTE on a rare class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from fairtrial import Study
from fairtrial.errors import SpecError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with separable rows, and with rows of a rare class that overlaps with the other."""
    folder = tmp_path_factory.mktemp("samplers")
    rng = np.random.default_rng(0)
    side = np.repeat(["left", "right"], 150)
    rows = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    rows["a"] = np.where(side == "left", -1, 1) * (1 + rng.random(300))
    rows.assign(side=side).to_csv(folder / "sides.csv", index=False)
    ill = np.where(np.arange(300) % 10 == 0, "ill", "healthy")
    risks = pd.DataFrame(rng.normal(size=(300, 3)) + (ill == "ill")[:, None], columns=["a", "b", "c"])
    risks.assign(state=ill).to_csv(folder / "ill.csv", index=False)
    return folder


def run_study(folder, name, text):
    (folder / f"{name}.toml").write_text(text)
    return Study.read(folder / f"{name}.toml").run(folder / f"{name}.fairtrial", jobs=1)


def test_filters_by_name_reduce_the_effect_of_class_noise(folder):
    results = run_study(
        folder,
        "filters",
        """
measures = ["accuracy"]
data = { sides = { file = "sides.csv", target = "side" } }
conditions = { class-noise = [0, 0.3] }
resampling = { folds = 2, repeats = 4 }

[learners]
plain = { learner = "nearest-neighbours" }
ipf = { learner = "nearest-neighbours", sampler = "ipf" }
cvcf = { learner = "nearest-neighbours", sampler = { sampler = "cvcf", n_folds = 5 } }

[learners.edited]
learner = "nearest-neighbours"
sampler = { sampler = "edited-nearest-neighbours", sampling_strategy = "all", kind_sel = "mode" }
""",
    )
    scores = results.scores()
    assert len(scores) == 4 * 2 * 8
    means = scores.groupby(["level", "learner"], observed=True)["value"].mean()
    assert means[0.0].min() > 0.95
    # The nearest neighbour of a test row has a wrong class with probability 0.3.
    assert 0.6 < means[0.3]["plain"] < 0.8
    for name in ("ipf", "cvcf", "edited"):
        assert means[0.3][name] > means[0.3]["plain"] + 0.05


def test_class_weights_find_more_of_a_rare_class_in_every_learner_that_has_them(folder):
    results = run_study(
        folder,
        "costs",
        """
measures = ["recall"]
data = { ill = { file = "ill.csv", target = "state" } }
resampling = { folds = 2 }

[learners]
tree = { learner = "c45" }
balanced = { learner = "c45", parameters = { class_weight = "balanced" } }
costly = { learner = "c45", parameters = { class_weight = { ill = 9, healthy = 1 } } }
smoted = { learner = "c45", sampler = "smote" }
logistic = { learner = "logistic-regression" }
logistic-costly = { learner = "logistic-regression", parameters = { class_weight = { ill = 9, healthy = 1 } } }
""",
    )
    recalls = results.scores().groupby("learner", observed=True)["value"].mean()
    # Nine rows in ten are healthy, so costs of 9 and 1 give both classes the same weight.
    assert recalls["balanced"] == recalls["costly"] > recalls["tree"]
    assert recalls["smoted"] > recalls["tree"]
    assert recalls["logistic-costly"] > recalls["logistic"]


def test_costs_of_numbered_classes_need_an_estimator_in_python(folder):
    data = {"ill": {"file": str(folder / "ill.csv"), "target": "state"}}
    weights = {"class_weight": {0: 1, 1: 9}}
    with pytest.raises(SpecError, match=r"class_weight.*must be text, got 0.*Python object"):
        Study(data, {"tree": {"learner": "decision-tree", "parameters": weights}}).resolve()
    Study(data, {"tree": DecisionTreeClassifier(**weights)}).resolve()
