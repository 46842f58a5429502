"""Tests of `fairtrial.report.tables`."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from fairtrial import compare
from fairtrial.errors import InputError
from fairtrial.report.files import build_table
from fairtrial.report.page import render
from fairtrial.report.report import build_sections, write_report
from fairtrial.report.sections.verdict import VerdictContext, build_section
from fairtrial.report.source import describe_source
from fairtrial.report.tables import to_latex, to_markdown, to_text
from fairtrial.significance import iman_davenport
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases

# --- Tables ---


SCORES = pd.DataFrame(
    {"C4.5": [0.912, 0.851, 0.7], "k_NN": [0.88, 0.86, 0.7], "R&D": [0.9, 0.8, 0.65]}, index=["iris", "50 % of wine", "zoo"]
)
# What LaTeX and booktabs are asked for; any other command would be a name that was not escaped.
COMMANDS = set(
    re.findall(
        r"\w+",
        """usepackage begin end toprule midrule bottomrule textbf rlap bullet circ par smallskip footnotesize times
        textbackslash textasciitilde textasciicircum textless textgreater textbar caption label centering pm linewidth""",
    )
)


def latex_rows(text):
    """The cells of each row of the tabular, without bold, marks and escapes."""
    found = []
    for line in text.splitlines():
        if line.endswith(r" \\"):
            plain = re.sub(r"\\rlap\{.*?\$\}", "", line[:-3])
            plain = re.sub(r"\\textbf\{(.*?)\}", r"\1", plain).replace("$-$", "-")
            found.append([re.sub(r"\\([&%_#])", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)&", plain)])
    return found


def markdown_rows(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    plain = [re.sub(r"\*\*|[●○]", "", line) for line in lines]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in plain]
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in cells]


def bold(text, open_, close):
    return re.findall(re.escape(open_) + r"(.*?)" + re.escape(close), text)


def would_compile(text):
    """Braces, environments and dollars are balanced, every row has as many cells as columns, nothing is left unescaped."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    bare = re.sub(r"\\[&%$#_{}\\,]", "", body)
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    assert not set("%#~<>|") & set(bare)
    assert "_" not in bare
    outside = re.sub(r"\$.*?\$", "", bare)
    assert "^" not in outside
    assert set(re.findall(r"\\([A-Za-z]+)", body)) <= COMMANDS
    begun, ended = (Counter(re.findall(rf"\\{word}{{(\w+)}}", body)) for word in ("begin", "end"))
    assert begun == ended
    columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", body)[1])
    for line in body.splitlines():
        if line.endswith(r" \\"):
            assert len(re.findall(r"(?<!\\)&", line)) == columns - 1
            # The line break of the row before would take these for its own.
            assert not line.lstrip().startswith(("[", "*"))


class TestScores:
    def test_numbers_are_those_of_the_frame(self):
        for read in (latex_rows(to_latex(SCORES)), [row for row in markdown_rows(to_markdown(SCORES)) if row[0] != ":---"]):
            assert read[0] == ["", *SCORES.columns]
            assert [row[0] for row in read[1:4]] == list(SCORES.index)
            assert [[float(cell) for cell in row[1:]] for row in read[1:4]] == SCORES.to_numpy().tolist()
            assert read[4] == ["Mean", *(f"{mean:.3f}" for mean in SCORES.mean())]
            # By hand: ranks 1 3 2; 2 1 3; 1.5 1.5 3.
            assert read[5] == ["Mean rank", "1.50", "1.83", "2.67"]

    @pytest.mark.parametrize(
        ("better", "expected"),
        [
            ("max", ["0.912", "0.860", "0.700", "0.700", "0.821", "1.50"]),
            ("min", ["0.880", "0.800", "0.650", "0.783", "1.33"]),
        ],
    )
    def test_the_best_of_each_row_is_bold(self, better, expected):
        assert bold(to_latex(SCORES, better=better), r"\textbf{", "}") == expected
        assert bold(to_markdown(SCORES, better=better), "**", "**") == expected

    def test_float_noise_does_not_decide_what_is_bold(self):
        noisy = pd.DataFrame({"a": [0.1 + 0.2], "b": [0.3]})
        assert bold(to_markdown(noisy, digits=2), "**", "**")[:2] == ["0.30", "0.30"]

    def test_given_mean_ranks_are_taken(self):
        ranks = pd.Series({"R&D": 1.25, "C4.5": 2.5, "k_NN": 2.25})
        assert latex_rows(to_latex(SCORES, mean_ranks=ranks))[-1] == ["Mean rank", "2.50", "2.25", "1.25"]
        with pytest.raises(InputError, match=r"mean_ranks.*'k_NN'"):
            to_latex(SCORES, mean_ranks=ranks.drop("k_NN"))

    def test_marks_stand_at_the_mean_rank_and_are_explained(self):
        marks = {"k_NN": "worse", "R&D": "better"}
        text = to_latex(SCORES, marks=marks, reference="C4.5")
        line = next(line for line in text.splitlines() if line.startswith("Mean rank"))
        assert line == r"Mean rank & \textbf{1.50} & 1.83\rlap{\,$\bullet$} & 2.67\rlap{\,$\circ$} \\"
        assert re.search(r"\$\\bullet\$ [^$]*worse than C4\.5 \\\\ \$\\circ\$ [^$]*better than C4\.5", text)
        would_compile(text)
        page = to_markdown(SCORES, marks=marks, reference="C4.5")
        assert "| 1.83 ● | 2.67 ○ |" in page
        assert [line.split()[0] for line in page.splitlines() if line.endswith("than C4.5")] == ["●", "○"]

    def test_digits_are_those_of_the_data_or_given(self):
        assert latex_rows(to_latex(SCORES, digits=1))[1] == ["iris", "0.9", "0.9", "0.9"]
        assert latex_rows(to_latex(SCORES / 3))[1][1] == "0.3040"
        assert latex_rows(to_latex(SCORES * 1000))[1:5:3] == [
            ["iris", "912", "880", "900"],
            ["Mean", "821.00", "813.33", "783.33"],
        ]

    def test_small_numbers_keep_their_digits(self):
        assert latex_rows(to_latex(SCORES / 3e5))[1][1] == "0.000003040"
        assert latex_rows(to_latex(pd.DataFrame({"a": [-0.001], "b": [0.7]}), digits=2))[1] == ["0", "0.00", "0.70"]

    def test_a_hole_is_shown_and_has_no_mean_and_no_ranks(self):
        holed = SCORES.copy()
        holed.iloc[1, 0] = np.nan
        rows = latex_rows(to_latex(holed))
        assert rows[2] == ["50 % of wine", "--", "0.860", "0.800"]
        assert rows[4] == ["Mean", "--", "0.813", "0.783"]
        assert rows[5] == ["Mean rank", "--", "--", "--"]
        assert "| \N{EN DASH} |" in to_markdown(holed)

    def test_a_caption_makes_it_float(self):
        text = to_latex(SCORES, caption="100 % of R&D", label="tab:scores", note="a_b")
        assert text.splitlines()[1:5] == [r"\begin{table}", r"\centering", r"\caption{100 \% of R\&D}", r"\label{tab:scores}"]
        would_compile(text)

    def test_negative_numbers_have_a_minus_sign(self):
        assert "$-$0.5 & " in to_latex(pd.DataFrame({"a": [-0.5], "b": [0.5]}))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"better": "most"}, "better"),
            ({"digits": -1}, "digits"),
            ({"marks": {"tree": "worse"}, "reference": "C4.5"}, "marks"),
            ({"marks": {"k_NN": "awful"}, "reference": "C4.5"}, "marks"),
            ({"marks": {"k_NN": "worse"}}, "reference"),
        ],
    )
    def test_bad_options_are_refused(self, options, message):
        for write in (to_latex, to_markdown):
            with pytest.raises(InputError, match=message):
                write(SCORES, **options)

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([[1, 2]], "scores.*list"),
            (pd.DataFrame(), "scores"),
            (pd.DataFrame({"a": ["x"], "b": [1]}), "scores.*'x'"),
        ],
    )
    def test_bad_scores_are_refused(self, scores, message):
        with pytest.raises(InputError, match=message):
            to_latex(scores)


