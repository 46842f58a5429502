"""The command line: comparing."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from fairtrial import compare
from fairtrial.significance.names import get_display_name

TABLE = "dataset,tree,bayes,rule\n" + "\n".join(f"set {i},0.{90 - i},0.{80 - i},0.{70 - i}" for i in range(8)) + "\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "scores.csv").write_text(TABLE)
    return tmp_path / "scores.csv"


def test_compare_prints_the_verdict_and_writes_tables_and_figures(run, table, tmp_path):
    result = run("compare", str(table), "--measure", "accuracy", "--out", str(tmp_path / "out"), "--format", "svg,html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("tree ")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"table.tex", "table.md", "verdict.txt", "pairs.csv", "critical-difference.svg", "critical-difference.html"} <= names
    assert str(tmp_path / "out") in result.output
    assert (tmp_path / "out" / "verdict.txt").read_text().splitlines()[0].split(" (")[0] in result.stdout.replace("\n", " ")


@pytest.fixture
def calls(monkeypatch):
    """The arguments with which the command calls `compare`."""
    recorded = []

    def record(scores, **options):
        recorded.append(options)
        return compare(scores, **options)

    monkeypatch.setattr("fairtrial.significance.compare.compare", record)
    return recorded


def test_compare_passes_its_options_on(run, table, calls):
    words = ("compare", str(table), "--better", "min", "--control", "bayes", "--alpha", "0.01")
    assert run(*words, "--posthoc", "finner").exit_code == 0
    assert (calls[0]["better"], calls[0]["control"], calls[0]["alpha"]) == ("min", "bayes", 0.01)
    assert calls[0]["posthoc"] == "finner"
    two = table.with_name("two.csv")
    pd.read_csv(table).drop(columns="rule").to_csv(two, index=False)
    assert run("compare", str(two), "--rope", "0.01", "--parametric").exit_code == 0
    assert (calls[1]["rope"], calls[1]["parametric"]) == (0.01, True)


@pytest.mark.parametrize(
    ("name", "procedure"),
    [
        ("bergmann", "bergmann"),
        ("Bergmann-Hommel", "bergmann"),
        ("bergmann_hommel", "bergmann"),
        ("bergmann hommel", "bergmann"),
        ("Nemenyi", "nemenyi"),
        ("HOLM", "holm"),
        ("shaffer", "shaffer"),
    ],
)
def test_compare_takes_the_names_of_papers(run, table, name, procedure):
    result = run("compare", table, "--posthoc", name)
    assert result.exit_code == 0, result.output
    assert f"pairs by {get_display_name(procedure)}" in result.output


def test_compare_takes_the_test_fraction(run, tmp_path):
    file = tmp_path / "holdout.csv"
    file.write_text("repeat,a,b\n1,0.8,0.7\n2,0.82,0.75\n3,0.79,0.74\n4,0.85,0.77\n")
    assert run("compare", str(file)).exit_code == 2
    assert run("compare", str(file), "--test-fraction", "0.3").exit_code == 0


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["nowhere.csv"], "'nowhere.csv'"),
        (["--control", "tre"], "'tree'"),
        (["--measure", "acuracy"], "'accuracy'"),
        (["--better", "up"], "'up'"),
    ],
)
def test_compare_refuses_in_one_sentence(run, table, words, value):
    words = words if words[0].endswith(".csv") else [str(table), *words]
    result = run("compare", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: ")
    assert value in result.stderr
    assert result.stderr.count("\n") == 1


def test_compare_reports_an_undefined_p_value_without_a_warning(run, tmp_path):
    file = tmp_path / "equal.csv"
    file.write_text("fold,a,b\n1,0.5,0.4\n2,0.6,0.5\n3,0.7,0.6\n")
    result = run("compare", str(file))
    assert result.exit_code == 0
    assert result.stderr == ""


def test_compare_writes_the_report(run, table, tmp_path):
    page = tmp_path / "page.html"
    result = run("compare", table, "--measure", "accuracy", "--report", page)
    assert result.exit_code == 0, result.output
    assert str(page) in result.output
    text = page.read_text(encoding="utf-8")
    assert "<title>Comparison on scores.csv</title>" in text
    assert "tree has the best mean rank" in text
    result = run("compare", table, "--report", tmp_path / "page.pdf")
    assert result.exit_code == 2
    assert result.stderr.startswith("fairtrial: the output file must end in .html")


def test_compare_asks_what_unnamed_rows_are(run, tmp_path):
    file = tmp_path / "scores.csv"
    pd.read_csv(io.StringIO(TABLE)).drop(columns="dataset").to_csv(file, index=False)
    result = run("compare", file)
    assert result.exit_code == 2
    assert "pass --rows datasets" in result.stderr
    assert "--rows folds" in result.stderr
    assert result.stderr.count("\n") == 1
    by_set, by_fold = (run("compare", file, "--rows", rows) for rows in ("datasets", "folds"))
    assert "Friedman" in by_set.stdout
    assert "orrected resampled t test" in by_fold.stdout
    assert run("compare", file, "--rows", "rows").exit_code == 2


def test_compare_names_judge_if_the_file_has_predictions(run, tmp_path):
    file = tmp_path / "predictions.csv"
    pd.DataFrame({"y_true": [0, 1] * 10, "tree_proba": [0.2, 0.7] * 10, "bayes_proba": [0.4, 0.6] * 10}).to_csv(
        file, index=False
    )
    result = run("compare", file)
    assert result.exit_code == 2
    assert "got predictions with true labels in column 'y_true': use judge" in result.stderr
    assert run("judge", file, "--resamples", "20").exit_code == 0


@pytest.mark.parametrize("name", ["error_rate.csv", "LogLoss.csv", "rmse by set.csv", "fit-time.csv"])
def test_compare_asks_for_the_direction_if_the_file_name_suggests_costs(run, tmp_path, name):
    (tmp_path / name).write_text(TABLE)
    result = run("compare", tmp_path / name)
    assert result.exit_code == 2
    assert "--better min" in result.stderr
    assert "--better max" in result.stderr
    assert result.stderr.count("\n") == 1
    smaller, larger = (run("compare", tmp_path / name, "--better", better) for better in ("min", "max"))
    assert smaller.stdout.startswith("rule ")
    assert larger.stdout.startswith("tree ")
    assert "assumed" not in smaller.stdout + larger.stdout


def test_compare_asks_for_the_direction_if_every_column_names_costs(run, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE.replace("tree,bayes,rule", "tree_error,bayes_error,rule_error"))
    assert run("compare", file).exit_code == 2
    file.write_text(TABLE.replace("tree,bayes,rule", "cost-sensitive tree,bayes,rule"))
    assert run("compare", file).exit_code == 0


def test_compare_states_the_assumed_direction_in_the_short_answer(run, table):
    result = run("compare", table)
    assert "! Larger scores are assumed to be better (if not, pass --better min)." in result.stdout
    assert "assumed" not in run("compare", table, "--measure", "accuracy").stdout
    assert "assumed" not in run("compare", table, "--better", "max").stdout


def test_compare_names_the_test_of_the_pairs(run, table, tmp_path):
    result = run("compare", table, "--measure", "accuracy", "--out", tmp_path / "out", "--explain")
    text = " ".join(result.stdout.split())
    assert "Each pair is compared by this test: permutation test of differences in ranks (exact)." in text
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert set(pairs["test"]) == {"permutation test of differences in ranks (exact)"}
    numbers = np.random.default_rng(1).normal(size=(24, 3))
    many = pd.DataFrame(numbers, columns=["tree", "bayes", "rule"]).assign(dataset=[f"set {i}" for i in range(24)])
    assert set(compare(many, measure="accuracy").pairs()["test"]) == {"z test of mean ranks"}
    parametric = compare(many, measure="accuracy", parametric=True)
    assert parametric.outcome.test == "anova"
    assert set(parametric.pairs()["test"]) == {"t test with the error of the ANOVA"}
    two = compare(many[["dataset", "tree", "rule"]], measure="accuracy")
    assert set(two.pairs()["test"]) == {"Wilcoxon signed-rank test"}


def test_compare_of_pairs_on_one_data_set_mentions_no_effect_size_that_is_not_shown(run, tmp_path):
    file = tmp_path / "folds.csv"
    file.write_text("fold,a,b,c\n" + "\n".join(f"{i},0.{80 + i},0.{70 + i % 3},0.{60 + i % 4}" for i in range(1, 9)) + "\n")
    result = run("compare", file)
    assert result.exit_code == 0, result.output
    assert "effect size are those" not in result.stdout
    assert "The test result is that of a and c" in " ".join(result.stdout.split())


SEEDS = "seed,rf,xgb\n0,0.81,0.84\n1,0.82,0.85\n2,0.8,0.83\n3,0.83,0.85\n4,0.81,0.84\n"


def test_compare_of_seeds_needs_no_test_fraction(run, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(SEEDS)
    result = run("compare", file)
    assert result.exit_code == 2
    assert "--test-fraction 0.33" in result.stderr
    assert "--rows seeds" in result.stderr
    assert "None" not in result.stderr
    assert "test_fraction" not in result.stderr
    result = run("compare", file, "--rows", "seeds")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("xgb beats rf (p < 0.001; paired t test, 5 runs).")
    assert "All runs have the same test rows" in result.stdout
    frame = pd.read_csv(file)
    verdict = compare(frame, rows="seeds", better="max")
    assert verdict.p_value == pytest.approx(ttest_rel(frame["rf"], frame["xgb"]).pvalue)
    assert compare(frame.drop(columns="seed"), rows="seeds").p_value == verdict.p_value
    assert run("compare", file, "--rows", "seeds", "--test-fraction", "0.3").exit_code == 2
    assert run("compare", file, "--rows", "seeds", "--rope", "0.01", "--report", tmp_path / "p.html").exit_code == 0


def test_compare_of_seeds_adjusts_several_pairs():
    frame = pd.read_csv(io.StringIO(SEEDS)).assign(svm=[0.80, 0.81, 0.82, 0.80, 0.79])
    verdict = compare(frame, rows="seeds", better="max", posthoc="holm")
    p_raw = [ttest_rel(frame[a], frame[b]).pvalue for a, b in (("rf", "xgb"), ("rf", "svm"), ("xgb", "svm"))]
    assert verdict.pairs()["p_raw"].to_list() == pytest.approx(p_raw)
    assert verdict.pairs()["p_adjusted"].to_list() == pytest.approx([3 * p_raw[0], p_raw[1], 2 * p_raw[2]])
    assert set(verdict.pairs()["test"]) == {"paired t test"}


def test_the_effect_interval_of_compare_agrees_with_its_test(run, tmp_path):
    rows = ["0.619,0.644,0.621,0.554", "0.778,0.773,0.737,0.763", "0.695,0.671,0.644,0.635", "0.663,0.647,0.628,0.651"]
    rows += ["0.683,0.659,0.665,0.647", "0.887,0.872,0.85,0.825", "0.696,0.713,0.622,0.626", "0.748,0.713,0.691,0.658"]
    file = tmp_path / "table.csv"
    file.write_text("dataset,rf,xgb,svm,knn\n" + "\n".join(f"set {i},{row}" for i, row in enumerate(rows)) + "\n")
    assert "p < 0.001" in " ".join(run("compare", file).stdout.split())
    for alpha in (0.05, 0.01):
        verdict = compare(file, alpha=alpha)
        assert verdict.outcome.effect.level == 1 - alpha
        assert (verdict.outcome.effect.low > 0) == (verdict.p_value < alpha)


def test_compare_writes_files_only_if_asked(run, table, tmp_path, monkeypatch):
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run("compare", str(table), "--measure", "accuracy").exit_code == 0
    assert list(folder.iterdir()) == []


@pytest.fixture
def noisy(tmp_path):
    """Twelve data sets: `new` is as good as `old`, `worse` is 0.1 worse."""
    new = [3, -2, 1, -3, 2, -1, 4, -4, 5, -5, 6, -6]
    worse = [4, -1, 2, -3, 1, -2, 3, -5, 6, -4, 5, -6]
    lines = [f"set {i},{0.8 + i / 100:.3f},{0.8 + i / 100 + a / 1000:.3f},{0.7 + i / 100 + b / 1000:.3f}"
             for i, (a, b) in enumerate(zip(new, worse, strict=True))]  # fmt: skip
    (tmp_path / "noisy.csv").write_text("dataset,old,new,worse\n" + "\n".join(lines) + "\n")
    return tmp_path / "noisy.csv"


def test_compare_decides_at_a_margin(run, noisy):
    result = run("compare", noisy, "--measure", "auc", "--control", "old", "--margin", "0.01")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "new is non-inferior to old (AUC 0, 97.5 % CI -0.0035 to 0.0035, margin 0.01)." in text
    assert "worse is inferior to old (AUC -0.1, 97.5 % CI -0.1" in text
    text = " ".join(run("compare", noisy, "--control", "old", "--margin", "0.01", "--equivalent").output.split())
    assert "new is equivalent to old" in text
    text = " ".join(run("compare", noisy, "--control", "old", "--margin", "0.0001").output.split())
    assert "new against old: inconclusive (difference 0, " in text
    assert "A decision would need about " in text


def test_compare_explains_margins_and_posteriors_of_all_pairs(run, noisy, tmp_path):
    words = ("compare", noisy, "--margin", "0.01", "--rope", "0.01", "--measure", "auc")
    result = run(*words, "--explain", "--out", tmp_path / "out", "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "adjusted over 3 pairs (Bonferroni)" in text
    assert "p_rope" in text
    margins = pd.read_csv(tmp_path / "out" / "margins.csv")
    assert set(margins["decision"]) == {"non-inferior", "inferior"}
    posteriors = pd.read_csv(tmp_path / "out" / "posteriors.csv")
    assert posteriors[["p_first", "p_rope", "p_second"]].sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    page = (tmp_path / "page.html").read_text()
    assert "Decisions at the margin 0.01" in page
    assert "Posterior probabilities of each pair" in page


def test_compare_uses_the_hierarchical_model(run, tmp_path):
    lines = [f"set {i},{j},{0.8 + (i * j % 7) / 100},{0.81 + (i * j % 5) / 100}" for i in range(5) for j in range(1, 6)]
    (tmp_path / "folds.csv").write_text("dataset,fold,a,b\n" + "\n".join(lines) + "\n")
    result = run("compare", tmp_path / "folds.csv", "--rope", "0.01", "--hierarchical", "--explain")
    assert result.exit_code == 0, result.output
    assert "Bayesian hierarchical model: P(a better)" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--margin", "0"], "margin must be greater than 0, got 0: pass the largest loss that does not matter"),
        (["--margin", "-1"], "margin must be greater than 0, got -1"),
        (["--equivalent"], "equivalent needs a margin, got None: pass --margin 0.01"),
        (["--hierarchical"], "hierarchical needs a rope, got None"),
    ],
)
def test_compare_refuses_bad_margins_in_one_sentence(run, noisy, tmp_path, words, message):
    result = run("compare", noisy, *words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
