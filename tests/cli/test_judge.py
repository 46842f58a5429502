"""The command line: judging."""

import html
import io

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial._narrative import render_all
from fairtrial.measures import auc
from tests.report.judgement.cases import many_classes, two_classes

FEW = ("--resamples", "20")


@pytest.fixture
def file(tmp_path):
    two_classes(80).drop(columns="rule_proba").to_csv(tmp_path / "predictions.csv", index=False)
    return tmp_path / "predictions.csv"


def written(table, tmp_path):
    table.to_csv(tmp_path / "bad.csv", index=False)
    return tmp_path / "bad.csv"


def test_judge_prints_the_answer_and_writes_the_report(run, file, tmp_path):
    page, figures, tables = tmp_path / "page.html", tmp_path / "figures", tmp_path / "tables"
    told = run(
        "judge", file, *FEW, "--report", page, "--figures", figures, "--tables", tables, "--format", "json", "--title", "A & B"
    )
    assert told.exit_code == 0, told.output
    assert told.stderr == ""
    assert told.stdout.startswith("forest ")
    assert str(page) in told.stdout
    text = page.read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in text
    assert str(figures) in told.stdout
    every = pd.read_csv(tables / "measures-all.csv")
    value = every.query("model == 'tree' and measure == 'auc'")["estimate"].item()
    table = two_classes(80)
    assert value == pytest.approx(auc(table["truth"] == "yes", table["tree_proba"]))
    assert (figures / "curves-roc-yes.json").is_file()


def test_judge_prints_csv(run, file):
    told = run("judge", file, *FEW, "--csv", "--measure", "accuracy", "--measure", "brier")
    assert told.exit_code == 0, told.output
    found = pd.read_csv(io.StringIO(told.stdout))
    assert found["measure"].tolist() == ["accuracy", "brier"] * 2
    assert "forest" in told.stderr  # a note: its labels are the most probable classes


def test_columns_can_be_given(run, tmp_path):
    table = two_classes(80).set_axis(["n", "came", "club", "f", "t", "r"], axis=1).assign(w=1.0)
    path = written(table, tmp_path)
    words = (
        "--y-true",
        "came",
        "--row",
        "n",
        "--subgroup",
        "club",
        "--weight",
        "w",
        "--positive",
        "no",
        "--level",
        "0.8",
        "--alpha",
        "0.1",
    )
    told = run("judge", path, *FEW, *words, "--score", "forest=f", "--score", "tree=t", "--measure", "auc")
    assert told.exit_code == 0, told.output
    assert "80 % CI" in told.stdout
    value = auc(table["came"] == "no", table["f"])
    assert f"{value:.3f}" in told.stdout
    labels = two_classes(80).assign(a="yes", b=two_classes(80)["truth"])[["row", "truth", "a", "b"]]
    told = run("judge", written(labels, tmp_path), *FEW, "--prediction", "a", "--prediction", "b", "--measure", "accuracy")
    assert told.stdout.startswith("b has ")
    told = run("judge", written(labels, tmp_path), *FEW, "--prediction", "b", "--csv", "--measure", "accuracy")
    assert pd.read_csv(io.StringIO(told.stdout))["estimate"].tolist() == [1.0]


def test_long_files_with_all_their_columns(run, tmp_path):
    table = many_classes(60).rename(columns={"model": "who", "p_a": "x", "p_b": "y", "p_c": "z"})
    table = table.assign(where=np.where(table["row"] < 30, "u", "v"), part=table["row"] % 3, time=0)
    roles = ("--model", "who", "--dataset", "where", "--fold", "part", "--repeat", "time")
    scores = ("--score", "a=x", "--score", "b=y", "--score", "c=z")
    told = run("judge", written(table, tmp_path), *FEW, *roles, *scores, "--measure", "accuracy")
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("On u, good has the highest accuracy")
    assert "\nOn v, good has the highest accuracy" in told.stdout
    assert "2 data sets" in told.stdout  # too few for a verdict over data sets


def test_streamed_and_several_files(run, file, tmp_path):
    told = run("judge", file, *FEW, "--stream", "--report", tmp_path / "page.html")
    assert told.exit_code == 0, told.output
    assert (tmp_path / "page.html").is_file()
    halves = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, part in zip(halves, np.array_split(np.arange(80), 2), strict=True):
        two_classes(80).drop(columns="rule_proba").iloc[part].to_csv(path, index=False)
    both = run("judge", *halves, *FEW, "--csv", "--measure", "accuracy").stdout
    assert both == run("judge", file, *FEW, "--csv", "--measure", "accuracy").stdout