class TestDeviations:
    DEVIATIONS = pd.DataFrame([[0.01, 0.02, 0.0301], [0.1, 0.2, 0.3], [np.nan, 0.0, 0.004]])

    def test_deviations_follow_the_scores(self):
        text = to_latex(SCORES, deviations=self.DEVIATIONS)
        assert r"iris & \textbf{0.912} $\pm$ 0.010 & 0.880 $\pm$ 0.020 & 0.900 $\pm$ 0.030 \\" in text
        assert r"zoo & \textbf{0.700} & \textbf{0.700} $\pm$ 0.000 & 0.650 $\pm$ 0.004 \\" in text
        would_compile(text)
        page = to_markdown(SCORES / 3, deviations=self.DEVIATIONS)
        assert "| iris | **0.304** ± 0.010 | 0.293 ± 0.020 | 0.300 ± 0.030 |" in page
        assert "zoo                   0.700*  0.700 ± 0.000*  0.650 ± 0.004" in to_text(SCORES, deviations=self.DEVIATIONS)

    def test_marks_are_in_the_rows_if_there_is_no_summary(self):
        text = to_latex(SCORES.iloc[:1], marks={"k_NN": "worse"}, reference="C4.5", summary=())
        assert r"iris & \textbf{0.912} & 0.880\rlap{\,$\bullet$} & 0.900 \\" in text
        assert "Mean" not in text

    def test_bad_deviations_and_summary_are_refused(self):
        with pytest.raises(InputError, match="deviations must have the shape"):
            to_latex(SCORES, deviations=self.DEVIATIONS.iloc[:2])
        with pytest.raises(InputError, match="summary"):
            to_latex(SCORES, summary=("Median",))


