"""Our tables: the three of the tutorial beside ours, the averages, and the hypotheses under every variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.beside import beside
from fairtrial.reproduce.drift.declared import TABLES, TableName
from fairtrial.reproduce.drift.printed import contradictions, filled, printed, printed_averages
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.drift.findings import Findings

NAMES: dict[TableName, str] = {
    "populations": "Table I, populations drift",
    "missing": "Table II, groups of ages missing in training",
    "definitions": "Table III, the class is defined otherwise",
}
_KEYS = ["learner", "trained_on", "tested_on", "what"]
_FORM = "{:.2f}"
_KINDS = {"error": "error, %", "pd": "pD"}


def tables(found: Findings) -> tuple[Table, ...]:
    """All of them."""
    own = [
        Table(table, f"{NAMES[table]}: ours beside the tutorial's", compared(found, table), _note(table), digits=2)
        for table in TABLES
    ]
    return (
        Table("averages", "The averaged pD, ours beside the tutorial's", averages(found), _averages_note(), digits=2),
        Table("hypotheses", "Both hypotheses, under every variant", hypotheses(found), _HYPOTHESES, digits=2),
        *own,
        Table("trivial", "The trivial error of each environment, ours beside the tutorial's", trivial(found), digits=1),
    )


def compared(found: Findings, table: TableName) -> pd.DataFrame:
    """Error and pD of each learner under each change, beside the printed ones."""
    lines = printed()
    return beside(_long(found.cells(table), 100.0), _long(lines[lines["table"] == table], 1.0), _KEYS)


def _long(cells: pd.DataFrame, scale: float) -> pd.DataFrame:
    """A line for each cell and kind of number; the usual population itself has no pD and is left out."""
    import pandas as pd

    changed = cells[cells["trained_on"] != cells["tested_on"]]
    parts = []
    for kind, name in _KINDS.items():
        factor = scale if kind == "error" else 1.0
        own = changed[["learner", "trained_on", "tested_on"]].assign(what=name, value=changed[kind] * factor)
        for end in ("low", "high"):
            own[end] = changed[f"{kind}_{end}"] * factor if f"{kind}_{end}" in changed else float("nan")
        parts.append(own)
    return pd.concat(parts, ignore_index=True)


def averages(found: Findings) -> pd.DataFrame:
    """The averaged pD of each learner in each table."""
    import pandas as pd

    lines = [
        {"table": table, "learner": name, **vars(found.average(table, name))}
        for table in TABLES
        for name in found.plan.learners
    ]
    theirs = printed_averages()
    both = beside(pd.DataFrame(lines), theirs, ["table", "learner"])
    return both.assign(mean_of_printed_lines=both.merge(theirs, on=["table", "learner"], how="left")["from_lines"])


def hypotheses(found: Findings) -> pd.DataFrame:
    """A line for each variant, table and pair: what both lose in points, and how much more pD the simple one loses."""
    import pandas as pd

    lines = []
    for variant in ("", *found.plan.variants):
        for table in TABLES:
            for pair in found.plan.pairs:
                more, points = found.more(table, pair, variant), found.more_points(table, pair, variant)
                lines.append(
                    {"variant": variant or "main", "table": table, "simple": pair[0], "complex": pair[1]}
                    | {
                        f"{which} loses": found.lost(table, name, variant).told(_FORM)
                        for which, name in zip(("simple", "complex"), pair, strict=True)
                    }
                    | {"pD, simple minus complex": more.told(_FORM), "points, simple minus complex": points.told(_FORM)}
                    | {"the simple one loses": {1: "more", 0: "not told apart", -1: "less"}[more.sign]}
                )
    return pd.DataFrame(lines)


def trivial(found: Findings) -> pd.DataFrame:
    """Trivial errors in per cent; they and the best errors were what the simulated domain was built to come near."""
    import pandas as pd

    ours = pd.concat([found.cells(table) for table in TABLES]).groupby("tested_on", sort=False)["trivial"].mean() * 100
    theirs = printed().groupby("tested_on", sort=False)["trivial"].first()
    both = beside(ours.rename("value").reset_index(), theirs.rename("value").reset_index(), ["tested_on"], interval=False)
    return both.rename(columns={"tested_on": "environment"})


def _note(table: TableName) -> str:
    told = (
        "Errors in per cent of the learner trained on one environment and tested on the other; pD from the mean errors. "
        "`low` and `high` are the 95 % interval of the difference over our replicates; the printed number counts as fixed."
    )
    extra = {
        "populations": "",
        "missing": " In the text at hand the names of the lines stand one line below their numbers: numbers are read in order.",
        "definitions": (
            " MC is not comparable: the printed trivial error, 28.4 %, cannot belong to the same patients with more "
            "complications, and ours is larger."
        ),
    }
    return told + extra[table] + _holes(table)


def _holes(table: TableName) -> str:
    """The printed pD that are shown as a dash, and those that are not what their errors give."""
    lines = printed()
    off = contradictions(lines[lines["table"] == table])
    told = f" The printed pD cannot be read, and is a dash, for {'; '.join(filled(table))}: in brackets what its printed "
    told = f"{told}errors give." if filled(table) else ""
    return told + (f" A printed pD contradicts the printed errors of its line: {'; '.join(off)}." if off else "")


def _averages_note() -> str:
    return (
        "`ours` is averaged over all changes of the table where pD is defined, `low` to `high` is the 95 % interval of the "
        "difference; `mean_of_printed_lines` is the mean of the tutorial's own pD in the tables below, which its printed "
        "average should be. A pD that cannot be read, a dash there, is not left out of that mean but follows from the printed "
        f"errors of its line: {'; '.join(filled())}. A pD that contradicts its errors counts as printed."
    )


_HYPOTHESES = (
    "Losses are the error minus that of the same learner trained there, in points, averaged over the changes of the table, "
    "with 95 % intervals over replicates (jackknife). The last column judges the second hypothesis by pD."
)