def test_judge_reads_what_export_writes(run, finished, tmp_path):
    store = finished[0]
    assert run("export", store, "--parquet", tmp_path / "predictions.parquet").exit_code == 0
    told = run("judge", tmp_path / "predictions.parquet", *FEW, "--measure", "accuracy")
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("On iris, ")
    assert "2 data sets" in told.stdout  # too few for a verdict over data sets


def change_predictions(change):
    """Make a file of predictions with a problem."""
    table = two_classes(40)[["row", "truth", "sex", "forest_proba", "tree_proba"]]
    return change(table)


def long_table():
    table = change_predictions(lambda each: each)
    long = table.melt(["row", "truth"], ["forest_proba", "tree_proba"], "model", "score")
    return long.assign(model=long["model"].str.removesuffix("_proba"))


INVALID = {
    "missing column": (lambda: change_predictions(lambda each: each), ("--y-true", "truht"), "'truht'"),
    "no truth": (lambda: change_predictions(lambda each: each.drop(columns="truth")), (), "--y-true"),
    "no predictions": (lambda: change_predictions(lambda each: each[["row", "truth"]]), (), "scores"),
    "sums": (
        lambda: pd.DataFrame({"truth": ["a", "b"] * 4, "p_a": [0.9, 0.9] * 4, "p_b": [0.1, 0.4] * 4}),
        (),
        "1.3",
    ),
    "missing scores": (
        lambda: change_predictions(lambda each: each.assign(tree_proba=each["tree_proba"].where(each["row"] != 3))),
        (),
        "'tree_proba'",
    ),
    "rows twice": (
        lambda: pd.concat([long_table(), long_table().head(1).assign(score=0.123)]).assign(repeat=1),
        (),
        "'forest'",
    ),
    "no common row": (
        lambda: long_table().assign(row=lambda each: each["row"] + 100 * (each["model"] == "tree")),
        (),
        "forest",
    ),
    "another label": (
        lambda: change_predictions(lambda each: each.assign(rule="certainly")[["truth", "rule"]]),
        ("--prediction", "rule"),
        "'certainly'",
    ),
    "measure": (lambda: change_predictions(lambda each: each), ("--measure", "acuracy"), "'accuracy'"),
    "positive": (lambda: change_predictions(lambda each: each), ("--positive", "maybe"), "got 'maybe'"),
    "level": (lambda: change_predictions(lambda each: each), ("--level", "95"), "95"),
    "page": (lambda: change_predictions(lambda each: each), ("--report", "page.pdf"), ".html"),
    "format": (lambda: change_predictions(lambda each: each), ("--figures", "f", "--format", "bmp"), "bmp"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_input_is_refused_in_one_sentence(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make, words, value = INVALID[name]
    told = run("judge", written(make(), tmp_path), *FEW, *words)
    assert told.exit_code == 2, told.output
    assert told.stderr.startswith("fairtrial: ")
    assert told.stderr.count("\n") == 1
    assert value in told.stderr
    assert told.stdout == ""


def test_a_file_that_is_not_there(run):
    told = run("judge", "nowhere.csv")
    assert told.exit_code == 2
    assert "nowhere.csv" in told.stderr
    assert "Traceback" not in told.output


REPAIRED = {
    "never predicted": lambda: pd.DataFrame({"truth": ["a", "b", "c"] * 10, "rule": ["a", "b", "b"] * 10}),
    "rounding": lambda: pd.DataFrame({"truth": ["a", "b"] * 10, "p_a": [0.91, 0.4] * 10, "p_b": [0.1, 0.6] * 10}),
    "other rows": lambda: long_table()[lambda each: (each["model"] == "forest") | (each["row"] < 30)],
}


@pytest.mark.parametrize("name", REPAIRED)
def test_notes_are_printed_and_repeated_in_the_report(run, tmp_path, name):
    page, path = tmp_path / "page.html", written(REPAIRED[name](), tmp_path)
    told = run("judge", path, *FEW, "--measure", "accuracy", "--explain", "--report", page)
    assert told.exit_code == 0, told.output
    notes = render_all(judge(path, resamples=20, measures="accuracy").notes, "model")
    assert notes
    printed, written_page = " ".join(told.stdout.split()), html.unescape(page.read_text(encoding="utf-8"))
    assert all(note in printed and note in written_page for note in notes)


def test_judge_names_the_option_if_every_model_ranks_the_other_class_first(run, tmp_path):
    y_true = np.array(["oak", "red ash"] * 100)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"y_true": y_true, **{f"{name}_score": (y_true == "oak") + rng.normal(size=200) for name in "xz"}})
    refused = run("judge", written(table, tmp_path), *FEW)
    assert refused.exit_code == 2
    message = "every model ranks 'oak' above 'red ash', which is the positive class here. Pass --positive oak."
    assert refused.stderr == f"fairtrial: {message}\n"
    assert run("judge", written(table, tmp_path), *FEW, "--positive", "oak").exit_code == 0
    table["y_true"] = table["y_true"].replace({"oak": "no oak tree", "red ash": "zebra wood"})
    assert run("judge", written(table, tmp_path), *FEW).stderr.endswith("Pass --positive 'no oak tree'.\n")


def test_judge_removes_incomplete_rows(run, tmp_path):
    table = two_classes(80)
    table.loc[3, "tree_proba"] = np.nan
    refused = run("judge", written(table, tmp_path), *FEW)
    assert refused.exit_code == 2
    assert "--drop-missing" in refused.stderr
    for stream in ([], ["--stream"]):
        result = run("judge", written(table, tmp_path), *FEW, "--drop-missing", *stream)
        assert result.exit_code == 0, result.output
        assert "1 row of 80 was removed" in result.stdout


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_judge_counts_clusters_instead_of_rows(run, tmp_path, stream):
    table = two_classes(80)
    repeated = pd.concat([table] * 5, ignore_index=True).rename(columns={"row": "patient"})
    repeated.insert(0, "id", range(len(repeated)))
    path, page = written(repeated, tmp_path), tmp_path / "page.html"
    words = ("judge", path, *FEW, "--measure", "accuracy", "--report", page, *stream)
    naive, clustered = run(*words), run(*words, "--cluster", "patient")
    assert naive.exit_code == clustered.exit_code == 0, naive.output + clustered.output
    assert "--cluster patient" in " ".join(naive.stdout.split())
    assert "--cluster patient" not in clustered.stdout
    assert "--cluster patient" in html.unescape(page.read_text(encoding="utf-8"))  # the command that repeats the page
    (tmp_path / "once").mkdir()
    once = run("judge", written(table, tmp_path / "once"), *FEW, "--measure", "accuracy", "--csv", *stream)
    scores = run("judge", path, *FEW, "--measure", "accuracy", "--csv", "--cluster", "patient", *stream)
    widths = [pd.read_csv(io.StringIO(result.stdout)).eval("high - low").to_numpy() for result in (once, scores)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)  # copies of a row add nothing
    refused = run(*words, "--cluster", "patiant")
    assert refused.exit_code == 2
    assert "'patiant'" in refused.stderr


# --- Messages ---


def write_text(tmp_path, text):
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    return tmp_path / "p.csv"


def test_line_numbers_are_those_of_the_file(run, tmp_path):
    rows = "".join(f"{'ab'[i % 2]},{'ab'[i % 2]}\n" for i in range(3))
    refused = run("judge", write_text(tmp_path, f"y_true,tree\n{rows},a\nb,b\n"))
    assert "column 'y_true', line 5 (1 such line)" in refused.stderr
    refused = run("judge", write_text(tmp_path, "y_true,tree_proba\n0,0.1\n1,x\n0,0.2\n"))
    assert "'x' in column 'tree_proba', line 3 (1 such line)" in refused.stderr
    refused = run("judge", write_text(tmp_path, "y_true,tree,weight\n0,0,1\n1,1,-1\n0,1,1\n"))
    assert "column 'weight', line 3" in refused.stderr


def test_several_score_columns_are_models_or_the_message_names_the_option(run, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"y_true": ["no", "yes"] * 30, "rf": rng.random(60), "svm": rng.random(60), "p_yes": rng.random(60)})
    named = run("judge", written(table, tmp_path), *FEW, "--score", "rf", "--score", "svm", "--measure", "auc")
    assert named.exit_code == 0, named.output
    assert all(name in named.stdout for name in ("rf", "svm"))
    refused = run("judge", written(table, tmp_path), *FEW, "--score", "rf", "--score", "p_yes")
    assert refused.exit_code == 2
    assert "--score CLASS=COLUMN" in refused.stderr
    assert "--score MODEL=COLUMN" in refused.stderr


