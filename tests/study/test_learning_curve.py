"""Learning curves of a study: training sizes as conditions, their scores, intervals, figure and section."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import t
from sklearn.model_selection import learning_curve
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from fairtrial import Study, draw
from fairtrial.cli import app
from fairtrial.data import load
from fairtrial.errors import InputError, SpecError
from fairtrial.report import build_sections
from fairtrial.study.plan.plan import TrialBlock
from fairtrial.study.run.trial_data import TrialData, apply_condition

SIZES = [0.1, 0.3, 40, 1.0]


def make_study(data=("iris", "wine"), conditions=None):
    return Study(
        list(data),
        {"bayes": GaussianNB(), "stump": "decision-stump"},
        conditions={"train-size": SIZES} if conditions is None else conditions,
        resampling={"folds": 3},
        measures=["accuracy"],
        seed=2,
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("curve") / "curve.fairtrial"


@pytest.fixture(scope="module")
def results(path):
    return make_study().run(path, jobs=2, progress=False)


def test_all_rows_are_clean_data():
    names = [(condition.name, condition.level) for condition in make_study().resolve().conditions]
    assert names == [("train-size", 0.1), ("train-size", 0.3), ("train-size", 40.0), ("clean", 0.0)]


def test_scores_are_those_of_scikit_learn_on_the_same_subsets(results):
    """The nested training sets of a split, ordered by size, are the training set of scikit-learn's learning curve."""
    plan = make_study().plan()
    dataset = load("iris")
    data, planned = TrialData.from_dataset(dataset), plan.data[0]
    scores = results.scores("accuracy")
    scores = scores[(scores["dataset"] == "iris") & (scores["learner"] == "bayes")]
    for split in range(3):
        nested = []
        for index in range(3):
            chunk = plan.build_chunk([TrialBlock(0, split, index, (0, 1))], [b"", b""])
            applied = apply_condition(data, planned.splits[split], chunk.conditions[0], chunk.tasks[0].condition_seed)
            nested.append(applied.train.rows)
        nested = sorted([*nested, planned.splits[split].train], key=len)
        pieces = [np.setdiff1d(large, small) for small, large in pairwise(nested)]
        train = np.concatenate([nested[0], *pieces])
        assert len(train) == len(nested[-1])
        _, _, expected = learning_curve(
            GaussianNB(),
            dataset.X.to_numpy(),
            dataset.y.to_numpy(),
            train_sizes=[len(rows) for rows in nested],
            cv=[(train, planned.splits[split].test)],
        )
        found = scores[scores["fold"] == split]
        by_size = [
            found[(found["condition"] == "train-size") & (found["level"] == level)]["value"].item() for level in (0.1, 0.3, 40)
        ]
        full = found[found["condition"] == "clean"]["value"].item()
        sizes = [10, 30, 40, 100]
        assert [len(rows) for rows in nested] == sizes
        assert [*by_size, full] == pytest.approx(expected[:, 0].tolist())


def test_means_and_intervals(results):
    curve = results.learning_curve().set_index(["dataset", "learner", "size"])
    scores = results.scores("accuracy").query("dataset == 'iris' and learner == 'bayes' and level == 0.3")["value"].to_numpy()
    line = curve.loc["iris", "bayes", 0.3]
    assert line["mean"] == pytest.approx(scores.mean())
    half = t.ppf(0.975, 2) * np.sqrt((1 / 3 + 1 / 2) * scores.var(ddof=1))  # 50 test rows for 100 training rows
    assert line["low"] == pytest.approx(max(0, scores.mean() - half))
    assert line["high"] == pytest.approx(min(1, scores.mean() + half))
    assert line["rows"] == 30
    assert curve.loc["iris", "bayes", 1.0]["rows"] == 100
    overall = results.learning_curve(by="all").set_index(["learner", "size"])
    means = [curve.loc[name, "stump", 0.1]["mean"] for name in ("iris", "wine")]
    assert overall.loc["stump", 0.1]["mean"] == pytest.approx(np.mean(means))
    assert overall.loc["stump", 0.1]["datasets"] == 2


def test_figure(results):
    chart = draw(results, "learning-curve", dataset="wine").to_dict()
    assert chart["layer"][0]["encoding"]["x"]["title"] == "Training rows"
    (rows,) = chart["datasets"].values()
    curve = results.learning_curve().query("dataset == 'wine'")
    assert sorted(row["mean"] for row in rows) == pytest.approx(sorted(curve["mean"]))
    assert draw(results, "learning-curve").to_dict()["title"]["text"] == "Learning curves: 2 data sets"


def test_section_and_command(results, path):
    sections = {section.key: section for section in build_sections(results)}
    table = sections["learning-curve"].tables[0].frame
    assert table["mean"].tolist() == results.learning_curve(by="all")["mean"].tolist()
    texts = [sentence.text for sentence in sections["learning-curve"].sentences]
    assert all(re.match(r"With \d+ training rows on average, ", text) for text in texts), texts
    assert "robustness" not in sections
    shown = CliRunner().invoke(app, ["results", str(path), "--show", "learning-curve"])
    assert shown.exit_code == 0
    assert shown.output.splitlines()[0].split() == ["learner", "size", "rows", "mean", "low", "high", "datasets"]


def test_training_sizes_are_not_noise(results):
    with pytest.raises(InputError, match="robustness needs a condition other than clean"):
        results.robustness()


def test_studies_without_sizes_have_no_curve(tmp_path):
    results = make_study(["iris"], {"clean": {}}).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    with pytest.raises(InputError, match=r"declare train-size = \[0.1, 0.3, 1.0\]"):
        results.learning_curve()
    assert "learning-curve" not in {section.key for section in build_sections(results)}


def test_wrong_sizes_are_located():
    with pytest.raises(
        SpecError, match=r"conditions.train-size.level\[1\]: level must be a proportion up to 1 or a whole number"
    ):
        make_study(conditions={"train-size": [0.1, 1.5]}).resolve()
