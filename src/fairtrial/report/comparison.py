"""A comparison of learners becomes a folder: numbers, tables, words and figures, all from one verdict."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.report.figures.comparison import draw_comparison_figures
from fairtrial.report.files import create_folder, parse_formats, save, save_text
from fairtrial.report.tables import Mark, to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.compare import Verdict


def write_comparison(verdict: Verdict, folder: str | Path, formats: str | Iterable[str] = ("svg",)) -> list[Path]:
    """Write what a verdict says into a folder, which is created, and give the paths of the files.

    `scores.csv`, `pairs.csv` and `ranks.csv` hold the numbers, `table.tex` (booktabs) and `table.md` the table of a paper,
    `verdict.txt` the words; the figures `critical-difference`, `ranks` and `pairs`, and `simplex` or `density` where there is a
    posterior, come in each of the `formats`: "svg", "png", "pdf", "html" (interactive, offline) or "json" (Vega-Lite).

    >>> import tempfile
    >>> import pandas as pd
    >>> from fairtrial.significance.compare import advise
    >>> scores = {"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.9, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_comparison(advise(pd.DataFrame(scores)), folder)
    >>> [path.name for path in paths[:6]]
    ['scores.csv', 'pairs.csv', 'ranks.csv', 'table.tex', 'table.md', 'verdict.txt']
    """
    suffixes = parse_formats(formats)
    target = create_folder(Path(folder))
    paths = [save_text(text, target / name) for name, text in format_comparison_files(verdict).items()]
    for name, chart in draw_comparison_figures(verdict).items():
        paths += [save(chart, target / f"{name}.{suffix}") for suffix in suffixes]
    return paths


def format_comparison_files(verdict: Verdict) -> dict[str, str]:
    """The text files by name."""
    scores = build_score_frame(verdict)
    table_options: dict[str, Any] = {
        "better": verdict.better,
        "mean_ranks": verdict.mean_ranks,
        "marks": mark_learners(verdict),
        "reference": choose_reference(verdict),
        "note": f"{verdict.choice}, alpha {verdict.alpha:.15g}",
    }
    return {
        "scores.csv": scores.to_csv(),
        "pairs.csv": verdict.pairs().to_csv(index=False),
        "ranks.csv": verdict.ranks().rename_axis(index=verdict.unit).to_csv(),
        "table.tex": to_latex(scores, **table_options),
        "table.md": to_markdown(scores, **table_options),
        "verdict.txt": verdict.summary.rstrip("\n") + "\n",
    }


def build_score_frame(verdict: Verdict) -> pd.DataFrame:
    """The scores: a row for each data set, a column for each learner."""
    import pandas as pd

    table = verdict.table
    index = pd.Index(table.datasets, name=verdict.unit)
    return pd.DataFrame(table.values, index=index, columns=list(table.learners))


def choose_reference(verdict: Verdict) -> str:
    """What learners are marked against: the control, or the best learner."""
    return verdict.order[0] if verdict.control is None else verdict.control


def mark_learners(verdict: Verdict) -> dict[str, Mark]:
    """Learners that are told apart from the reference, and which of the two is the better one."""
    pairs, reference = verdict.pairs(), choose_reference(verdict)
    marks: dict[str, Mark] = {}
    for first, second in pairs.loc[pairs["significant"], ["first", "second"]].itertuples(index=False, name=None):
        if reference in (first, second):
            learner = second if first == reference else first
            marks[learner] = "worse" if verdict.order_pair(reference, learner)[0] == reference else "better"
    return marks
