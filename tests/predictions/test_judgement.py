"""Tests of `fairtrial.predictions.judgement`."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from fairtrial import judge as judge_methodology, judge as judge_verdict
from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, evaluate, get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.predictions.archive import PredictionArchive
from fairtrial.predictions.judgement import judge
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import MANY_ROWS, REDUCED_RESAMPLES, JudgeSettings, ignore_warnings
from fairtrial.predictions.subgroups import build_subgroups, list_subgroups
from fairtrial.predictions.tables import build_calibration, build_classes, build_scores
from fairtrial.predictions.validate import Notes
from fairtrial.significance import corrected_resampled_t
from fairtrial.study.archive import TRIAL_COLUMNS
from fairtrial.study.store.transfer import export

# --- Judgement ---


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
    assert set(judgement.pairs["test"]) == {"auc_test"}
    assert set(judgement.tests["test"]) == {"mcnemar", "auc_test"}
    assert len(judgement.classes) == 4
    assert set(judgement.subgroups["subgroup"]) == {"f", "m"}
    assert set(judgement.calibration["model"]) == {"forest", "tree"}
    assert "roc" in judgement.curves


def test_the_ranking_has_the_numbers_of_the_tables(judgement):
    (ranking,) = judgement.findings
    assert (ranking.best, ranking.worse) == (("forest",), ("tree",))
    row = judgement.scores.query("model == 'forest' and measure == 'auc'").iloc[0]
    assert (ranking.values[0], *ranking.interval) == (row["estimate"], row["low"], row["high"])
    pair = judgement.pairs.iloc[0]
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
    assert all(name in text for name in ("AUC", "Brier score", "F1 score", "McNemar", "DeLong"))
    assert len(text.splitlines()) > len(judgement.scores) + len(judgement.tests)
    assert all(message.split()[0] in text for message in judgement.messages)


def test_html_is_escaped():
    table = make_table(40).rename(columns={"tree_proba": "<script>_proba"})
    assert "<script>" not in judge(table, resamples=20)._repr_html_()


def test_a_notebook_shows_the_answer_decisions_and_important_notes_before_the_details():
    rng = np.random.default_rng(1)
    y_true, patients = rng.integers(0, 2, 400), np.repeat(np.arange(40), 10)
    scores = {"gpt-4o": y_true + rng.normal(size=400), "tree": rng.normal(size=400)}
    table = pd.DataFrame(
        {"patient": patients, "y_true": y_true, **{f"{name}_score": values for name, values in scores.items()}}
    )
    judgement = judge(table, measures=["auc", "accuracy"], margin=0.05, resamples=20)
    visible, details = judgement._repr_html_().split("<details>")
    assert judgement.margins[0].result.decision == "superior"
    assert "superior" in visible
    assert "undeclared_clusters" in {note.kind for note in judgement.notes}
    assert "cluster=" in visible
    assert "accuracy" in details
    assert "Gpt-4o" not in visible + details


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
    judgement = judge_table(make_table(60).assign(weight=[1.0, 2.0] * 30))
    assert list_kinds(judgement) & {"weights_used", "streamed_weights"}
    judgement = judge_table(make_table(60).assign(weight=2.0))
    assert not list_kinds(judgement) & {"weights_used", "streamed_weights"}


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
    assert " ".join(render(Finding.of(kind, first="forest", second="tree", scope=""), "model").split()) in " ".join(
        text.split()
    )
    assert "excludes zero" not in judgement.explain()


def test_the_smallest_p_of_resamples_is_marked_and_never_printed_as_zero():
    judgement = judge(make_table(), measures="brier")
    assert judgement.pairs["at_minimum"].tolist() == [True]
    assert judgement.pairs["p_value"].tolist() == [1 / 10_001]
    lines = [line for line in judgement.explain().splitlines() if line.startswith("  forest - tree") and "permutation" in line]
    assert ["< 0.001" in line for line in lines] == [True]


# --- Tables ---


SETTINGS = JudgeSettings(resamples=100, seed=0)
SCORE_COLUMNS = ["score[a]", "score[b]", "score[c]"]


def make_table_tables(n=90):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, n)
    scores = 0.4 * np.eye(3)[codes] + rng.random((n, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    subgroups = rng.choice(["u", "v", "w"], n, p=[0.6, 0.35, 0.05])
    columns = dict(zip(SCORE_COLUMNS, scores.T, strict=True))
    return pd.DataFrame({"y_true": np.array(list("abc"))[codes], "group": subgroups, **columns})


def predict_labels(table):
    return np.array(list("abc"))[table[SCORE_COLUMNS].to_numpy().argmax(axis=1)]


def test_classes_match_scikit_learn(read_models):
    table = make_table_tables()
    labels = predict_labels(table)
    classes = build_classes(read_models(table), 0.95).set_index("class")
    precision, recall, f_score, support = precision_recall_fscore_support(table["y_true"], labels, labels=list("abc"))
    for name, values in (("precision", precision), ("recall", recall), ("f_score", f_score), ("support", support)):
        assert classes[name].tolist() == pytest.approx(values.tolist())
    aucs = [roc_auc_score(table["y_true"] == label, table[f"score[{label}]"]) for label in "abc"]
    assert classes["auc"].tolist() == pytest.approx(aucs)
    hits = int(((table["y_true"] == "a") & (labels == "a")).sum())
    limits = compute_wilson_limits(hits, support[0], 0.95)
    assert classes.loc["a", ["recall_low", "recall_high"]].tolist() == pytest.approx(limits)


def test_scores_have_a_row_for_each_model_and_measure(read_models):
    scores = build_scores(read_models(make_table_tables()), [accuracy, get_measure("brier")], SETTINGS)
    assert scores[["model", "measure", "better"]].values.tolist() == [
        ["model", "accuracy", "higher"],
        ["model", "brier", "lower"],
    ]
    assert (scores["low"] < scores["estimate"]).all()
    assert (scores["estimate"] < scores["high"]).all()


def test_subgroups_are_judged_by_their_own_rows(read_models):
    table = make_table_tables()
    labels = predict_labels(table)
    models = read_models(table)
    subgroups = build_subgroups(models, list_subgroups(models, ["group"], Notes()), get_measure("kappa"), SETTINGS)
    assert subgroups["measure"].unique().tolist() == ["kappa", "accuracy"]
    assert subgroups["subgroup"].tolist() == ["u", "u", "v", "v", "w", "w"]
    for subgroup in "uv":
        members = (table["group"] == subgroup).to_numpy()
        direct = evaluate(table["y_true"][members], labels[members], measures=["accuracy"], labels=list("abc"))["accuracy"]
        row = subgroups.query("subgroup == @subgroup and measure == 'accuracy'").iloc[0]
        assert (row["rows"], row["estimate"], row["low"]) == (members.sum(), direct.estimate, direct.low)
        assert row["proportion"] == pytest.approx(members.mean())


def test_a_column_with_too_many_values_has_no_subgroups(read_models):
    notes = Notes()
    models = read_models(make_table_tables().assign(group=np.arange(90)))
    assert len(build_subgroups(models, list_subgroups(models, ["group"], notes), accuracy, SETTINGS)) == 0
    assert [(note.kind, note["column"], note["subgroups"]) for note in notes.findings] == [("many_subgroups", "group", 90)]


@pytest.mark.parametrize(("rows", "is_small"), [((10, 9), True), ((36, 4), True), ((20, 20), False)])
def test_small_subgroups_have_a_note(read_models, rows, is_small):
    y_true = np.repeat([0, 1], rows)
    models = read_models(pd.DataFrame({"y_true": y_true, "prediction": y_true, "group": "u"}))
    subgroups = build_subgroups(models, list_subgroups(models, ["group"], Notes()), accuracy, SETTINGS)
    assert [bool(note) for note in subgroups.loc[subgroups["measure"] == "accuracy", "note"]] == [is_small]


def test_calibration_of_the_most_probable_of_three_classes(read_models):
    table = make_table_tables()
    calibration = build_calibration(read_models(table), 0.95)
    probability = table[SCORE_COLUMNS].to_numpy().max(axis=1)
    is_correct = predict_labels(table) == table["y_true"]
    for row in calibration.to_dict("records"):
        low = np.floor(row["mean_predicted"] * 10) / 10
        members = (probability > low) & (probability <= low + 0.1)
        assert row["weight"] == members.sum()
        assert row["observed_frequency"] == pytest.approx(is_correct[members].mean())
        assert row["mean_predicted"] == pytest.approx(probability[members].mean())
    assert calibration["class"].unique().tolist() == ["most probable"]
    assert calibration["weight"].sum() == len(table)


def test_calibration_of_two_classes_and_of_labels(read_models):
    table = pd.DataFrame({"y_true": [0, 1, 1, 0], "p": [0.15, 0.85, 0.75, 0.12]})
    assert build_calibration(read_models(table), 0.95)["observed_frequency"].tolist() == [0.0, 1.0, 1.0]


def test_labels_have_no_calibration(read_models):
    assert len(build_calibration(read_models(pd.DataFrame({"y_true": [0, 1], "prediction": [0, 1]})), 0.95)) == 0


# --- Pairs ---


# --- Verdict ---


def example(datasets=1, n=100, folds=5):
    rng = np.random.default_rng(5)
    parts = []
    for i in range(datasets):
        truth = rng.integers(0, 2, n)
        columns = {"dataset": f"d{i}", "row": np.arange(n), "fold": np.arange(n) % folds, "truth": truth}
        labels = {name: np.where(rng.random(n) < right, truth, 1 - truth) for name, right in (("good", 0.9), ("poor", 0.6))}
        parts += [pd.DataFrame({**columns, "model": name, "prediction": each}) for name, each in labels.items()]
    return pd.concat(parts, ignore_index=True)


def judge_accuracy(table):
    return judge_verdict(table, measures="accuracy", resamples=20)


def test_values_of_splits_by_hand():
    table = example()
    found = judge_accuracy(table).verdict.table
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    assert found.learners == ("good", "poor")
    for number, name in enumerate(found.learners):
        assert found.values[:, number].tolist() == pytest.approx(right[name].tolist())


def test_splits_of_one_data_set_are_corrected_for_their_overlap():
    table = example()
    verdict = judge_accuracy(table).verdict
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    direct = corrected_resampled_t(right["good"].to_numpy(), right["poor"].to_numpy(), test_fraction=0.2)
    assert verdict.unit == "split"
    assert verdict.p_value == pytest.approx(direct.p_value)


def test_several_data_sets_are_compared_by_data_set():
    verdict = judge_accuracy(example(datasets=6)).verdict
    assert verdict.unit == "data set"
    assert verdict.choice == "wilcoxon"
    assert verdict.p_value == pytest.approx(2 / 2**6)


def test_one_split_one_model_and_equal_models_have_no_verdict():
    assert judge_accuracy(example(folds=1)).verdict is None
    table = example()
    assert judge_accuracy(table[table["model"] == "good"]).verdict is None
    equal = judge_accuracy(table.assign(prediction=table["truth"]))
    assert equal.verdict is None
    assert [note["units"] for note in equal.notes if note.kind == "no_comparison"] == ["splits"]
    assert "No comparison over splits" in equal.explain()


# --- Methodology ---


@pytest.mark.parametrize(
    ("counts", "measure", "kinds"),
    [
        ({"a": 50, "b": 50}, "accuracy", []),
        ({"a": 75, "b": 25}, "accuracy", ["FT002"]),
        ({"a": 74, "b": 26}, "accuracy", []),
        ({"a": 75, "b": 25}, "kappa", []),
        ({"a": 20, "b": 9}, "kappa", ["FT003", "few_rows"]),
        ({"a": 20, "b": 20, "c": 0}, "kappa", []),
    ],
)
def test_raised_checks(judge_table, counts, measure, kinds):
    labels = [label for label, rows in counts.items() for _ in range(rows)]
    scores = {f"score[{label}]": [float(label == own) for own in labels] for label in counts}
    judgement = judge_table(pd.DataFrame({"y_true": labels, "prediction": labels, **scores}), measures=measure)
    assert judgement.class_counts == {"data": counts}
    assert [finding.kind for finding in judgement.methodology] == kinds


def test_checks_name_the_data_set_if_there_are_several():
    labels = ["a"] * 90 + ["b"] * 30
    table = pd.DataFrame({"dataset": ["old"] * 120 + ["new"] * 120, "row": [*range(120)] * 2, "y_true": labels * 2})
    judgement = judge_methodology(table.assign(prediction=table["y_true"]), measures="accuracy", resamples=20)
    assert [finding["dataset"] for finding in judgement.methodology if finding.kind == "FT002"] == ["old", "new"]
    assert [message.split(":")[0] for message in judgement.messages[:2]] == ["old", "new"]


# --- Settings ---


def test_very_many_rows_are_drawn_less_often():
    assert JudgeSettings(resamples=2000).limit_resamples(MANY_ROWS) == 2000
    assert JudgeSettings(resamples=2000).limit_resamples(MANY_ROWS + 1) == REDUCED_RESAMPLES
    assert JudgeSettings(resamples=50).limit_resamples(MANY_ROWS + 1) == 50


def test_only_our_warnings_are_silent():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ignore_warnings():
            for kind in (UndefinedMeasureWarning, FallbackWarning, RuntimeWarning):
                warnings.warn("said", kind, stacklevel=1)
    assert [each.category for each in told] == [RuntimeWarning]


# --- Archive ---


def lines():
    rng = np.random.default_rng(0)
    parts = []
    for dataset in ("one", "two"):
        truth = rng.permutation(np.repeat(["a", "b"], 10))
        for name in ("tree", "forest"):
            p = rng.random(20)
            columns = {"dataset": dataset, "row": np.arange(20), "fold": np.arange(20) % 4, "learner": name, "truth": truth}
            parts.append(pd.DataFrame({**columns, "score[a]": 1 - p, "score[b]": p}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def archive():
    return PredictionArchive(read_predictions(lines()), measures=["accuracy"])


def test_a_trial_for_each_data_set_split_and_model(archive):
    trials = archive.trials()
    assert tuple(trials.columns) == TRIAL_COLUMNS
    assert len(trials) == 2 * 4 * 2
    assert trials["status"].eq("ok").all()
    assert trials["trial"].is_unique
    assert [each.name for each in archive.learners] == ["tree", "forest"]
    assert [each.name for each in archive.datasets] == ["one", "two"]
    assert archive.datasets[0].counts.tolist() == [10, 10]
    assert archive.conditions[0].name == "clean"
    assert archive.conditions[0].level == 0


def test_predictions_are_those_of_the_file(archive):
    table, trials = lines(), archive.trials()
    for line, found in zip(trials.to_dict("records"), archive.predictions(trials["trial"].tolist()), strict=True):
        own = table[
            (table["dataset"] == line["dataset"]) & (table["learner"] == line["learner"]) & (table["fold"] == line["fold"])
        ]
        assert found.rows.tolist() == own["row"].tolist()
        assert found.y_true.tolist() == (own["truth"] == "b").astype(int).tolist()
        assert found.prediction.tolist() == (own["score[b]"] > own["score[a]"]).astype(int).tolist()
        assert np.array_equal(found.scores, own[["score[a]", "score[b]"]].to_numpy())
        assert found.score_kind == "probability"


def test_splits_are_what_is_tested_and_the_rest(archive):
    train, test = archive.split("one", 0, 1)
    assert test.tolist() == [1, 5, 9, 13, 17]
    assert len(train) == 15
    with pytest.raises(InputError, match="did you mean 'one'"):
        archive.split("on", 0, 1)
    with pytest.raises(InputError, match="trial"):
        list(archive.predictions([16]))


def test_a_model_without_a_split_has_a_missing_trial():
    table = lines()
    short = table[~((table["learner"] == "tree") & (table["fold"] == 2) & (table["dataset"] == "one"))]
    trials = PredictionArchive(read_predictions(short)).trials()
    gone = trials[trials["status"] == "missing"]
    assert gone[["dataset", "learner", "fold"]].values.tolist() == [["one", "tree", 2]]
    assert gone["trial"].tolist() == [-1]


def test_what_is_exported_is_read_again(archive, tmp_path):
    export(archive, tmp_path / "out.csv")
    again = PredictionArchive(read_predictions(tmp_path / "out.csv"))
    ours, theirs = archive.trials(), again.trials()
    assert ours[["dataset", "learner", "fold"]].equals(theirs[["dataset", "learner", "fold"]])
    pairs = zip(archive.predictions(ours["trial"].tolist()), again.predictions(theirs["trial"].tolist()), strict=True)
    for a, b in pairs:
        assert np.array_equal(a.prediction, b.prediction)
        assert np.allclose(a.scores, b.scores, atol=1e-15)
    assert [each.content_hash for each in archive.datasets] != [each.content_hash for each in archive.datasets[::-1]]


def test_results_are_made_of_it(archive):
    from fairtrial.study.results.results import Results

    scores = Results(archive).scores(["accuracy"])
    table = lines()
    own = table[(table["dataset"] == "two") & (table["learner"] == "forest") & (table["fold"] == 0)]
    expected = accuracy(own["truth"].to_numpy(), np.where(own["score[b]"] > 0.5, "b", "a"))
    found = scores[(scores["dataset"] == "two") & (scores["learner"] == "forest") & (scores["fold"] == 0)]
    assert found["value"].tolist() == [expected]


# --- Threshold ---


@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_a_threshold_determines_the_labels(threshold):
    table = make_table()
    judgement = judge(table, threshold=threshold, measures=["recall", "precision"], subgroup="sex", positive="yes", resamples=5)
    for name in ("forest", "tree"):
        predicted = np.where(table[f"{name}_proba"] >= threshold, "yes", "no")
        precision, recall, _, _ = precision_recall_fscore_support(table["y_true"], predicted, pos_label="yes", average="binary")
        scores = judgement.scores[judgement.scores["model"] == name].set_index("measure")["estimate"]
        assert scores[["recall", "precision"]].tolist() == pytest.approx([recall, precision])
    rule = f"the positive class if the score is at least {threshold}"
    assert judgement.label_rules == (f"Predicted labels of forest and tree: {rule}.",)
    assert judge(read_predictions(table), threshold=threshold, measures="recall", positive="yes", resamples=5).main == "recall"


def test_a_threshold_of_scores_replaces_missing_labels():
    table = pd.DataFrame({"y_true": [0, 0, 1, 1] * 10, "score": np.tile([1.0, 2.0, 2.5, 4.0], 10)})
    judgement = judge(table, scores="score", threshold=2.2, measures="accuracy", positive=1, resamples=5)
    assert judgement.scores["estimate"].tolist() == [1.0]
    assert "no_labels" not in list_kinds(judgement)


def test_a_threshold_that_cannot_be_used_is_refused(tmp_path):
    table = make_table()
    with pytest.raises(
        InputError, match=r"but 'tree' has predicted labels in the file: remove the column of labels, or omit threshold"
    ):
        judge(table[["y_true"]].assign(tree="yes"), prediction={"tree": "tree"}, threshold=0.3)
    with pytest.raises(InputError, match=r"between 0 and 1 for probabilities, got 30"):
        judge(table, threshold=30, positive="yes")
    three = pd.DataFrame({"y_true": list("abc") * 10, "p_a": 0.5, "p_b": 0.3, "p_c": 0.2})
    with pytest.raises(InputError, match="threshold needs two classes, got 3"):
        judge(three, threshold=0.3)
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    with pytest.raises(InputError, match="needs rows in memory, but the file is streamed"):
        judge(path, threshold=0.3, stream=True)
