"""Results of a study: scores, curves, robustness, times and the verdict, all derived from the evidence that was kept."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from fairtrial._check import one_of
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.measures.measure import Measure, get_measure
from fairtrial.significance.verdict import Verdict
from fairtrial.study.archive import Archive
from fairtrial.study.results.choosing import chosen_condition, chosen_data_set, chosen_names, under
from fairtrial.study.results.failure_policy import failed
from fairtrial.study.results.result_summary import ResultSummary, summarise, title_of
from fairtrial.study.results.score_book import ScoreBook, wide_table
from fairtrial.study.results.score_lines import PLACE
from fairtrial.study.results.scoring import asked

if TYPE_CHECKING:
    import pandas as pd

Measures = str | Measure | Iterable[str | Measure] | None


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """What a study found. Everything is computed from the stored evidence when it is asked for, and kept for the next time.

    Any measure can be asked for after the fact: `results.scores("taks")`. Two-class measures take the second class in sorted
    order as the positive one, unless the study or `positive` (a class, or a mapping of data sets to classes) says otherwise.
    Frames are copies: changing one changes nothing here.
    """

    archive: Archive
    _book: ScoreBook = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_book", ScoreBook(self.archive))

    # What ran

    def trials(self) -> pd.DataFrame:
        """A line for each planned trial, run or not, with its status, times and what the condition did."""
        return self._book.trials().copy()

    def failures(self) -> pd.DataFrame:
        """A line for each trial that failed."""
        trials = self._book.trials()
        return trials[failed(trials)][[*PLACE, "status", "error", "message"]].reset_index(drop=True)

    @property
    def missing(self) -> int:
        """How many planned trials have not run."""
        return int((self._book.trials()["status"] == "missing").sum())

    @property
    def complete(self) -> bool:
        """Whether every planned trial has run, well or not."""
        return self.missing == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the numbers: what has not run, what failed, abstentions, warnings, times."""
        from fairtrial.study.results.result_notes import notes_of

        found: tuple[str, ...] = self._book.once("notes", lambda: notes_of(self._book.trials()))
        return found

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the study declares."""
        return self._book.measures

    def times(self) -> pd.DataFrame:
        """Medians by data set and learner of trials that succeeded: seconds of wall-clock and CPU time, bytes of memory."""
        from fairtrial.study.results.trial_times import times_of

        return times_of(self._book.trials())

    # Scores

    def scores(
        self, measure: Measures = None, *, positive: object = None, average: Any = "auto", pooled: bool = False, **params: Any
    ) -> pd.DataFrame:
        """A line for each trial and measure: data set, condition, level, learner, repeat, fold, measure, value, status.

        `measure` is one or several, by default those of the study; `average` and `params` are the measure's own. With `pooled`
        the test rows of all folds of a repeat are scored as one (fold -1), for measures that need many rows; scores of
        different folds come from different fits, which such a pool takes as comparable. A trial that failed or has not run has
        no value and says so in `status`; where evidence cannot give the measure the value is NaN, and one warning says why.
        """
        wanted = asked(self.measures if measure is None else measure, average, params)
        frame, told = self._book.table(wanted, positive, pooled)
        if told:
            warnings.warn(f"{told}; NaN is given", UndefinedMeasureWarning, stacklevel=2)
        return frame

    def frame(self) -> pd.DataFrame:
        """The scores of the study's own measures."""
        with _quiet():
            return self.scores()

    def wide(
        self, measure: str | Measure | None = None, condition: str | None = None, level: float | None = None, **options: Any
    ) -> pd.DataFrame:
        """Data sets by learners: means over repeats and folds under one condition, clean by default.

        Learners are compared on the same splits: one on which a learner has no value, having others on that data set, counts
        for none. A cell is NaN where a trial of the learner failed, where it has no value, or where no common split is left.
        """
        wanted = chosen_condition(self.archive.conditions, condition, level)
        with _quiet():
            scores = self.scores(measure or self._book.judged, **options)
        return wide_table(self.archive, scores[under(scores, wanted)])

    def curves(
        self,
        kind: str = "roc",
        *,
        dataset: str | None = None,
        condition: str | None = None,
        level: float | None = None,
        learner: str | Iterable[str] | None = None,
        positive: object = None,
        repeat: int | None = None,
    ) -> pd.DataFrame:
        """Curves of one data set, one below the other, with a column for the learner.

        `kind`: roc, roc-hull, precision-recall, gain, tpr-fpr, cost, cost-lines, brier or calibration. A curve is that of the
        test rows of all folds of one repeat (the first by default), pooled as if one model had scored them all. With more than
        two classes `positive` names the one that stands against the rest.
        """
        from fairtrial.study.results.curve_tables import curves_of, pooled_repeat

        name = chosen_data_set([each.name for each in self.archive.datasets], dataset)
        learners = chosen_names("learner", [each.name for each in self.archive.learners], learner)
        wanted = chosen_condition(self.archive.conditions, condition, level)
        trials = self._book.trials()
        own = trials[(trials["dataset"] == name) & trials["learner"].isin(learners) & under(trials, wanted)]
        order = self._book.orders(positive)[[each.name for each in self.archive.datasets].index(name)]
        return curves_of(kind, pooled_repeat(self.archive, own, repeat), order, learners)

    # Judgements

    def robustness(
        self,
        condition: str | None = None,
        measure: str | Measure = "accuracy",
        *,
        by: Literal["dataset", "all"] = "dataset",
        alpha: float = 0.05,
        **options: Any,
    ) -> pd.DataFrame:
        """Relative and equalized loss of accuracy (RLA, ELA) of each learner under each level of the conditions.

        By data set: of the mean scores over the splits that have both trials; intervals by the delta method, the variance over
        splits corrected for the overlap of their training rows (Nadeau & Bengio 2003). They speak of this data set alone. With
        `by="all"`: means with Student's interval over the data sets on which all learners have a value, `datasets` of them.
        """
        from fairtrial.study.results.robust import losses, over_data_sets

        one_of("by", by, ("dataset", "all"))
        with _quiet():
            scores = self.scores(measure, **options)
        frame = losses(self.archive, scores, get_measure(measure), condition, alpha)
        return frame if by == "dataset" else over_data_sets(frame, alpha)

    def deterioration(self, *, alpha: float = 0.05) -> pd.DataFrame:
        """What conditions that change the test part cost learners trained before: loss in error rate, and pD.

        pD needs the same learner trained on the change: declare the condition with part "test" and once more with part "all".
        See `fairtrial.measures.performance_deterioration`.
        """
        from fairtrial.study.results.drift_loss import deteriorations

        return deteriorations(self.archive, self.scores("error_rate"), self._book.trials(), alpha)

    def verdict(
        self,
        measure: str | Measure | None = None,
        *,
        condition: str | None = None,
        level: float | None = None,
        control: str | None = None,
        alpha: float | None = None,
        rope: float | None = None,
        failures: str | None = None,
        positive: object = None,
        average: Any = "auto",
        **params: Any,
    ) -> Verdict:
        """The statistical judgement on one measure under one condition, clean by default: see `significance.advise`.

        What is left out is taken from the study's declaration. `failures` says what becomes of failed trials: "exclude" leaves
        out learners that never succeeded, then data sets on which another failed; "worst-rank" gives the worst rank there (with
        one data set: on that split), "trivial" the score of the trivial classifier. The verdict's words say what was done.
        """
        from fairtrial.study.results.verdicts import Wish, judge

        one = asked(measure or self._book.judged, average, params)[0]
        declared = self._book.declared("verdict")
        if one.measure.name != get_measure(self._book.judged).name:
            declared.pop("rope", None)  # it is in the units of the declared measure
        given = {"control": control, "alpha": alpha, "rope": rope, "failures": failures}
        said = {name: value for name, value in given.items() if value is not None}
        settings: dict[str, Any] = {name: value for name, value in {**declared, **said}.items() if name in given}
        wish = Wish(chosen_condition(self.archive.conditions, condition, level), **settings)
        with _quiet():
            scores = self.scores(one.measure, positive=positive, average=average, **params)
        return judge(self.archive, scores, self._book.trials(), one, self._book.orders(positive), wish)

    def summary(self) -> ResultSummary:
        """What ran, the mean of each declared measure by learner and condition, what failed, and the verdict in words."""
        found: ResultSummary = self._book.once("summary", lambda: summarise(self))
        return found

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return f"<Results of {title_of(self)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _quiet() -> Any:
    """Without warnings of undefined measures: what follows says so itself."""
    return warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning)


def open_results(path: str | PathLike[str], study: str | None = None) -> Results:
    """The results of a store, of the study added last or of that name. The file may be written to meanwhile."""
    from weakref import finalize

    from fairtrial.study.store.store import Store

    store = Store.open(path)
    try:
        archive = store.archive(study)
    except BaseException:
        store.close()
        raise
    finalize(archive, store.close)
    return Results(archive)
