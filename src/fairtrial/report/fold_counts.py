"""What splits alone tell: sizes, class shares, rows in both parts, rows never tested; and a figure of the shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._columns import read_columns
from fairtrial.report.drawing import GREY, PALETTE, chart_of, finished, frame_of, titled, with_columns, written
from fairtrial.resampling.coverage import Coverage, coverage, coverage_findings
from fairtrial.resampling.finding import Finding
from fairtrial.resampling.layout import Layout
from fairtrial.resampling.splits import Split, Splits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts


def splits_of(results: Results, facts: DataFacts) -> Splits:
    """The splits of a data set, all repeats and folds that are planned."""
    trials = results.trials()
    own = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
    parts = []
    for repeat, fold in own.itertuples(index=False, name=None):
        train, test = (np.asarray(rows, dtype=np.intp) for rows in results.archive.split(facts.name, repeat, fold))
        parts.append(Split(train, test, int(repeat), int(fold)))
    declared = results.archive.declaration.get("resampling")
    scheme = str(declared.get("scheme") or "given") if isinstance(declared, Mapping) else "given"
    return Splits(len(facts.codes), tuple(parts), scheme)


def counted(results: Results, facts: DataFacts) -> tuple[Layout, Coverage]:
    """The splits beside the classes, and what is counted of them."""
    splits = splits_of(results, facts)
    unknown = bool((facts.codes < 0).any())
    labels = np.where(facts.codes < 0, len(facts.classes), facts.codes).astype(np.intp)
    classes = (*facts.classes, "(no class)") if unknown else facts.classes
    kept = np.unique(labels)
    layout = Layout(
        splits,
        read_columns(np.zeros((len(labels), 1))),
        np.searchsorted(kept, labels),
        tuple(np.array([*classes], dtype=object)[kept]),
    )
    return layout, coverage(layout)


def findings_of(layout: Layout, counts: Coverage) -> list[Finding]:
    """What the counts show, folds counted from 0 as in the tables of results.

    Splits without any training row are predictions from elsewhere: their training is not judged.
    """
    found = coverage_findings(layout, counts, as_numbered=True)
    trained = counts.train.any()
    return [each for each in found if trained or each.check != "class absent from training"]


def fold_lines(name: str, layout: Layout, counts: Coverage) -> pd.DataFrame:
    """A line for each split: rows, rows in both parts, and the share of the rarest class in the test part and in all."""
    import pandas as pd

    rarest = int(np.argmin(np.bincount(layout.labels, minlength=len(layout.classes))))
    test = counts.test.sum(axis=1)
    whole = float((layout.labels == rarest).mean())
    return pd.DataFrame(
        {
            "data set": name,
            "repeat": [split.repeat + 1 for split in layout.splits],
            "fold": [split.fold + 1 for split in layout.splits],
            "training rows": counts.train.sum(axis=1),
            "test rows": test,
            "in both": counts.both,
            "rarest class": str(layout.classes[rarest]),
            "share in test": np.divide(counts.test[:, rarest], test, out=np.full(len(test), np.nan), where=test > 0),
            "share in all": whole,
        }
    )


def repeated_ids(facts: DataFacts, layout: Layout) -> tuple[int, int]:
    """How many rows carry an id that another row has, and how many test rows (over all splits) have such a twin in training."""
    import pandas as pd

    group = pd.factorize(pd.Series(list(facts.row_ids), dtype=object))[0]
    sizes = np.bincount(group[group >= 0], minlength=1)
    twin = (group >= 0) & (sizes[np.maximum(group, 0)] > 1)
    if not twin.any():
        return 0, 0
    leaked = sum(int(np.isin(group[split.test[twin[split.test]]], group[split.train]).sum()) for split in layout.splits)
    return int(twin.sum()), leaked


def draw_shares(lines: Any, *, title: str = "The rarest class in each fold") -> Any:
    """The share of the rarest class in each test part (circles) beside its share in all rows (bars), by data set.

    `lines` are those of `fold_lines`, of one or several data sets; the first repeat is drawn.

    >>> import pandas as pd
    >>> line = {"data set": ["iris"] * 2, "repeat": 1, "fold": [1, 2], "rarest class": "b", "share in test": [0.3, 0.4]}
    >>> draw_shares(pd.DataFrame({**line, "share in all": 0.35})).to_dict()["title"]["text"]
    'The rarest class in each fold'
    """
    import altair as alt

    columns = ["data set", "repeat", "fold", "rarest class", "share in test", "share in all"]
    frame = with_columns("lines", frame_of(lines), columns)
    frame = frame[frame["repeat"] == frame["repeat"].min()]
    order = list(dict.fromkeys(frame["data set"].astype(str)))
    names = dict(zip(columns, ("dataset", "repeat", "fold", "class", "share", "whole"), strict=True))
    rows = written(frame.rename(columns=names), names.values())
    most = max((row[name] or 0.0 for row in rows for name in ("share", "whole")), default=1.0)
    scale = alt.Scale(domain=[0, min(1.0, 1.12 * most or 1.0)], nice=False)
    y = alt.Y("dataset:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, grid=True, ticks=False, domain=False))
    hint = [alt.Tooltip(f"{name}:N") for name in ("dataset", "class", "fold")]
    hint += [alt.Tooltip("share:Q", format=".3f"), alt.Tooltip("whole:Q", title="share in all rows", format=".3f")]
    words = "Share of the rarest class"
    points = chart_of(rows).mark_point(size=60, opacity=0.8, color=PALETTE[0], strokeWidth=1.6)
    bars = chart_of(rows).mark_tick(color=GREY, thickness=2.5, size=20, opacity=1)
    layers = [
        bars.encode(alt.X("whole:Q", title=words, scale=scale), y, tooltip=hint),
        points.encode(alt.X("share:Q", title=words, scale=scale), y, tooltip=hint),
    ]
    told = titled(title, "Circles: test parts of the first repeat. Bars: all rows")
    return finished(alt.layer(*layers).properties(width=380, height=alt.Step(30, **{"for": "position"}), title=told))
