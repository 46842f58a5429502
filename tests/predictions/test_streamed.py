"""Tests of `fairtrial.predictions.streamed`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally
from fairtrial.measures.confusion import Confusion
from fairtrial.predictions import judgement, streamed
from fairtrial.predictions.judgement import is_too_long, judge
from fairtrial.predictions.streamed import StreamedFile, StreamedModels, quote_identifier, quote_literal
from fairtrial.predictions.validate import Notes

# --- Streamed ---


def example(n=1500):
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, n)
    columns = {
        f"{name}_proba": 1 / (1 + np.exp(-(2 * truth - 1 + spread * rng.normal(size=n))))
        for name, spread in (("x", 1), ("y", 2))
    }
    old = np.where(rng.random(n) < 0.7, truth, 1 - truth)
    return pd.DataFrame(
        {
            "truth": np.where(truth, "yes", "no"),
            "sex": rng.choice(["f", "m", None], n),
            **columns,
            "old": np.where(old, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "p.csv"
    example().to_csv(path, index=False)
    return judge(path, resamples=50), judge(path, stream=True)


def meeting(held, counted, keys, columns):
    joined = held.merge(counted, on=keys, suffixes=("", "_counted"))
    assert len(joined) == len(counted)
    for column in columns:
        assert np.allclose(joined[column].astype(float), joined[f"{column}_counted"].astype(float), atol=1e-9, equal_nan=True)


def test_streamed_estimates_are_those_in_memory(both):
    held, counted = both
    assert held.main == counted.main == "accuracy"
    meeting(held.scores, counted.scores, ["dataset", "model", "measure"], ["estimate", "rows", "chance"])
    closed = counted.scores[counted.scores["method"].isin(["wilson", "score"])]
    meeting(held.scores, closed, ["dataset", "model", "measure"], ["low", "high"])
    assert set(closed["measure"]) == {"accuracy", "auc", "oe_ratio"}


def test_streamed_tables_are_those_in_memory(both):
    held, counted = both
    meeting(
        held.classes, counted.classes, ["dataset", "model", "class"], ["support", "precision", "recall_low", "f_score", "auc"]
    )
    meeting(
        held.subgroups,
        counted.subgroups,
        ["column", "subgroup", "model", "measure"],
        ["rows", "estimate", "low", "high", "proportion"],
    )
    assert "(missing)" in set(counted.subgroups["subgroup"])
    columns = ["mean_predicted", "observed_frequency", "weight", "low", "high"]
    assert np.allclose(held.calibration[columns], counted.calibration[columns])
    assert set(counted.curves) == set(held.curves)
    assert counted.findings[0].names == held.findings[0].names
    assert counted.findings[0].worse == held.findings[0].worse


def test_the_unit_of_weights_does_not_change_calibration_limits(judge_table):
    table, limits = example(300)[["truth", "x_proba"]], []
    for weight in (None, 1.0, 1000.0):
        weighted = table if weight is None else table.assign(weight=weight)
        limits.append(judge_table(weighted, measures=["auc"]).calibration[["low", "high"]])
    assert np.allclose(limits[0], limits[1])
    assert np.allclose(limits[0], limits[2])


def test_a_streamed_judgement_has_no_predictions(both):
    _, counted = both
    assert counted.predictions is None
    with pytest.raises(InputError, match="archive"):
        _ = counted.archive
    assert "streamed_file" in {note.kind for note in counted.notes}


def test_three_classes_with_weights(tmp_path):
    rng = np.random.default_rng(4)
    scores = rng.dirichlet([1, 1, 1], 300)
    table = pd.DataFrame(
        {"truth": rng.choice([1, 2, 3], 300), "weight": rng.random(300), **{f"p_{i + 1}": scores[:, i] for i in range(3)}}
    )
    table.to_parquet(tmp_path / "p.parquet")
    held, counted = judge(table, resamples=20), judge(tmp_path / "p.parquet", stream=True)
    meeting(held.scores, counted.scores, ["model", "measure"], ["estimate"])
    assert {"accuracy", "kappa", "brier", "log_loss"} <= set(counted.scores["measure"])
    assert counted.scores["low"].isna().all()
    assert "streamed_weights" in {note.kind for note in counted.notes}


def test_long_files_are_streamed_by_default(tmp_path, monkeypatch):
    example(50).to_csv(tmp_path / "p.csv", index=False)
    monkeypatch.setattr(judgement, "is_too_long", lambda _: True)
    assert judge(tmp_path / "p.csv").predictions is None
    assert judge(tmp_path / "p.csv", stream=False, resamples=20).predictions is not None


def test_a_true_class_of_probability_zero_has_an_infinite_log_loss(tmp_path):
    pd.DataFrame({"truth": [0, 1, 1], "tree_p": [0.5, 0.0, 1.0]}).to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True, measures=["log_loss"]).scores
    assert found["estimate"].tolist() == [np.inf]
    assert found["low"].isna().all()


@pytest.mark.parametrize(("measure", "match"), [("calibration_error", "calibration_error.*memory"), ("acuracy", "'accuracy'")])
def test_measures_that_a_streamed_file_does_not_have(tmp_path, measure, match):
    example(50).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=match):
        judge(tmp_path / "p.parquet", stream=True, measures=[measure])


def test_small_files_have_the_intervals_that_they_have_in_memory(tmp_path):
    """The bootstrap of the H measure is biased: BCa corrects it, also for streamed files."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    table = pd.DataFrame({"truth": truth, "m_score": truth + 1.4 * rng.normal(size=300)})
    path = tmp_path / "p.csv"
    table.to_csv(path, index=False)
    lines = [judge(str(path), measures="h_measure", stream=stream).scores.iloc[0] for stream in (False, True)]
    assert [line["method"] for line in lines] == ["bca", "bca"]
    width = lines[0]["high"] - lines[0]["low"]
    assert abs(lines[0]["low"] - lines[1]["low"]) < 0.1 * width
    assert abs(lines[0]["high"] - lines[1]["high"]) < 0.1 * width