def test_names_of_measures_have_any_case_and_suggestions_begin_alike(run, file):
    assert run("judge", file, *FEW, "--measure", "AUC").exit_code == 0
    assert "did you mean 'accuracy'" in run("judge", file, "--measure", "acc").stderr


def test_only_a_similar_file_is_suggested(run, file, tmp_path):
    assert file.is_file()
    assert "did you mean" not in run("judge", tmp_path / "nofile.csv").stderr
    assert "did you mean 'predictions.csv'" in run("judge", tmp_path / "prediction.csv").stderr


def test_all_models_with_missing_rows_are_named(run, tmp_path):
    lines = [(model, row, row % 2, row % 2) for model in "ab" for row in range(40)]
    table = pd.DataFrame(lines, columns=["model", "id", "y_true", "prediction"])
    answer = run("judge", written(table.drop(index=[3, 50, 51]), tmp_path), *FEW, "--measure", "accuracy")
    assert "a (39) and b (38) have fewer than 40 rows" in " ".join(answer.stdout.split())


def test_a_long_line_on_columns_is_not_cut_within_a_reason(run, tmp_path):
    lines = [(model, row, ("legit", "fraud")[row % 2]) for model in ("xgb", "logreg") for row in range(60)]
    table = pd.DataFrame(lines, columns=["model", "transaction_id", "truth"])
    table["prediction"], table["score"] = table["truth"], np.random.default_rng(0).random(len(table)).round(3)
    answer = run("judge", written(table, tmp_path), *FEW, "--measure", "accuracy").stdout
    assert "positive class fraud" in " ".join(answer.split())
    assert "..." not in answer


