"""A comparison of learners becomes a folder: numbers, tables, words and figures, all from one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report import comparison
from fairtrial.report.saving import formats_of, made_folder, save, save_text
from fairtrial.report.tables import Mark, to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.advise import Verdict


def write_comparison(verdict: Verdict, folder: str | Path, formats: str | Iterable[str] = ("svg",)) -> list[Path]:
    """Write what a verdict says into a folder, which is created, and give the paths of the files.

    `scores.csv`, `pairs.csv` and `ranks.csv` hold the numbers, `table.tex` (booktabs) and `table.md` the table of a paper,
    `verdict.txt` the words; the figures `critical-difference`, `ranks` and `pairs`, and `simplex` or `density` where there is a
    posterior, come in each of the `formats`: "svg", "png", "pdf", "html" (interactive, offline) or "json" (Vega-Lite).

    >>> import tempfile
    >>> import pandas as pd
    >>> from fairtrial.significance.advise import advise
    >>> scores = {"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.9, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_comparison(advise(pd.DataFrame(scores)), folder)
    >>> [path.name for path in paths[:6]]
    ['scores.csv', 'pairs.csv', 'ranks.csv', 'table.tex', 'table.md', 'verdict.txt']
    """
    wanted = formats_of(formats)
    target = made_folder(Path(folder))
    paths = [save_text(text, target / name) for name, text in texts(verdict).items()]
    for name, chart in figures(verdict).items():
        paths += [save(chart, target / f"{name}.{suffix}") for suffix in wanted]
    return paths


def texts(verdict: Verdict) -> dict[str, str]:
    """The text files by name."""
    scores = scores_of(verdict)
    table: dict[str, Any] = {
        "better": verdict.better,
        "mean_ranks": verdict.mean_ranks,
        "marks": marks_of(verdict),
        "reference": reference_of(verdict),
        "note": f"{verdict.choice}, alpha {verdict.alpha:.15g}",
    }
    return {
        "scores.csv": scores.to_csv(),
        "pairs.csv": verdict.pairs().to_csv(index=False),
        "ranks.csv": verdict.ranks().rename_axis(index=verdict.unit).to_csv(),
        "table.tex": to_latex(scores, **table),
        "table.md": to_markdown(scores, **table),
        "verdict.txt": verdict.words.rstrip("\n") + "\n",
    }


def figures(verdict: Verdict) -> dict[str, Any]:
    """The figures by name."""
    unit = verdict.unit
    charts = {
        "critical-difference": comparison.draw_critical_difference(
            verdict.mean_ranks, verdict.groups, critical_difference=_critical_difference(verdict), control=verdict.control
        ),
        "ranks": comparison.draw_ranks(verdict.ranks(), unit=unit),
        "pairs": comparison.draw_pairs(verdict.pairs(), order=list(verdict.order), unit=unit, alpha=verdict.alpha),
    }
    posterior = verdict.posterior
    if posterior is not None and not np.isnan(posterior.p_first):
        drawn: tuple[str, Callable[..., Any]] = ("density", comparison.draw_density)
        if posterior.draws is not None:
            drawn = ("simplex", comparison.draw_simplex)
        charts[drawn[0]] = drawn[1](posterior, names=verdict.table.learners)
    return charts


def scores_of(verdict: Verdict) -> pd.DataFrame:
    """The scores: a row for each data set, a column for each learner."""
    import pandas as pd

    table = verdict.table
    index = pd.Index(table.datasets, name=verdict.unit)
    return pd.DataFrame(table.values, index=index, columns=list(table.learners))


def reference_of(verdict: Verdict) -> str:
    """What learners are marked against: the control, or the best learner."""
    return verdict.order[0] if verdict.control is None else verdict.control


def marks_of(verdict: Verdict) -> dict[str, Mark]:
    """Learners that are told apart from the reference, and which of the two is the better one."""
    pairs, reference = verdict.pairs(), reference_of(verdict)
    marks: dict[str, Mark] = {}
    for first, second in pairs.loc[pairs["different"], ["first", "second"]].itertuples(index=False, name=None):
        if reference in (first, second):
            other = second if first == reference else first
            marks[other] = "worse" if verdict.in_order(reference, other)[0] == reference else "better"
    return marks


def _critical_difference(verdict: Verdict) -> float | None:
    """The width of the bar, where it is one of mean ranks: aligned and Quade's ranks have other units."""
    found = verdict.posthoc
    return found.critical_difference if found is not None and found.omnibus == "friedman" else None