def test_scores_of_one_sign_give_no_labels(judge_table):
    judgement = judge_table(pd.DataFrame({"truth": [0, 1] * 20, "forest_score": [2.0, 3.0] * 20}))
    assert [note["models"] for note in judgement.notes if note.kind == "no_labels"] == [("forest",)]
    assert "accuracy" not in set(judgement.scores["measure"])


def test_a_streamed_judgement_lacks_a_measure_and_an_interval(tmp_path):
    """Compare with the same files in memory."""
    table = example(200)[["truth", "x_proba", "y_proba"]]
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], 200)
    three = pd.DataFrame({"truth": np.arange(200) % 3, **{f"p_{i}": shares[:, i] for i in range(3)}})
    for each, name in ((table, "two"), (three, "three")):
        each.to_parquet(tmp_path / f"{name}.parquet")
    held, counted = (judge(tmp_path / "two.parquet", positive="yes", resamples=20, stream=stream) for stream in (False, True))
    assert held.main == counted.main == "auc"
    assert set(held.pairs["test"]) == set(counted.pairs["test"]) == {"auc_test"}
    assert set(held.scores["measure"]) - set(counted.scores["measure"]) == {"calibration_error"}
    ranges = [
        judge(tmp_path / "three.parquet", resamples=20, stream=stream).scores.set_index("measure")["low"]
        for stream in (False, True)
    ]
    assert (ranges[0].notna() & ranges[1].isna()).loc[lambda lost: lost].index.tolist() == ["auc"]


# --- Streamed file ---


def write(path, **columns):
    frame = pd.DataFrame(columns)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("batch", [7, 1 << 18])
def test_tallies_are_those_in_memory_with_and_without_ties(tmp_path, monkeypatch, digits, batch):
    monkeypatch.setattr(streamed, "_BATCH", batch)
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 3000), rng.random(3000).round(digits)
    scores[:40] = scores[0]  # a run that goes over batches
    path = write(tmp_path / "p.parquet", truth=truth, tree_score=scores)
    with StreamedFile([path]) as file:
        found = file.tally('"tree_score"', '"truth" = 1', "TRUE", None)
        half = file.tally('"tree_score"', '"truth" = 1', '"tree_score" > 0.5', None)
    expected = ScoreTally.from_scores(truth, scores)
    assert found.frame().astype(float).equals(expected.frame())
    assert half.values.min() > 0.5
    assert half.positives == ((scores > 0.5) & (truth == 1)).sum()