class TestPaperTables:
    def test_failed_learners_have_no_score_but_a_rank(self):
        results = cases()["worst rank"]
        table = build_table(results, "scores")
        failed = results.wide().isna()
        assert failed.to_numpy().any()
        assert table.frame.isna().equals(failed.loc[table.frame.index, table.frame.columns].rename_axis(index="data set"))
        rows = {row[0]: row[1:] for row in latex_rows(table.to_latex())}
        assert rows["iris"][list(table.frame.columns).index("tree")] == "--"
        assert "--" not in rows["Mean rank"]
        assert "gets the worst rank" in table.to_latex()

    def test_excluded_data_sets_are_named(self):
        assert "iris" not in build_table(cases()["failures"], "scores").frame.index
        assert "(iris" in str(build_table(cases()["failures"], "scores"))
        holed = make_scores(4, 10)
        holed.loc[3, "learner1"] = np.nan
        assert "Left out because scores are missing: set 3." in build_table(compare(holed), "ranks").to_markdown()

    def test_conditions_and_measures_of_a_study(self):
        results = cases()["several"]
        table = build_table(results, "scores", measure="error_rate", condition="class-noise", baseline="tree")
        wide = results.wide("error_rate", "class-noise")
        pd.testing.assert_frame_equal(table.frame, wide, check_names=False)
        best = [list(wide.columns).index(name) for name in wide.idxmin(axis=1)]
        bold_cells = [[r"\textbf" in cell for cell in line.split("&")[1:]] for line in table.to_latex().splitlines()[5:8]]
        assert [row.index(True) for row in bold_cells[: len(best)]] == best
        assert "Error rate, class-noise" in str(table)

    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            ("score", {}, "table.*'score'"),
            ("scores", {"measure": "auc"}, "measure is an option for results of a study"),
            ("scores", {"baseline": "nobody"}, "baseline.*'nobody'"),
            ("scores", {"baseline": "learner2"}, "baseline must be the control"),
            ("pairs", {"baseline": "nobody"}, "baseline.*'nobody'"),
        ],
    )
    def test_bad_tables_are_refused(self, name, options, message):
        with pytest.raises(InputError, match=message):
            build_table(compare(make_scores(), control="learner1"), name, **options)


names = st.lists(st.text(r"ab1 &%$#_{}~^\<>|[]*-`" + "\n", min_size=1, max_size=12), min_size=2, max_size=4, unique=True)


class TestNames:
    @given(rows=names, columns=names)
    def test_no_name_breaks_latex(self, rows, columns):
        frame = pd.DataFrame(np.linspace(-1, 1, len(rows) * len(columns)).reshape(len(rows), -1), index=rows, columns=columns)
        would_compile(to_latex(frame, marks={columns[1]: "worse"}, reference=columns[0], caption=columns[0]))

    @given(rows=names, columns=names)
    def test_no_name_breaks_markdown(self, rows, columns):
        frame = pd.DataFrame(0.5, index=rows, columns=columns)
        read = markdown_rows(to_markdown(frame).replace("**", ""))
        assert {len(row) for row in read} == {len(columns) + 1}

    def test_each_sign_is_escaped(self):
        frame = pd.DataFrame({r"a\b": [1.0], "x^2~y": [2.0]}, index=["{p} < 0.05 | #1 $"])
        text = to_latex(frame)
        assert r" & a\textbackslash{}b & x\textasciicircum{}2\textasciitilde{}y \\" in text
        assert r"\{p\} \textless{} 0.05 \textbar{} \#1 \$ & " in text
        assert r"| \{p\} \< 0.05 \| \#1 \$ |" in to_markdown(frame)


