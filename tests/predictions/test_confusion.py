"""Confusion matrices of judged models: counts, rates with intervals, console and page."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner

from fairtrial import draw, judge, write_report
from fairtrial.cli import app
from fairtrial.measures import evaluate
from fairtrial.predictions import choose_threshold

CLASSES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]


def make_table(k, n, seed=0, accuracy=0.6):
    """Labels of two models; weights and clusters of five rows that share some errors."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    table = {"row": np.arange(n), "y_true": np.array(CLASSES)[y], "patient": np.arange(n) // 5}
    table["weight"] = rng.choice([0.5, 1.0, 3.0], n)
    for model in ("tree", "rule"):
        hard = np.repeat(rng.random(n // 5 + 1) < 0.4, 5)[:n]
        is_right = rng.random(n) < np.where(hard, accuracy - 0.4, accuracy + 0.2)
        table[model] = np.array(CLASSES)[np.where(is_right, y, rng.integers(0, k, n))]
    return pd.DataFrame(table)


def judge_labels(table, **options):
    columns = [name for name in table.columns if name in ("row", "y_true", "tree", "rule", *options.values())]
    return judge(table[columns], measures="accuracy", prediction={"tree": "tree", "rule": "rule"}, **options)


def get_matrix(judgement, model, column="count"):
    cells = judgement.confusion[judgement.confusion["model"] == model]
    return cells.pivot(index="true", columns="predicted", values=column).to_numpy()


def test_counts_equal_scikit_learn_and_limits_equal_statsmodels():
    table = make_table(3, 90)
    judgement = judge_labels(table)
    for model in ("tree", "rule"):
        expected = confusion_matrix(table["y_true"], table[model])
        support = expected.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(get_matrix(judgement, model), expected)
        np.testing.assert_allclose(get_matrix(judgement, model, "rate"), expected / support)
        limits = proportion_confint(expected, np.broadcast_to(support, (3, 3)), method="wilson")
        np.testing.assert_allclose(get_matrix(judgement, model, "low"), limits[0], atol=1e-12)
        np.testing.assert_allclose(get_matrix(judgement, model, "high"), limits[1], atol=1e-12)


def compute_score_limits(rate, effective, quantile):
    """Wilson's interval (1927) for an effective number of rows."""
    centre = (rate + quantile**2 / (2 * effective)) / (1 + quantile**2 / effective)
    half = np.sqrt(rate * (1 - rate) / effective + (quantile / (2 * effective)) ** 2) * quantile / (1 + quantile**2 / effective)
    return centre - half, centre + half


def test_weighted_rows_have_limits_for_the_effective_number_of_rows():
    table = make_table(3, 200)
    judgement = judge_labels(table, weight="weight")
    bees = table[table["y_true"] == "bee"]
    rate = bees["weight"][bees["tree"] == "cat"].sum() / bees["weight"].sum()
    effective = bees["weight"].sum() ** 2 / (bees["weight"] ** 2).sum()
    cell = judgement.confusion.query("model == 'tree' and true == 'bee' and predicted == 'cat'").iloc[0]
    assert cell["count"] == pytest.approx(bees["weight"][bees["tree"] == "cat"].sum())
    assert (cell["low"], cell["high"]) == pytest.approx(compute_score_limits(rate, effective, stats.norm.ppf(0.975)))


def test_clustered_rows_have_limits_with_the_design_effect():
    table = make_table(3, 400)
    judgement = judge_labels(table, cluster="patient")
    bees = table[table["y_true"] == "bee"]
    by_patient = bees.assign(hit=bees["tree"] == "bee").groupby("patient")["hit"].agg(["sum", "count"])
    clusters, rows, rate = len(by_patient), len(bees), (bees["tree"] == "bee").mean()
    residuals = by_patient["sum"] - rate * by_patient["count"]
    clustered = np.sqrt(clusters / (clusters - 1) * (residuals**2).sum()) / rows
    design_effect = max(1.0, clustered**2 / (rate * (1 - rate) / rows))
    assert design_effect > 1
    expected = compute_score_limits(rate, rows / design_effect, stats.t.ppf(0.975, clusters - 1))
    cell = judgement.confusion.query("model == 'tree' and true == 'bee' and predicted == 'bee'").iloc[0]
    assert (cell["low"], cell["high"]) == pytest.approx(expected)


@pytest.mark.parametrize("options", [{}, {"weight": "weight"}, {"cluster": "patient"}], ids=["plain", "weight", "cluster"])
def test_streamed_files_have_the_same_confusion_matrices(tmp_path, options):
    table = make_table(3, 120)
    table.loc[3, "tree"] = "owl"  # not a class
    path = tmp_path / "predictions.csv"
    table[[c for c in table.columns if c in ("row", "y_true", "tree", "rule", *options.values())]].to_csv(path, index=False)
    options = {"measures": "accuracy", "prediction": {"tree": "tree", "rule": "rule"}, **options}
    in_memory, streamed = judge(path, **options), judge(path, stream=True, **options)
    assert in_memory.confusion["predicted"].unique().tolist() == ["ant", "bee", "cat", "(other)"]
    keys = ["model", "true", "predicted"]
    pd.testing.assert_frame_equal(
        in_memory.confusion.sort_values(keys, ignore_index=True), streamed.confusion.sort_values(keys, ignore_index=True)
    )


def test_labels_that_are_not_classes_count_as_errors_of_their_true_class():
    table = make_table(3, 60)
    table.loc[table.index[:4], "tree"] = "owl"
    judgement = judge_labels(table)
    other = judgement.confusion.query("model == 'tree' and predicted == '(other)'")
    assert other["count"].sum() == 4
    by_class = judgement.confusion.groupby(["model", "true"])["rate"].sum()
    np.testing.assert_allclose(by_class, 1.0)


def test_a_class_without_rows_has_no_rate():
    table = make_table(2, 40)
    lines = [table[["row", "y_true", "tree"]].rename(columns={"tree": "prediction"}).assign(model="tree")]
    ants = table[table["y_true"] == "ant"]
    lines.append(ants[["row", "y_true", "rule"]].rename(columns={"rule": "prediction"}).assign(model="rule"))
    judgement = judge(pd.concat(lines, ignore_index=True), measures="accuracy")
    confusion = judgement.confusion.set_index(["model", "true"]).sort_index()
    assert confusion.loc[("rule", "bee"), ["rate", "low", "high"]].isna().all(axis=None)
    assert confusion.loc[("rule", "bee"), "count"].tolist() == [0, 0]
    assert confusion.loc["tree", ["rate", "low", "high"]].notna().all(axis=None)


def test_scores_without_labels_of_two_classes_are_compared_with_one_half():
    table = pd.DataFrame({"y_true": [0, 0, 1, 1] * 5, "tree_proba": [0.2, 0.7, 0.6, 0.9] * 5})
    assert judge(table).confusion["count"].tolist() == [5, 5, 0, 10]


def run_judge(table, path, *options):
    table[["row", "y_true", "tree", "rule"]].to_csv(path, index=False)
    names = ["--measure", "accuracy", "--prediction", "tree=tree", "--prediction", "rule=rule"]
    result = CliRunner().invoke(app, ["judge", str(path), *names, *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_console_prints_up_to_five_classes_in_80_columns(tmp_path):
    table = make_table(5, 2000)
    text = run_judge(table, tmp_path / "p.csv", "--all")
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("Confusion matrix of") == 2
    counts = confusion_matrix(table["y_true"], table["tree"])
    for name, line in zip(CLASSES, counts, strict=False):
        assert any(text_line.split()[::2][:1] == [name] and f" {line[0]} " in text_line for text_line in text.splitlines())
    low, high = proportion_confint(counts[0, 0], counts[0].sum(), method="wilson")
    assert f"{100 * low:.1f} to {100 * high:.1f}" in text
    assert "Confusion matrix" not in run_judge(table, tmp_path / "p.csv")


def test_the_console_prints_the_most_frequent_errors_of_many_classes(tmp_path):
    table = make_table(8, 800)
    text = run_judge(table, tmp_path / "p.csv", "--all")
    assert text.count("Most frequent errors of") == 2
    counts = confusion_matrix(table["y_true"], table["tree"])
    np.fill_diagonal(counts, 0)
    errors = text.split("Most frequent errors of tree")[1].splitlines()[2].split()
    assert errors[2] == str(counts.max())
    assert counts[CLASSES.index(errors[0]), CLASSES.index(errors[1])] == counts.max()


def test_the_page_has_a_matrix_for_each_model(tmp_path):
    judgement = judge_labels(make_table(3, 90))
    page = write_report(judgement, tmp_path / "page.html").read_text()
    for model in ("tree", "rule"):
        assert f"Confusion matrix of {model}" in page
    assert "predicted class" in page


def test_many_classes_list_only_cells_that_occur(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 300)
    predicted = np.where(rng.random(300) < 0.8, y, rng.integers(0, 30, 300))
    table = pd.DataFrame({"y_true": [f"c{code:02}" for code in y], "tree": [f"c{code:02}" for code in predicted]})
    judgement = judge(table, measures="accuracy")
    assert (judgement.confusion["count"] > 0).all()
    assert judgement.confusion["count"].sum() == 300
    page = write_report(judgement, tmp_path / "page.html").read_text()
    assert "Confusion matrix of tree" not in page
    assert "Confusion matrices" in page


def test_draw_draws_every_model():
    judgement = judge_labels(make_table(3, 90))
    assert len(draw(judgement, "confusion").to_dict()["concat"]) == 2
    chart = draw(judgement, "confusion", learner="tree").to_dict()
    cells = max(chart["datasets"].values(), key=len)
    assert [cell["count"] for cell in cells] == get_matrix(judgement, "tree").ravel().tolist()
    assert [cell["low"] for cell in cells] == pytest.approx(get_matrix(judgement, "tree", "low").ravel().tolist())


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_probabilities_of_one_half_are_positive_at_every_threshold_of_one_half(judge_table, positive):
    other = {"no": "yes", "yes": "no"}[positive]
    p = [0.5] * 3 + [0.5] * 4 + [0.25] * 3 + [0.75] * 3 + [0.9]
    table = pd.DataFrame({"y_true": [positive] * 3 + [other] * 7 + [positive] * 4, f"p_{positive}": p})
    judgement = judge_table(table, positive=positive)
    cells = judgement.confusion.set_index(["true", "predicted"])["count"].to_dict()
    assert [cells[true, positive] for true in (positive, other)] == [7, 4]
    if judgement.predictions is not None:
        at_half = judge(table, positive=positive, threshold=0.5, resamples=20)
        pd.testing.assert_frame_equal(at_half.confusion, judgement.confusion)
        result = choose_threshold(table, costs=(1, 1), positive=positive, thresholds=[0.5])
        assert set(result.table["tp"]) == {7}
    assert evaluate(table["y_true"], y_score=p, positive=positive, measures="recall")["recall"].estimate == 1