def test_weights_are_added_up(tmp_path):
    path = write(tmp_path / "p.csv", truth=["a", "b", "b"], tree_score=[0.5, 0.5, 0.25], w=[1.5, 2.0, 0.5])
    with StreamedFile([path]) as file:
        found = file.tally('"tree_score"', "\"truth\" = 'b'", "TRUE", '"w"')
    assert found.frame().values.tolist() == [[0.5, 2.0, 1.5], [0.25, 0.5, 0.0]]


def test_counts_beyond_a_byte(tmp_path):
    path = write(tmp_path / "p.parquet", truth=[0, 1] * 400, tree_score=[0.5, 0.25] * 400)
    with StreamedFile([path]) as file:
        assert file.tally('"tree_score"', '"truth" = 1', "TRUE", None).frame().values.tolist() == [
            [0.5, 0, 400],
            [0.25, 400, 0],
        ]


def test_roles_see_classes_beyond_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "_SAMPLE", 3)
    columns = {"truth": ["a"] * 5 + ["b"], "tree_a": [0.5] * 6, "tree_b": [0.5] * 6}
    with StreamedFile([write(tmp_path / "p.parquet", **columns)]) as file:
        assert file.roles.models[0].scores == (("a", "tree_a"), ("b", "tree_b"))


def test_names_and_values_in_sql_are_harmless(tmp_path):
    odd = 'a "b" {c}'
    path = write(tmp_path / "it's {odd}.parquet", **{"truth": ["x'y", "z"], odd: ["x'y", "z"]})
    with StreamedFile([path], prediction={"m": odd}) as file:
        assert file.fetch_rows(
            f"SELECT count(*) FROM judged WHERE {quote_identifier(odd)} = {quote_literal(chr(120) + chr(39) + 'y')}"
        ) == [(1,)]
    assert (quote_literal(True), quote_literal(1), quote_literal(0.5), quote_literal(np.int64(3))) == ("TRUE", "1", "0.5", "3")


def test_lines_of_long_files_are_estimated(tmp_path):
    for suffix in ("csv", "parquet"):
        path = write(tmp_path / f"p.{suffix}", truth=[0, 1] * 5000, tree=[0, 1] * 5000)
        assert is_too_long([path], 9000)
        assert not is_too_long([path], 11000)
        assert is_too_long([path, path], 11000)


def test_empty_and_mixed_files_are_refused(tmp_path):
    path = write(tmp_path / "p.parquet", truth=pd.Series([], dtype=object), tree=pd.Series([], dtype=object))
    with pytest.raises(InputError, match=r"p\.parquet"):
        StreamedFile([path])
    with pytest.raises(InputError, match="Parquet"):
        StreamedFile([path, tmp_path / "p.csv"])


# --- Streamed lines ---


def example_streamed_lines(models=("x", "y", "z"), n=40):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, n)
    parts = [
        pd.DataFrame(
            {"row": np.arange(n), "model": name, "truth": truth, "prediction": np.where(rng.random(n) < 0.8, truth, 1 - truth)}
        )
        for name in models
    ]
    return pd.concat(parts, ignore_index=True)


def judged(folder, table, **options):
    table.to_parquet(folder / "p.parquet")
    return judge(folder / "p.parquet", stream=True, resamples=20, **options)


@pytest.mark.parametrize(("column", "role"), [("model", "model"), ("row", "row"), ("truth", "y_true")])
def test_missing_names_are_refused(tmp_path, column, role):
    table = example_streamed_lines().astype({column: object})
    table.loc[3, column] = None
    table[column] = table[column].map(lambda value: None if value is None else str(value))
    with pytest.raises(InputError, match=f"{role}.*'{column}'"):
        judged(tmp_path, table)


def test_all_predictions_of_a_row_count(tmp_path):
    table = example_streamed_lines(["x", "y"])
    again = table.assign(prediction=1 - table["prediction"])
    found = judged(tmp_path, pd.concat([table.assign(fold=0), again.assign(fold=1)]))
    assert found.scores.query("measure == 'accuracy'")["estimate"].tolist() == [0.5, 0.5]
    assert "repeated_predictions" in {note.kind for note in found.notes}


