"""Commands `figure` and `table`, and figures of reports as files."""

import json
import os
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from tests.report.test_tables import latex_rows, would_compile

GARCIA = Path(__file__).resolve().parents[1] / "oracles" / "garcia_herrera_2008_accuracy.csv"


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    """A file of predictions of two models, one clearly better."""
    rng = np.random.default_rng(5)
    sick = rng.random(240) < 0.4
    frame = pd.DataFrame(
        {
            "id": np.arange(240),
            "y_true": np.where(sick, "yes", "no"),
            "strong_proba": np.clip(0.5 * sick + 0.5 * rng.random(240), 0, 1),
            "weak_proba": np.clip(0.1 * sick + 0.9 * rng.random(240), 0, 1),
        }
    )
    file = tmp_path_factory.mktemp("predictions") / "predictions.csv"
    frame.to_csv(file, index=False)
    return file, frame


def check_one_sentence(answer, *parts):
    assert answer.exit_code == 2, answer.output
    assert answer.stderr.startswith("fairtrial: ")
    assert len(answer.stderr.splitlines()) == 1
    for part in parts:
        assert part in answer.stderr


def texts_of(svg):
    return re.findall(r">([^<>]+)</text>", svg)


class TestFigure:
    @pytest.mark.parametrize(("suffix", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<svg")])
    def test_format_follows_the_suffix(self, run, finished, tmp_path, suffix, start):
        out = tmp_path / f"cd.{suffix}"
        answer = run("figure", "critical-difference", finished[0], "--out", out)
        assert answer.exit_code == 0, answer.output
        assert answer.output == f"written: {out}\n"
        assert out.read_bytes().startswith(start)
        assert os.listdir(tmp_path) == [out.name]

    def test_figure_of_a_study_names_learners_measure_and_condition(self, run, finished, tmp_path):
        out = tmp_path / "cd.svg"
        options = ("--measure", "auc", "--condition", "class-noise")
        assert run("figure", "Critical_Difference", finished[0], *options, "--out", out).exit_code == 0
        texts = texts_of(out.read_text(encoding="utf-8"))
        assert {"gaussian-nb", "tree"} <= set(texts)
        assert "Critical-difference diagram: AUC, 2 data sets, class-noise 0.2" in texts

    def test_default_file_is_named_after_the_figure(self, run, finished, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run("figure", "times", finished[0]).output == "written: times.svg\n"
        assert os.listdir(tmp_path) == ["times.svg"]

    def test_figure_fits_the_page_and_text_is_legible(self, run, tmp_path):
        widths = {}
        for name, options in {"page": (), "column": ("--width", 85)}.items():
            out = tmp_path / f"{name}.pdf"
            assert run("figure", "critical-difference", GARCIA, "--out", out, *options).exit_code == 0
            widths[name] = float(re.search(rb"/MediaBox ?\[0 0 ([0-9.]+)", out.read_bytes())[1]) * 25.4 / 72
        assert widths == pytest.approx({"page": 160, "column": 85}, abs=0.1)
        out = tmp_path / "ranks.svg"
        assert run("figure", "ranks", GARCIA, "--out", out).exit_code == 0
        tag = re.search(r'<svg[^>]* width="([0-9.]+)pt"[^>]* viewBox="0 0 ([0-9.]+)', out.read_text(encoding="utf-8"))
        assert float(tag[1]) / float(tag[2]) == pytest.approx(0.75, abs=0.01)  # 12 pixels become 9 points

    def test_title_can_be_changed_and_removed(self, run, tmp_path):
        run("figure", "cd", GARCIA, "--title", "Five learners", "--out", tmp_path / "own.svg")
        run("figure", "cd", GARCIA, "--title", "", "--out", tmp_path / "bare.svg")
        assert "Five learners" in texts_of((tmp_path / "own.svg").read_text(encoding="utf-8"))
        bare = (tmp_path / "bare.svg").read_text(encoding="utf-8")
        assert "Kernel" in bare
        assert "diagram" not in bare

    def test_figure_of_scores_has_the_published_mean_ranks(self, run, tmp_path):
        out = tmp_path / "cd.svg"
        assert run("figure", "critical-difference", GARCIA, "--out", out).exit_code == 0
        # Garcia & Herrera 2008.
        assert {"2.10", "3.25", "2.20", "4.33", "3.12"} <= set(texts_of(out.read_text(encoding="utf-8")))

    def test_figure_of_predictions(self, run, predictions, tmp_path):
        out = tmp_path / "roc.json"
        answer = run("figure", "roc", predictions[0], "--learner", "strong", "--option", "band=no", "--out", out)
        assert answer.exit_code == 0, answer.output
        chart = json.loads(out.read_text(encoding="utf-8"))
        rows = [row for values in chart["datasets"].values() for row in values if "learner" in row]
        assert {row["learner"] for row in rows} == {"strong"}

    def test_no_figure_has_widgets(self, run, finished, tmp_path):
        for name in ("pairs", "intervals", "noise"):
            out = tmp_path / f"{name}.json"
            assert run("figure", name, finished[0], "--out", out).exit_code == 0
            assert '"bind"' not in out.read_text(encoding="utf-8")

    def test_list_of_figures(self, run, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        lines = run("figure", "--list").stdout.splitlines()
        files = {line.split()[0]: line for line in lines}
        assert "results, predictions, scores" in files["critical-difference"]
        assert "results, predictions " in files["roc"]
        assert "predictions" not in files["times"]

    def test_help_has_an_example(self, run):
        assert "fairtrial figure critical-difference study.fairtrial" in " ".join(run("figure", "--help").output.split())
        assert "fairtrial table scores study.fairtrial" in " ".join(run("table", "--help").output.split())


class TestRefusedFigure:
    def test_unknown_name_is_answered_by_the_nearest_and_all(self, run, finished):
        answer = run("figure", "critcal-diference", finished[0])
        check_one_sentence(answer, "'critcal-diference'", "did you mean 'critical-difference'?", "precision-recall", "tuning")

    @pytest.mark.parametrize(
        ("words", "parts"),
        [
            (("figure",), ["NAME must be given", "critical-difference"]),
            (("figure", "roc"), ["fairtrial figure roc FILE"]),
            (("figure", "roc", "absent.csv"), ["existing file", "absent.csv"]),
            (("figure", "roc", GARCIA), ["needs a results file or a file of predictions", "a table of scores"]),
            (("figure", "simplex", GARCIA, "--rope", "0.01"), ["posterior of 2 learners"]),
            (("figure", "cd", GARCIA, "--dataset", "Wine"), ["--dataset has no effect", "--measure"]),
            (("figure", "cd", GARCIA, "--option", "hull"), ["NAME=VALUE", "'hull'"]),
            (("figure", "cd", GARCIA, "--option", "hull=no"), ["--option hull=VALUE has no effect"]),
            (("figure", "cd", GARCIA, "--control", "C45"), ["'C45'", "C4.5"]),
        ],
    )
    def test_bad_input_is_one_sentence(self, run, tmp_path, monkeypatch, words, parts):
        monkeypatch.chdir(tmp_path)
        check_one_sentence(run(*words), *parts)
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            (("--out", "cd.gif"), [".pdf", "cd.png"]),
            (("--out", "no/cd.pdf"), ["existing folder", "'no'"]),
            (("--out", "cd.html", "--width", "80"), ["width", ".pdf"]),
            (("--out", "cd.pdf", "--width", "2"), ["width must be between", "got 2"]),
            (("--measure", "acuracy"), ["did you mean 'accuracy'?"]),
            (("--condition", "drift"), ["'drift'", "class-noise"]),
            (("--study", "other"), ["other"]),
            (("--resampling", "other"), ["other"]),
            (("--rows", "folds"), ["--rows has no effect", "a results file"]),
        ],
    )
    def test_bad_option_for_a_study_is_one_sentence(self, run, finished, tmp_path, monkeypatch, options, parts):
        monkeypatch.chdir(tmp_path)
        check_one_sentence(run("figure", "critical-difference", finished[0], *options), *parts)
        assert os.listdir(tmp_path) == []

    def test_several_data_sets_need_a_choice(self, run, finished, tmp_path):
        check_one_sentence(
            run("figure", "roc", finished[0], "--out", tmp_path / "x.svg"), "dataset must be given", "iris, wine"
        )

    def test_judgement_of_one_split_has_no_ranks(self, run, predictions, tmp_path):
        answer = run("figure", "ranks", predictions[0], "--out", tmp_path / "x.svg")
        check_one_sentence(answer, "several data sets or splits")

    def test_old_file_stays_if_the_new_one_fails(self, run, finished, tmp_path):
        old = tmp_path / "cd.pdf"
        old.write_text("old")
        check_one_sentence(run("figure", "cd", finished[0], "--measure", "nothing", "--out", old))
        check_one_sentence(run("table", "scores", finished[0], "--measure", "nothing", "--latex", "--out", old))
        assert old.read_text() == "old"
        assert os.listdir(tmp_path) == ["cd.pdf"]


@pytest.fixture(scope="module")
def fold_scores(finished, tmp_path_factory):
    """Accuracy of each fold without noise, computed from exported predictions."""
    from typer.testing import CliRunner

    from fairtrial.cli import app

    file = tmp_path_factory.mktemp("export") / "predictions.csv"
    assert CliRunner().invoke(app, ["export", str(finished[0]), "--csv", str(file)]).exit_code == 0
    rows = pd.read_csv(file)
    rows = rows[rows["condition"] == "clean"]
    rows = rows.assign(right=rows["y_true"] == rows["prediction"])
    return rows.groupby(["dataset", "learner", "repeat", "fold"])["right"].mean()


class TestTable:
    def test_scores_are_mean_and_deviation_over_folds(self, run, finished, fold_scores):
        answer = run("table", "scores", finished[0], "--csv")
        assert answer.exit_code == 0, answer.output
        table = pd.read_csv(StringIO(answer.stdout), index_col=0)
        assert list(table.index) == ["iris", "wine"]
        by_set = fold_scores.groupby(["dataset", "learner"])
        for (dataset, learner), mean in by_set.mean().items():
            assert table.loc[dataset, learner] == pytest.approx(mean, abs=1e-12)
            assert table.loc[dataset, f"{learner} sd"] == pytest.approx(by_set.std(ddof=1)[dataset, learner], abs=1e-12)

    def test_latex_has_the_same_numbers_and_compiles(self, run, finished, fold_scores, tmp_path):
        out = tmp_path / "scores.tex"
        assert run("table", "scores", finished[0], "--out", out).output == f"written: {out}\n"
        text = out.read_text(encoding="utf-8")
        would_compile(text)
        assert r"\caption" not in text
        assert text == run("table", "scores", finished[0], "--latex").stdout
        means, deviations = (fold_scores.groupby(["dataset", "learner"]).agg(name).unstack() for name in ("mean", "std"))
        for line in re.findall(r"^(?:iris|wine) &.*$", text, re.MULTILINE):
            dataset, *cells = line.removesuffix(r" \\").split(" & ")
            for learner, cell in zip(["gaussian-nb", "tree"], cells, strict=True):
                number = f"{means.loc[dataset, learner]:.3f}"
                is_best = means.loc[dataset, learner] == means.loc[dataset].max()
                number = rf"\textbf{{{number}}}" if is_best else number
                assert cell == rf"{number} $\pm$ {deviations.loc[dataset, learner]:.3f}"

    @pytest.mark.parametrize("baseline", [None, "CN2"])
    def test_marks_follow_the_published_comparison(self, run, baseline):
        options = ("--latex",) if baseline is None else ("--latex", "--baseline", baseline)
        text = run("table", "scores", GARCIA, *options).stdout
        would_compile(text)
        cells = next(line for line in text.splitlines() if line.startswith("Mean rank")).split(" & ")[1:]
        # Garcia & Herrera 2008: C4.5 differs from all but naive Bayes (Bergmann-Hommel). With CN2 as control, differences of
        # mean ranks over sqrt(30 / 180) give z = 2.980, 2.490, 2.245 and 0.327, so p = 0.012, 0.038, 0.0495 and 0.74 (Holm).
        signs = ["bullet" if r"$\bullet$" in cell else "circ" if r"$\circ$" in cell else "" for cell in cells]
        expected = {None: ["", "bullet", "", "bullet", "bullet"], "CN2": ["circ", "", "circ", "bullet", ""]}
        assert signs == expected[baseline]
        assert f"significantly worse than {baseline or 'C4.5'}" in text

    def test_text_is_the_default_and_names_the_test(self, run):
        answer = run("table", "scores", GARCIA, "--measure", "accuracy")
        lines = answer.stdout.splitlines()
        assert lines[0].split() == ["data", "set", "C4.5", "k-NN(k=1)", "NaiveBayes", "Kernel", "CN2"]
        assert next(line for line in lines if line.startswith("Mean rank")).split()[2:] == [
            "2.10*", "3.25●", "2.20", "4.33●", "3.12●"
        ]  # fmt: skip
        rest = " ".join(lines[lines.index("") :])
        assert "Accuracy. Friedman test (Iman-Davenport" in rest
        assert "30 data sets" in rest

    def test_ranks_and_wins(self, run):
        scores = pd.read_csv(GARCIA, index_col=0)
        ranks = pd.read_csv(StringIO(run("table", "ranks", GARCIA, "--csv").stdout), index_col=0)
        assert np.array_equal(ranks.to_numpy(), rankdata(-scores.to_numpy(), axis=1))
        wins = pd.read_csv(StringIO(run("table", "wins", GARCIA, "--csv").stdout))
        assert len(wins) == 20
        for first, second, *counts in wins.itertuples(index=False, name=None):
            a, b = scores[first], scores[second]
            assert counts == [(a > b).sum(), (a == b).sum(), (a < b).sum()]
        would_compile(run("table", "wins", GARCIA, "--latex").stdout)
        assert run("table", "wins", GARCIA, "--markdown").stdout.startswith("|  | C4.5 | NaiveBayes |")

    def test_pairs_of_a_baseline(self, run):
        pairs = pd.read_csv(StringIO(run("table", "pairs", GARCIA, "--baseline", "Kernel", "--csv").stdout))
        assert len(pairs) == 4
        assert set(pairs["first"]) == {"Kernel"}
        scores = pd.read_csv(GARCIA, index_col=0)
        assert pairs["difference"].tolist() == pytest.approx([(scores["Kernel"] - scores[n]).mean() for n in pairs["second"]])
        would_compile(run("table", "pairs", GARCIA, "--latex").stdout)

    def test_tables_of_predictions(self, run, predictions):
        file, frame = predictions
        table = run("table", "scores", file, "--measure", "auc", "--digits", 4).stdout
        aucs = [roc_auc_score(frame["y_true"] == "yes", frame[f"{name}_proba"]) for name in ("strong", "weak")]
        assert f"{aucs[0]:.4f}*" in table
        assert f"{aucs[1]:.4f}" in table
        assert "● significantly worse than strong" in table
        against = run("table", "scores", file, "--measure", "auc", "--baseline", "weak").stdout
        assert "○ significantly better than weak" in against
        pairs = pd.read_csv(StringIO(run("table", "pairs", file, "--csv", "--measure", "auc").stdout))
        assert pairs["difference"].tolist() == pytest.approx([aucs[0] - aucs[1]])

    def test_splits_of_one_data_set_are_one_row(self, run, tmp_path):
        folds = pd.DataFrame({"fold": range(10), "tree": np.linspace(0.7, 0.8, 10), "rule": np.linspace(0.5, 0.61, 10)})
        file = tmp_path / "folds.csv"
        folds.to_csv(file, index=False)
        rows = latex_rows(run("table", "scores", file, "--latex").stdout)
        spread = folds.std(ddof=1)
        assert len(rows) == 2
        assert rows[1][1:] == [rf"0.750 $\pm$ {spread['tree']:.3f}", rf"0.555 $\pm$ {spread['rule']:.3f}"]

    def test_list_of_tables(self, run, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        lines = run("table", "--list").stdout.splitlines()
        assert [line.split()[0] for line in lines] == ["table", "scores", "ranks", "pairs", "wins"]

    @pytest.mark.parametrize(
        ("words", "parts"),
        [
            (("score", GARCIA), ["did you mean 'scores'?", "scores, ranks, pairs, wins"]),
            (("scores", GARCIA, "--latex", "--csv"), ["--latex has no effect with --csv"]),
            (("scores", GARCIA, "--latex", "--out", "x.csv"), ["--latex does not fit", ".csv"]),
            (("scores", GARCIA, "--out", "x.pdf"), [".tex", "x.pdf"]),
            (("scores", GARCIA, "--out", "no/x.tex"), ["existing folder"]),
            (("scores", GARCIA, "--baseline", "C5"), ["'C5'"]),
            (("scores", GARCIA, "--condition", "clean"), ["--condition has no effect", "a table of scores"]),
            (("scores", GARCIA, "--digits", "-1"), ["digits must be at least 0"]),
        ],
    )
    def test_bad_input_is_one_sentence(self, run, tmp_path, monkeypatch, words, parts):
        monkeypatch.chdir(tmp_path)
        check_one_sentence(run("table", *words), *parts)
        assert os.listdir(tmp_path) == []

    def test_one_data_set_without_splits_has_no_ranks(self, run, predictions):
        check_one_sentence(run("table", "ranks", predictions[0]), "several data sets or splits", "'scores' or 'pairs'")


class TestFiguresOfReports:
    """`--figures DIR --format FORMAT` writes figures and nothing else."""

    def check_folder(self, folder, suffix):
        names = os.listdir(folder / "figures")
        assert names
        assert {name.rpartition(".")[2] for name in names} == {suffix}
        assert os.listdir(folder) == ["figures"]

    def test_study(self, run, finished, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        answer = run("report", finished[0], "--figures", "figures", "--format", "json")
        assert answer.exit_code == 0, answer.output
        self.check_folder(tmp_path, "json")
        assert answer.stdout == f"written: figures ({len(os.listdir('figures'))} files)\n"
        check_one_sentence(run("report", finished[0], "--figures", "figures", "--title", "T"), "--title has no effect", "--out")

    def test_judgement(self, run, predictions, tmp_path):
        answer = run("judge", predictions[0], "--measure", "auc", "--figures", tmp_path / "figures", "--format", "json")
        assert answer.exit_code == 0, answer.output
        self.check_folder(tmp_path, "json")

    def test_comparison(self, run, tmp_path):
        answer = run("compare", GARCIA, "--figures", tmp_path / "figures", "--format", "pdf")
        assert answer.exit_code == 0, answer.output
        assert f"written: {tmp_path / 'figures'} (" in answer.stdout
        self.check_folder(tmp_path, "pdf")

    def test_gate(self, run, predictions, tmp_path):
        words = ("gate", predictions[0], "--candidate", "strong", "--baseline", "weak", "--margin", "0.01", "--measure", "auc")
        answer = run(*words, "--figures", tmp_path / "figures", "--format", "png")
        assert answer.exit_code == 0, answer.output
        self.check_folder(tmp_path, "png")
        check_one_sentence(run(*words, "--format", "png"), "--format has no effect without --figures")
        check_one_sentence(run(*words, "--figures", tmp_path / "more", "--format", "gif"), "--format must be", "'gif'")
        assert os.listdir(tmp_path) == ["figures"]
