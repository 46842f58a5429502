from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.errors import InputError
from fairtrial.predictions.judgement import judge
from fairtrial.predictions.read import read_predictions


def make_table(n=120):
    rng = np.random.default_rng(8)
    y_true = rng.integers(0, 2, n)
    logits = {name: 2 * y_true - 1 + spread * rng.normal(size=n) for name, spread in (("forest", 0.8), ("tree", 2.5))}
    columns = {f"{name}_proba": 1 / (1 + np.exp(-values)) for name, values in logits.items()}
    return pd.DataFrame({"y_true": np.where(y_true == 1, "yes", "no"), "sex": rng.choice(["f", "m"], n), **columns})


def list_kinds(judgement):
    return {note.kind for note in judgement.notes}


@pytest.fixture(scope="module")
def judgement():
    return judge(make_table(), resamples=200)


def test_every_table_has_its_rows(judgement):
    assert judgement.main == "auc"
    assert judgement.frame() is judgement.scores
    assert set(judgement.scores["model"]) == {"forest", "tree"}
    assert {"auc", "accuracy", "brier"} <= set(judgement.scores["measure"])
    assert set(judgement.pairs["test"]) == {"mcnemar", "delong", "bootstrap_difference", "permutation_test"}
    assert len(judgement.classes) == 4
    assert set(judgement.subgroups["subgroup"]) == {"f", "m"}
    assert set(judgement.calibration["model"]) == {"forest", "tree"}
    assert "roc" in judgement.curves


def test_the_ranking_has_the_numbers_of_the_tables(judgement):
    (ranking,) = judgement.findings
    assert (ranking.best, ranking.worse) == (("forest",), ("tree",))
    row = judgement.scores.query("model == 'forest' and measure == 'auc'").iloc[0]
    assert (ranking.values[0], *ranking.interval) == (row["estimate"], row["low"], row["high"])
    pair = judgement.pairs.query("test == 'delong'").iloc[0]
    (difference,) = ranking.pairs
    assert (difference.difference, difference.low, difference.high) == (pair["difference"], pair["low"], pair["high"])
    assert difference.p_adjusted == pair["p_adjusted"]


def test_the_short_form_fits_a_terminal(judgement):
    lines = str(judgement).splitlines()
    assert len(lines) <= 12 + 2
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("forest")
    assert [line.split()[0] for line in lines if line.startswith(("  forest", "  tree"))] == ["forest", "tree"]


@pytest.mark.parametrize("n_datasets", [2, 15])
def test_several_data_sets_have_a_short_form_too(n_datasets):
    table = pd.concat([make_table(60).assign(dataset=f"d{i}", id=range(60)) for i in range(n_datasets)])
    lines = str(judge(table, resamples=20)).splitlines()
    assert len(lines) <= 12 + 2
    assert max(map(len, lines)) <= 80


def test_the_explanation_has_all_measures_pairs_and_notes(judgement):
    text = judgement.explain()
    assert all(name in text for name in ("AUC", "Brier score", "F1 score", "McNemar", "DeLong", "bootstrap", "permutation"))
    assert len(text.splitlines()) > len(judgement.scores) + len(judgement.pairs)
    assert all(message.split()[0] in text for message in judgement.messages)


def test_html_is_escaped():
    table = make_table(40).rename(columns={"tree_proba": "<script>_proba"})
    assert "<script>" not in judge(table, resamples=20)._repr_html_()


def test_the_archive_has_the_predictions(judgement):
    assert [learner.name for learner in judgement.archive.learners] == ["forest", "tree"]
    assert judgement.archive.trials()["status"].eq("ok").all()


def test_measures_level_and_positive_class_of_predictions_read_before():
    file = read_predictions(make_table(), positive="no", scores=None)
    judgement = judge(file, measures=["f_score", "accuracy"], level=0.9, positive="no", resamples=50)
    assert judgement.main == "f_score"
    assert judgement.scores["measure"].unique().tolist() == ["f_score", "accuracy"]
    labels = np.where(make_table()["forest_proba"] < 0.5, "yes", "no")  # the column has the probabilities of `no`
    accuracy = (labels == make_table()["y_true"]).mean()
    row = judgement.scores.query("model == 'forest' and measure == 'accuracy'")
    assert row["estimate"].item() == pytest.approx(accuracy)
    with pytest.raises(InputError, match="y_true"):
        judge(file, y_true="y_true")


def test_weights_are_noted(judge_table):
    judgement = judge_table(make_table(60).assign(weight=1.0))
    assert list_kinds(judgement) & {"weights_used", "streamed_weights"}


def test_repeated_predictions_count_once(judge_table):
    repeated = pd.concat([make_table(60).assign(row=np.arange(60), repeat=i) for i in range(2)], ignore_index=True)
    once, twice = judge_table(make_table(60)), judge_table(repeated)
    assert "repeated_predictions" in list_kinds(twice)
    assert np.allclose(once.scores["estimate"], twice.scores["estimate"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"level": 95}, "level"),
        ({"alpha": 0}, "alpha"),
        ({"resamples": 1}, "resamples"),
        ({"measures": ["acuracy"]}, "'accuracy'"),
        ({"positive": "maybe"}, "positive.*'maybe'"),
        ({"stream": True}, "stream"),
        ({"truht": "y"}, "'truht'"),
    ],
)
def test_invalid_options_are_refused(options, match):
    with pytest.raises((InputError, TypeError), match=match):
        judge(make_table(20), **options)


def test_labels_one_and_zero_match_true_and_false(judge_table):
    y_true = np.array([0, 1] * 30)
    labels = np.where(np.arange(60) < 12, 1 - y_true, y_true)
    judgement = judge_table(pd.DataFrame({"y_true": y_true == 1, "forest": labels}), measures="accuracy")
    assert judgement.scores["estimate"].tolist() == [0.8]
    (note,) = [note for note in judgement.notes if note.kind == "matched_labels"]
    assert note["models"] == ("forest",)


def test_an_unknown_label_is_refused_with_its_column():
    table = pd.DataFrame({"y_true": ["yes", "no"] * 10, "forest": ["yes", "maybe"] * 10})
    with pytest.raises(InputError, match=r"'maybe'.*'forest'"):
        judge(table)


def test_notes_about_several_models_are_merged(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 20, "a_proba": [0.2, 0.7] * 20, "b_proba": [0.2, 0.7] * 20})
    notes = [note for note in judge_table(table).notes if note.kind == "labels_from_probabilities"]
    assert [note["models"] for note in notes] == [("a", "b")]


@pytest.mark.parametrize(("p_value", "kind"), [(0.03, "interval_unadjusted"), (0.09, "interval_of_other_method")])
def test_an_interval_without_zero_is_explained_if_the_difference_is_not_significant(judgement, p_value, kind):
    pairs = judgement.pairs.assign(p_value=p_value, p_adjusted=0.09)
    text = replace(judgement, pairs=pairs).explain()
    assert " ".join(render(Finding.of(kind, first="forest", second="tree"), "model").split()) in " ".join(text.split())
    assert "excludes zero" not in judgement.explain()


def test_the_smallest_p_of_resamples_is_marked_as_a_bound(judgement):
    is_bound = judgement.pairs["at_minimum"]
    lines = [line for line in judgement.explain().splitlines() if line.startswith("  forest - tree")]
    assert is_bound.any()
    assert ["<=" in line for line in lines] == is_bound.tolist()