def test_duplicated_rows_of_a_repeat_are_refused(tmp_path):
    table = example_streamed_lines().assign(repeat=0)
    with pytest.raises(InputError, match="row 0"):
        judged(tmp_path, pd.concat([table, table.iloc[:1].assign(prediction=lambda line: 1 - line["prediction"])]))


def test_models_without_common_rows_are_not_compared_and_a_model_may_be_called_0(tmp_path):
    table = example_streamed_lines([0, 1, 2])
    table = table[~((table["model"] == 0) & (table["row"] < 20)) & ~((table["model"] == 2) & (table["row"] >= 20))]
    for found in (judged(tmp_path, table), judge(table, resamples=20)):
        assert set(found.scores["model"]) == {"0", "1", "2"}
        assert set(map(tuple, found.pairs[["first", "second"]].to_numpy())) == {("0", "1"), ("1", "2")}
        pairs = {(note.kind, note["first"], note["second"]) for note in found.notes if "first" in note.values}
        assert {("disjoint_rows", "0", "2"), ("partial_overlap", "0", "1")} <= pairs
    with pytest.raises(InputError, match="'0' and '2'"):
        judged(tmp_path, table[table["model"] != 1])


def test_few_streamed_rows_with_weights_have_an_interval_but_no_decision(tmp_path):
    table = example_streamed_lines(["x", "y"]).assign(weight=lambda t: 1 + t["row"] % 3)
    found = judged(tmp_path, table)
    again = example_streamed_lines(["x", "y"])
    again = again.loc[again.index.repeat(1 + again["row"] % 3)]
    right = [(part["truth"] == part["prediction"]).mean() for _, part in again.groupby("model")]
    assert found.pairs["difference"].tolist() == pytest.approx([right[0] - right[1]])
    assert list(found.pairs["outcome"]) == ["cannot be decided"], "few weighted rows need a permutation test, which needs rows"
    assert len(found.tests) == 0, "no test may ignore the weights"
    assert np.isfinite(found.pairs[["low", "high"]].to_numpy(dtype=float)).all()


# --- Streamed models ---


def read(folder, frame, positive=None, **given):
    path = folder / "p.parquet"
    frame.to_parquet(path)
    notes = Notes()
    with StreamedFile([path], **given) as file:
        every = StreamedModels(file, positive, notes)
        tables = {(model.dataset, model.name): model.count_confusion().table.tolist() for model in every.models if model.label}
    return every, tables, notes.findings


def test_confusions_of_a_long_file(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {each: rng.choice(values, 200) for each, values in (("truth", list("abc")), ("prediction", list("abc")))}
    )
    frame = frame.assign(model=rng.choice(["x", "y"], 200), dataset=rng.choice(["d", "e"], 200))
    _, tables, _ = read(tmp_path, frame)
    assert len(tables) == 4
    for (dataset, model), table in tables.items():
        own = frame[(frame["dataset"] == dataset) & (frame["model"] == model)]
        assert (
            table
            == Confusion.from_labels(own["truth"].to_numpy(), own["prediction"].to_numpy(), labels=list("abc")).table.tolist()
        )


def test_labels_are_read_off_probabilities_of_two_and_of_three_classes(tmp_path):
    rng = np.random.default_rng(2)
    scores = rng.dirichlet([1, 1, 1], 100)
    frame = pd.DataFrame({"truth": rng.choice(list("abc"), 100), **{f"p_{each}": scores[:, i] for i, each in enumerate("abc")}})
    _, tables, notes = read(tmp_path, frame)
    labels = np.array(list("abc"))[scores.argmax(axis=1)]
    assert (
        tables["data", "model"] == Confusion.from_labels(frame["truth"].to_numpy(), labels, labels=list("abc")).table.tolist()
    )
    assert notes[0].kind == "labels_from_probabilities"
    two = pd.DataFrame({"truth": [0, 1, 1], "tree_p": [0.2, 0.5, 0.7], "old": [0.0, 1.0, 0.0]})
    _, tables, _ = read(tmp_path, two)
    assert tables["data", "tree"] == [[1, 0], [0, 2]]  # a probability of 0.5 is positive
    assert tables["data", "old"] == [[1, 0], [1, 1]]
    _, tables, _ = read(tmp_path, two, positive=0)
    assert tables["data", "tree"] == [[0, 1], [2, 0]]


