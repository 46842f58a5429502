"""The tables of a report become files: numbers at full precision, and what a page or a paper shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fairtrial.report.page import tables_of
from fairtrial.report.saving import formats_of, made_folder, save_text
from fairtrial.report.section import Section, Table
from fairtrial.report.tables import to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.table import Better

FORMATS = ("csv", "md", "tex")


def write_tables(sections: Sequence[Section], folder: str | Path, formats: str | Iterable[str] = FORMATS) -> list[Path]:
    """Write every table of these sections into a folder, which is created, and give the paths of the files.

    A table with the key `scores-means` becomes `scores-means.csv` (full precision), `.md` (Markdown) and `.tex` (LaTeX,
    booktabs). A table without lines or columns has its CSV alone.

    >>> import tempfile
    >>> import pandas as pd
    >>> table = Table("means", "Means", pd.DataFrame({"mean": [1 / 3]}, index=pd.Index(["tree"], name="learner")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_tables([Section("scores", "Scores", tables=(table,))], folder)
    ...     print(paths[0].read_text(), paths[1].read_text())
    learner,mean
    tree,0.3333333333333333
     | learner | mean |
    | :--- | ---: |
    | tree | 0.3333 |
    <BLANKLINE>
    """
    wanted = formats_of(formats, FORMATS)
    target = made_folder(Path(folder))
    paths = []
    for table in tables_of(sections):
        for suffix in wanted:
            if suffix != "csv" and 0 in table.frame.shape:
                continue
            paths.append(save_text(_WRITERS[suffix](table), target / f"{table.key}.{suffix}"))
    return paths


def _csv(table: Table) -> str:
    return str(table.frame.to_csv(index=table.frame.index.name is not None, lineterminator="\n"))


def _markdown(table: Table) -> str:
    return to_markdown(_shown(table.frame), better=_better(table), note=table.note)


def _latex(table: Table) -> str:
    label = f"tab:{table.key}"
    return to_latex(_shown(table.frame), better=_better(table), note=table.note, caption=table.title, label=label)


_WRITERS = {"csv": _csv, "md": _markdown, "tex": _latex}


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """As the page has it: an index without a name only counts the lines."""
    return frame if frame.index.name is not None else frame.reset_index(drop=True)


def _better(table: Table) -> Better | None:
    return cast("Better | None", table.best)