def test_two_models_with_the_same_value_share_it(run, tmp_path):
    labels = ["no", "yes"] * 30
    table = pd.DataFrame({"y_true": labels, "a": ["yes", *labels[1:]], "b": [*labels[:-1], "no"]})
    answer = " ".join(run("judge", written(table, tmp_path), *FEW, "--measure", "accuracy").stdout.split())
    assert "a and b share the highest accuracy (0.983); there is no significant difference (" in answer


def test_imbalanced_labels_suggest_measures_of_labels(run, tmp_path):
    labels = ["no"] * 90 + ["yes"] * 10
    answer = run("judge", written(pd.DataFrame({"y_true": labels, "a": labels[::-1]}), tmp_path), *FEW).stdout
    assert "Use balanced accuracy or MCC instead of accuracy" in " ".join(answer.split())


def test_answers_of_language_models_are_recognised(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        (model, f"q{i}", answer, "ABCD"[i % 4])
        for model in ("gpt", "llama")
        for i, answer in enumerate(rng.choice(list("ABCD"), 40))
    ]
    table = pd.DataFrame(lines, columns=["model", "question_id", "answer", "correct_answer"])
    answer = run("judge", written(table, tmp_path), *FEW)
    assert answer.exit_code == 0, answer.output
    assert "true labels correct_answer, predicted labels answer" in " ".join(answer.stdout.split())
    flags = table[["model", "question_id"]].assign(correct=(table["answer"] == table["correct_answer"]).astype(int))
    refused = run("judge", written(flags, tmp_path))
    assert refused.exit_code == 2
    assert "'correct', which only says whether an answer is correct" in refused.stderr


def test_a_diagnosis_is_the_true_label_beside_labels(run, tmp_path):
    labels = ["healthy", "sick"] * 20
    table = pd.DataFrame({"diagnosis": labels, "a": labels, "b": labels[::-1]})
    assert "true labels diagnosis" in run("judge", written(table, tmp_path), *FEW).stdout


def test_another_order_by_average_precision_is_noted_if_positives_are_rare(run, tmp_path):
    y_true = np.array([1] * 10 + [0] * 190)
    # First, all positives in the middle of the upper quarter; second, half of them at the top and half in the lower half.
    first = np.concatenate([np.linspace(0.80, 0.81, 10), np.linspace(0, 1, 190)])
    second = np.concatenate([np.linspace(1.01, 1.02, 5), np.linspace(0.3, 0.31, 5), np.linspace(0, 1, 190)])
    table = pd.DataFrame({"y_true": y_true, "first_score": first, "second_score": second})
    answer = " ".join(run("judge", written(table, tmp_path), *FEW).stdout.split())
    assert "first has the highest AUC" in answer
    assert "Average precision ranks a different model first than AUC: second." in answer
    assert "--measure average_precision" in answer
    common = table.assign(y_true=np.arange(200) % 2)
    assert "ranks a different model first" not in run("judge", written(common, tmp_path), *FEW, "--positive", "1").stdout


def test_the_threshold_is_an_option_and_part_of_the_command(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("y_true,tree_proba\n" + "yes,0.4\nyes,0.9\nno,0.1\nno,0.35\n" * 10)
    result = run("judge", path, "--threshold", "0.375", "--measure", "accuracy", "--csv")
    assert result.exit_code == 0
    assert pd.read_csv(io.StringIO(result.stdout))["estimate"].tolist() == [1.0]
    judgement = judge(path, threshold=0.375, measures="accuracy", resamples=5)
    assert "--threshold 0.375" in judgement.origin.command