def test_rounded_probabilities_are_rescaled_and_others_are_scores(tmp_path):
    frame = pd.DataFrame(
        {"truth": list("abc"), "score_a": [0.33, 0.2, 0.1], "score_b": [0.33, 0.6, 0.1], "score_c": [0.33, 0.2, 0.8]}
    )
    every, _, notes = read(tmp_path, frame)
    assert every.models[0].kind == "probability"
    assert notes[0].kind == "rescaled_probabilities"
    every, _, _ = read(tmp_path, frame.assign(score_a=[5.0, 1.0, 2.0]))
    assert every.models[0].kind == "decision"


def test_one_condition_and_one_repeat_are_judged(tmp_path):
    frame = pd.DataFrame(
        {"condition": ["clean"] * 4 + ["noise"] * 4, "repeat": [0, 0, 1, 1] * 2, "truth": [0, 1] * 4, "prediction": [0, 1] * 4}
    )
    _, tables, notes = read(tmp_path, frame)
    assert tables["data", "model"] == [[1, 0], [0, 1]]
    assert [note.kind for note in notes] == ["several_conditions", "repeated_predictions"]
    assert (notes[0]["lines"], notes[0]["condition"]) == (4, "clean")


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"tree_p": [0.1, 1.5]}, "probabilities of model 'tree'.*1.5"),
        ({"tree_p": [0.1, np.nan]}, "scores of model 'tree'.*'tree_p'"),
        ({"p_a": [0.5, 0.9], "p_b": [0.5, 0.9]}, "probabilities of model 'model'.*0.8"),
        ({"tree_label": ["y", "z"], "tree_p": [0.1, 0.2], "prediction": ["y", "z"]}, "y_true.*'y'"),
        ({"prediction": ["a", "b"], "weight": [1.0, -1.0]}, "weights"),
    ],
)
def test_invalid_predictions_are_refused(tmp_path, columns, match):
    with pytest.raises(InputError, match=match):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], **columns}))


def test_the_positive_class_must_exist(tmp_path):
    with pytest.raises(InputError, match=r"positive.*'c'"):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], "tree": ["a", "b"]}), positive="c")


# --- Streamed scores ---


def test_scores_on_both_sides_of_zero_give_labels(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 20, "m_score": [-2.0, 3.0] * 19 + [1.0, -1.0]})
    judgement = judge_table(table)
    assert judgement.scores.set_index("measure")["estimate"]["accuracy"] == 38 / 40
    assert "labels_from_signs" in {note.kind for note in judgement.notes}


def test_scores_of_which_only_most_sum_to_one_are_refused(judge_table):
    table = pd.DataFrame({"y_true": list("abc"), **{f"score_{label}": [1 / 3, 1 / 3, 0.9] for label in "abc"}})
    with pytest.raises(InputError, match="probabilities"):
        judge_table(table, "parquet")


# --- Memory and streamed ---
# A file has the same judgement in memory and streamed.


EXACT = ("wilson", "score")
# Notes about what only one of the two does.
OWN_NOTES = (
    *("streamed_file", "weights_used", "streamed_weights", "streamed_clusters", "no_test", "no_comparison"),
    *(
        "delong_omitted",
        "delong_approximate",
        "rows_in_file_order",
        "rows_unidentified",
        "not_probabilities",
        "zero_scores",
        "below_chance",
    ),
)


