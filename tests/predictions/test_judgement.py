import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.judgement import judge
from fairtrial.predictions.read import read_predictions


def example(n=120):
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, n)
    logits = {name: 2 * truth - 1 + spread * rng.normal(size=n) for name, spread in (("forest", 0.8), ("tree", 2.5))}
    columns = {f"{name}_proba": 1 / (1 + np.exp(-each)) for name, each in logits.items()}
    return pd.DataFrame({"truth": np.where(truth == 1, "yes", "no"), "sex": rng.choice(["f", "m"], n), **columns})


@pytest.fixture(scope="module")
def found():
    return judge(example(), resamples=200)


def test_every_table_is_there(found):
    assert found.main == "auc"
    assert found.frame() is found.scores
    assert set(found.scores["model"]) == {"forest", "tree"}
    assert {"auc", "accuracy", "brier"} <= set(found.scores["measure"])
    assert set(found.pairs["test"]) == {"mcnemar", "delong", "bootstrap_difference", "permutation_test"}
    assert len(found.classes) == 4
    assert set(found.subgroups["subgroup"]) == {"f", "m"}
    assert set(found.calibration["model"]) == {"forest", "tree"}
    assert "roc" in found.curves
    assert found.summary[0].startswith("forest has the best auc")
    assert "It is ahead of tree" in found.summary[0]


def test_words_hold_the_numbers_of_the_tables(found):
    line = found.scores.query("model == 'forest' and measure == 'auc'").iloc[0]
    pair = found.pairs.query("test == 'delong'").iloc[0]
    for number in (line["estimate"], line["low"], line["high"], pair["difference"], pair["low"], pair["high"]):
        assert f"{number:.4g}" in found.summary[0]


def test_shown_as_text_and_escaped_as_html(found):
    assert "forest has the best auc" in str(found)
    assert "most likely classes" in str(found)
    assert "permutation_test" in str(found)
    table = example(40).rename(columns={"tree_proba": "<script>_proba"})
    assert "<script>" not in judge(table, resamples=20)._repr_html_()


def test_the_archive_holds_the_predictions(found):
    assert [each.name for each in found.archive.learners] == ["forest", "tree"]
    assert found.archive.trials()["status"].eq("ok").all()


def test_measures_level_positive_and_predictions_read_before():
    file = read_predictions(example(), positive="no", scores=None)
    first = judge(file, measures=["f_score", "accuracy"], level=0.9, positive="no", resamples=50)
    assert first.main == "f_score"
    assert first.scores["measure"].unique().tolist() == ["f_score", "accuracy"]
    labels = np.where(example()["forest_proba"] < 0.5, "yes", "no")  # the column is that of `no`
    right = (labels == example()["truth"]).mean()
    assert first.scores.query("model == 'forest' and measure == 'accuracy'")["estimate"].item() == pytest.approx(right)
    with pytest.raises(InputError, match="roles must be given when the file is read"):
        judge(file, y_true="truth")


def test_weights_and_repeats_are_told():
    table = example(60).assign(weight=1.0)
    said = " ".join(judge(table, resamples=20).notes)
    assert "McNemar, DeLong and permutation tests cannot" in said
    twice = pd.concat([example(60).assign(row=np.arange(60), repeat=i) for i in range(2)], ignore_index=True)
    once = judge(example(60), resamples=20)
    again = judge(twice, resamples=20)
    assert "use the first prediction of each row" in " ".join(again.notes)
    assert np.allclose(once.scores["estimate"], again.scores["estimate"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"alpha": 0}, "alpha must lie between 0 and 1"),
        ({"resamples": 1}, "resamples must be at least 2"),
        ({"measures": ["acuracy"]}, "did you mean 'accuracy'"),
        ({"positive": "maybe"}, "positive must be one of the classes, got 'maybe'"),
        ({"stream": True}, "stream must be None or False for a frame"),
        ({"truht": "y"}, "unexpected keyword argument 'truht'|no role is called 'truht'"),
    ],
)
def test_bad_wishes_are_told(options, told):
    with pytest.raises((InputError, TypeError), match=told):
        judge(example(20), **options)


@pytest.mark.parametrize("stream", [False, True])
def test_truth_of_true_and_false_with_labels_of_one_and_zero(tmp_path, stream):
    truth = np.array([0, 1] * 30)
    labels = np.where(np.arange(60) < 12, 1 - truth, truth)
    path = tmp_path / "p.csv"
    pd.DataFrame({"truth": truth == 1, "forest": labels}).to_csv(path, index=False)
    found = judge(str(path), resamples=20, measures="accuracy", stream=stream)
    assert found.scores["estimate"].tolist() == [0.8]
    assert "model 'forest' uses other names for the labels of the truth" in " ".join(found.notes)


def test_an_unknown_label_is_named():
    table = pd.DataFrame({"truth": ["yes", "no"] * 10, "forest": ["yes", "maybe"] * 10})
    with pytest.raises(InputError, match=r"got 'maybe' in column 'forest'.*prediction='forest'"):
        judge(table)


def test_the_text_names_the_positive_class_and_what_is_wrong_with_the_method():
    told = str(judge(pd.DataFrame({"truth": ["no"] * 95 + ["yes"] * 5, "always": ["no"] * 100}), resamples=20))
    assert "The positive class is 'yes' (the second of two in their order; --positive LABEL names another)." in told
    assert "FT002: Models are judged by accuracy" in told


def test_notes_of_several_models_are_joined():
    table = pd.DataFrame({"truth": [0, 1] * 20, "a_proba": [0.2, 0.7] * 20, "b_proba": [0.2, 0.7] * 20})
    told = judge(table, resamples=20).notes
    assert "The file has no labels of model 'a' and model 'b': they are their most likely classes." in told
