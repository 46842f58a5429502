"""Scores of a study, each computed once: one reading of the evidence for all measures that are asked for together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.study.archive import Archive
from fairtrial.study.results.class_order import ClassOrder, class_orders
from fairtrial.study.results.score_lines import PLACE, Lines
from fairtrial.study.results.scoring import Asked, undefined_words
from fairtrial.study.results.shared_splits import shared_means

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = ("accuracy", "auc")


@dataclass(frozen=True, eq=False)
class ScoreBook:
    """An archive with what was computed from it. What it hands out is its own: whoever passes it on makes a copy."""

    archive: Archive
    kept: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What was computed under this key, or is now."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def trials(self) -> pd.DataFrame:
        """A line for each planned trial."""
        found: pd.DataFrame = self.once("trials", lambda: self.archive.trials().reset_index(drop=True))
        return found

    def declared(self, section: str) -> dict[str, Any]:
        """A section of the declaration without what it leaves open."""
        found = self.archive.declaration.get(section)
        return {name: value for name, value in found.items() if value is not None} if isinstance(found, Mapping) else {}

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the study declares."""
        return tuple(self.archive.declaration.get("measures") or _MEASURES)

    @property
    def judged(self) -> str:
        """The measure that the study is judged by."""
        return str(self.declared("verdict").get("measure") or self.measures[0])

    def orders(self, positive: object) -> tuple[ClassOrder, ...]:
        """The classes of each data set in order; positive ones as asked for, else as declared, else by convention."""
        data = self.declared("data")
        told = {name: each.get("positive") for name, each in data.items() if isinstance(each, Mapping)}
        known = {each.name: told[each.name] for each in self.archive.datasets if told.get(each.name) in each.classes}
        return class_orders(self.archive.datasets, positive, known)

    def table(self, wanted: Sequence[Asked], positive: object, pooled: bool) -> tuple[pd.DataFrame, str]:
        """A line for each trial (or repeat) and measure, and what is to be said of those without a value."""
        import pandas as pd

        frame = self._lines(pooled).frame
        found = self._values(wanted, self.orders(positive), pooled)
        parts = [
            frame[PLACE].assign(measure=one.measure.name, value=values, status=frame["status"])
            for one, (values, _) in zip(wanted, found, strict=True)
        ]
        learners = frame["learner"].to_numpy()
        told = [undefined_words(one, reasons, learners) for one, (_, reasons) in zip(wanted, found, strict=True)]
        return pd.concat(parts, ignore_index=True), "; ".join(each for each in told if each)

    def _lines(self, pooled: bool) -> Lines:
        found: Lines = self.once(("lines", pooled), lambda: (Lines.pooled if pooled else Lines.single)(self.trials()))
        return found

    def _values(
        self, wanted: Sequence[Asked], orders: tuple[ClassOrder, ...], pooled: bool
    ) -> list[tuple[FloatArray, FloatArray]]:
        keys = [(one.key, orders, pooled) for one in wanted]
        new = [place for place, key in enumerate(keys) if key[0] is None or key not in self.kept]
        found: dict[int, Any] = {}
        if new:
            computed = self._lines(pooled).values(self.archive, orders, [wanted[place] for place in new])
            found = {place: pair for place, *pair in zip(new, *computed, strict=True)}
            self.kept.update({keys[place]: pair for place, pair in found.items() if keys[place][0] is not None})
        return [found[place] if place in found else self.kept[key] for place, key in enumerate(keys)]


def wide_table(archive: Archive, scores: pd.DataFrame) -> pd.DataFrame:
    """Data sets by learners: means of scores of one condition over the splits that learners share, NaN where a trial failed."""
    import pandas as pd

    names = scores["measure"].unique()
    if len(names) > 1:
        raise InputError(f"measure must be a single one for a wide table, got {', '.join(names)}: name one of them")
    datasets, learners = ([each.name for each in those] for those in (archive.datasets, archive.learners))
    means = shared_means(scores).reindex(index=datasets, columns=learners)
    return means.set_axis(pd.Index(datasets, name="dataset"), axis=0).set_axis(pd.Index(learners), axis=1)