def table_of(rng, classes, models, *, rows=40, weights=False, folds=0, repeats=1, dropped=0, labels=True, digits=2):
    """Random predictions, long: `folds` that each row is in twice where they are three, `dropped` rows of the last model."""
    truth = np.concatenate([np.arange(len(classes)), np.arange(len(classes)), rng.integers(0, len(classes), rows)])
    n, parts = len(truth), []
    weight, group = rng.integers(1, 5, n) / 2, rng.choice(["u", "v", None], n)
    for name in models:
        for repeat in range(repeats):
            for fold in range(max(1, folds)):
                scores = rng.dirichlet(np.ones(len(classes)), n) + 0.4 * np.eye(len(classes))[truth]
                shares = (scores / scores.sum(axis=1)[:, None]).round(digits)
                shares[:, -1] = (1 - shares[:, :-1].sum(axis=1)).round(digits)
                part = pd.DataFrame({"row": np.arange(n), "model": name, "truth": np.array(classes)[truth]})
                part = part.assign(**{f"p_{label}": shares[:, i] for i, label in enumerate(classes)}, group=group)
                part = part.assign(prediction=np.array(classes)[rng.integers(0, len(classes), n)]) if labels else part
                part = part.assign(weight=weight) if weights else part
                part = part.assign(fold=fold) if folds else part
                part = part.assign(repeat=repeat) if repeats > 1 else part
                if folds:  # the rows of a fold, which overlap where there are three
                    inside = (np.arange(n) % folds == fold) | ((folds == 3) & (np.arange(n) % 3 == (fold + 1) % 3))
                    part = part[inside]
                if name == models[-1] and dropped:
                    part = part[part["row"] >= dropped]
                parts.append(part)
    return pd.concat(parts, ignore_index=True)


def both_memory_and_streamed(path, table, **options):
    table = table.sample(frac=1, random_state=0)
    table.to_parquet(path) if path.suffix == ".parquet" else table.to_csv(path, index=False)
    return [judge(path, resamples=20, stream=stream, **options) for stream in (False, True)]


def meeting_memory_and_streamed(held, counted, keys, columns, least=1):
    """Check that rows of both with the same keys have the same values, unless the note says that rows in memory are needed."""
    if "note" in counted:
        counted = counted[~counted["note"].str.contains("rows in memory")]
    joined = held.merge(counted, on=keys, suffixes=("", "_counted"))
    assert len(joined) >= least
    assert len(joined) == len(counted)
    for column in columns:
        mine, other = joined[column].to_numpy(dtype=float), joined[f"{column}_counted"].to_numpy(dtype=float)
        assert np.allclose(mine, other, rtol=1e-9, atol=1e-9, equal_nan=True), (
            column,
            joined[[*keys, column, f"{column}_counted"]],
        )


def ordered(pairs):
    """Each pair with its names in order, for the two may list models in another one."""
    lines = pairs.to_dict("records")
    for line in lines:
        if line["first"] > line["second"]:
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"], line["low"], line["high"] = -line["difference"], -line["high"], -line["low"]
            # McNemar's statistic is a count of the first model alone: p and limits tell whether the tests are the same.
            line["statistic"] = -line.get("statistic", 0.0)
        line["statistic"] = np.nan if line["test"] == "mcnemar" else line.get("statistic", np.nan)
    return pd.DataFrame(lines, columns=pairs.columns)


def notes_of(judgement):
    """List the notes, with names in sort order because the two may list models in another one."""
    notes = []
    for note in judgement.notes:
        values = {name: sorted(map(str, value)) if isinstance(value, tuple) else value for name, value in note.values.items()}
        if "first" in values:
            sides = [(values.pop(name), values.pop(f"{name}_rows", 0)) for name in ("first", "second")]
            values["pair"] = sorted(sides)
        if note.kind not in OWN_NOTES:
            notes.append((note.kind, sorted(map(str, values.items()))))
    return sorted(notes)