class TestAnyFrame:
    FRAME = pd.DataFrame(
        {"first": ["C4.5", "a_b"], "p": [4.48699e-7, 0.0127630], "n": [3, -4], "different": [True, False], "gap": [np.nan, 0.5]}
    )

    def test_cells_are_written_as_they_are(self):
        rows = latex_rows(to_latex(self.FRAME, better=None))
        assert rows == [
            ["first", "p", "n", "different", "gap"],
            ["C4.5", r"$4.487\times10^{-7}$", "3", "yes", "--"],
            ["a_b", "0.01276", "-4", "no", "0.5"],
        ]
        assert r"\begin{tabular}{lrrlr}" in to_latex(self.FRAME, better=None)
        assert markdown_rows(to_markdown(self.FRAME, better=None))[2][1] == "4.487e-07"

    def test_an_index_with_names_is_kept(self):
        rows = latex_rows(to_latex(self.FRAME.set_index("first"), better=None, digits=2))
        assert rows[2] == ["a_b", "0.01", "-4", "no", "0.50"]


# --- Compared ---
# Reports of comparisons.


def make_scores(learners=3, sets=12, gap=0.05):
    rng = np.random.default_rng(2)
    base = rng.uniform(0.6, 0.8, sets)
    columns = {f"learner{i}": base + gap * (learners - i) + rng.normal(0, 0.03, sets) for i in range(learners)}
    return pd.DataFrame({"dataset": [f"set {i}" for i in range(sets)], **columns})


@pytest.mark.parametrize(
    ("learners", "options"),
    [(3, {"measure": "accuracy"}), (2, {"rope": 0.01}), (4, {"control": "learner1"}), (2, {"better": "min"})],
)
def test_numbers_of_the_text_are_in_tables(learners, options):
    verdict = compare(make_scores(learners), **options)
    sections = build_sections(verdict)
    assert [section.key for section in sections] == ["answer", "setup", "verdict", "checks", "references"]
    assert check_numbers(sections, verdicts=[verdict]) > 3
    assert "<title>Scores</title>" in render(sections, "Scores")


def test_answer_and_facts_are_those_of_the_verdict():
    table = make_scores()
    verdict = compare(table, measure="accuracy")
    assert (verdict.ranking.best, verdict.ranking.worse) == (("learner0",), ("learner1", "learner2"))
    headline = build_sections(verdict)[0].sentences[0].text
    assert headline.startswith("learner0 ")
    assert headline.endswith("learner1 and learner2.")
    facts = build_section(describe_source(verdict)).tables[0].frame
    assert facts.loc["p", "value"] == iman_davenport(table.set_index("dataset")).p_value
    assert facts.loc["significantly different", "value"] == sum(p <= 0.05 for *_, p in verdict.comparisons)


def test_splits_of_one_data_set():
    table = make_scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    verdict = compare(table, measure="accuracy")
    assert verdict.unit == "split"
    assert describe_source(verdict).subtitle == "2 learners, 10 splits, accuracy"


def test_report_of_a_verdict_is_written(tmp_path):
    verdict = compare(make_scores(), measure="accuracy")
    page = write_report(verdict, tmp_path / "x.html")
    assert f"<title>{describe_source(verdict).title}</title>" in page.read_text(encoding="utf-8")


def test_excluded_data_sets_are_named():
    table = make_scores(4, 10)
    table.loc[3, "learner1"] = np.nan
    verdict = compare(table)
    sections = build_sections(verdict)
    assert VerdictContext.from_scores(verdict).basis.left_out == ("set 3",)
    assert any("set 3" in highlight.title for highlight in sections[0].highlights)
    assert describe_source(verdict).subtitle == "4 learners, 9 of 10 data sets"
    check_numbers(sections, describe_source(verdict).subtitle, ["set 3"], [verdict])
    complete = VerdictContext.from_scores(compare(make_scores(4, 10), better="max"))
    assert complete.exclusions == ()


def test_excluded_learners_and_splits_are_named():
    table = make_scores(3, 10)
    table.loc[2:8, "learner2"] = np.nan
    assert any("learner2" in highlight.title for highlight in build_sections(compare(table))[0].highlights)
    folds = make_scores(2, 10).rename(columns={"dataset": "fold"}).assign(fold=range(10))
    folds.loc[4, "learner0"] = np.nan
    verdict = compare(folds, test_fraction=0.1)
    basis = VerdictContext.from_scores(verdict).basis
    assert (basis.splits, basis.splits_left_out) == (10, 1)
    check_numbers(build_sections(verdict), verdicts=[verdict])


def test_single_remaining_data_set_is_named():
    lines = [(name, fold, 0.7 + 0.01 * fold, 0.6 + 0.02 * (fold % 3)) for name in ("iris", "wine") for fold in range(6)]
    table = pd.DataFrame(lines, columns=["dataset", "fold", "tree", "bayes"])
    table.loc[table["dataset"] == "wine", "bayes"] = np.nan
    verdict = compare(table)
    basis = VerdictContext.from_scores(verdict).basis
    assert (basis.datasets, basis.left_out) == (("iris",), ("wine",))
    check_numbers(build_sections(verdict), verdicts=[verdict])