def agree(held, counted):
    """Check that everything that both compute is the same."""
    assert held.main == counted.main
    assert held.positives == counted.positives
    keys = ["dataset", "model", "measure"]
    meeting_memory_and_streamed(held.scores, counted.scores, keys, ["estimate", "rows", "chance"])
    assert set(held.scores["measure"]) - set(counted.scores["measure"]) <= {"calibration_error"}
    closed = counted.scores[counted.scores["method"].isin(EXACT)]
    meeting_memory_and_streamed(held.scores[held.scores["method"].isin(EXACT)], closed, [*keys, "method"], ["low", "high"], 0)
    columns = ["support", "predicted", "precision", "precision_low", "recall", "recall_high", "f_score", "auc"]
    known = [column for column in columns if column in held.classes and column in counted.classes]
    meeting_memory_and_streamed(held.classes, counted.classes, ["dataset", "model", "class"], known)
    meeting_memory_and_streamed(
        held.subgroups,
        counted.subgroups,
        ["dataset", "column", "subgroup", "model", "measure"],
        ["rows", "estimate", "proportion"],
    )
    order = ["dataset", "model", "class", "mean_predicted"]
    numbers = ["mean_predicted", "observed_frequency", "weight", "low", "high"]
    tables = [one.calibration.sort_values(order)[numbers].to_numpy(dtype=float) for one in (held, counted)]
    assert np.allclose(*tables, equal_nan=True)
    assert {kind: len(points) for kind, points in held.curves.items()} == {
        kind: len(points) for kind, points in counted.curves.items()
    }
    of_pairs(held, counted)
    assert notes_of(held) == notes_of(counted)
    # FT008 is about the verdict over data sets, which only rows in memory have.
    kinds = [sorted({finding.kind for finding in one.methodology} - {"FT008"}) for one in (held, counted)]
    assert kinds[0] == kinds[1]
    assert held.class_counts == counted.class_counts


def of_pairs(held, counted):
    keys = ["dataset", "first", "second", "measure"]
    decided = ordered(counted.pairs)
    meeting_memory_and_streamed(ordered(held.pairs), decided[decided["test"] != ""], keys, ["difference", "rows"], 0)
    exact = counted.tests[counted.tests["test"].isin(["mcnemar", "auc_test"])]
    meeting_memory_and_streamed(
        ordered(held.tests),
        ordered(exact),
        [*keys, "test"],
        ["statistic", "p_value", "p_adjusted", "low", "high", "primary"],
        0,
    )


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), seed=st.integers(0, 10_000))
def test_a_random_file(tmp_path, data, seed):
    rng = np.random.default_rng(seed)
    sets = data.draw(st.lists(st.sampled_from(["ab", "abc"]), min_size=1, max_size=2), label="classes of each data set")
    options = {
        "weights": data.draw(st.booleans(), label="weights"),
        "folds": data.draw(st.sampled_from([0, 2, 3]), label="folds"),
        "repeats": data.draw(st.sampled_from([1, 2]), label="repeats"),
        "dropped": 0,
        "labels": data.draw(st.booleans(), label="labels"),
    }
    if options["repeats"] == 1:  # rows with different numbers of predictions have weights, for each model its own in memory
        options["dropped"] = data.draw(st.sampled_from([0, 7]), label="dropped")
    models = data.draw(st.sampled_from([["x"], ["x", "y"], ["{where}", "y'\"", "{who}"]]), label="models")
    tables = [table_of(rng, list(each), models, **options).assign(dataset=f"set {i}") for i, each in enumerate(sets)]
    table = pd.concat(tables, ignore_index=True)
    table = table if len(sets) > 1 else table.drop(columns="dataset")
    positive = data.draw(st.sampled_from([None, "a", "b"]), label="positive")
    agree(*both_memory_and_streamed(tmp_path / data.draw(st.sampled_from(["p.csv", "p.parquet"])), table, positive=positive))


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("columns", [{"weight": "w"}, {"cluster": "patient"}, {"cluster": "patient", "weight": "w"}])
def test_effective_rows_follow_the_formula_of_kish(tmp_path, is_streamed, columns):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"y_true": rng.integers(0, 3, 300), "w": rng.integers(1, 5, 300) * 0.5, "patient": rng.integers(0, 40, 300)}
    )
    frame["tree"] = np.where(rng.random(300) < 0.7, frame["y_true"], 0)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    judged = judge(tmp_path / "rows.csv", measures="accuracy", stream=is_streamed, **columns)
    weights = frame["w"] if "weight" in columns else pd.Series(np.ones(300))
    unit = frame["patient"] if "cluster" in columns else frame.index
    for line in judged.classes.to_dict("records"):
        is_class = frame["y_true"].astype(str) == line["class"]
        for column, mask in (("effective_rows", is_class), ("effective_other_rows", ~is_class)):
            totals = (weights * mask).groupby(unit).sum()
            assert line[column] == pytest.approx(totals.sum() ** 2 / (totals**2).sum())
