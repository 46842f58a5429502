"""Results of a study: scores, curves, robustness, times and the verdict, all derived from stored predictions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

from fairtrial._check import check_one_of
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.significance.verdict import Verdict
from fairtrial.study.archive import Archive
from fairtrial.study.results.curves import build_curves
from fairtrial.study.results.robustness import average_losses, compute_deteriorations, compute_losses
from fairtrial.study.results.scores import KEY_COLUMNS, ScoreCache, ScoreRequest
from fairtrial.study.results.selection import choose_condition, choose_dataset, choose_names, mask_condition, mask_failed
from fairtrial.study.results.summary import ResultSummary, collect_notes, summarise_times
from fairtrial.study.results.verdict import VerdictOptions, build_verdict
from fairtrial.study.store.store import open_store

if TYPE_CHECKING:
    import pandas as pd

Measures = str | Measure | Iterable[str | Measure] | None


def open_results(path: str | PathLike[str], study: str | None = None) -> Results:
    """The results of a store, of the study added last or of that name. The file may be written to meanwhile."""
    store = open_store(path)
    try:
        archive = store.open_archive(study)
    except BaseException:
        store.close()
        raise
    finalize(archive, store.close)
    return Results(archive)


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """What a study found. Everything is computed from the stored predictions when it is asked for, and kept for the next time.

    Any measure can be asked for after the fact: `results.scores("taks")`. Two-class measures take the second class in sorted
    order as the positive one, unless the study or `positive` (a class, or a mapping of data sets to classes) says otherwise.
    Frames are copies: changing one changes nothing here.
    """

    archive: Archive
    """The stored predictions and what they are about."""

    @cached_property
    def _score_cache(self) -> ScoreCache:
        return ScoreCache(self.archive)

    # What ran

    def trials(self) -> pd.DataFrame:
        """A line for each planned trial, run or not, with its status, times and what the condition did."""
        return self._score_cache.load_trials().copy()

    def failures(self) -> pd.DataFrame:
        """A line for each trial that failed."""
        trials = self._score_cache.load_trials()
        return trials[mask_failed(trials)][[*KEY_COLUMNS, "status", "error", "message"]].reset_index(drop=True)

    @property
    def missing(self) -> int:
        """How many planned trials have not run."""
        return int((self._score_cache.load_trials()["status"] == "missing").sum())

    @property
    def complete(self) -> bool:
        """Whether every planned trial has run, well or not."""
        return self.missing == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the numbers: what has not run, what failed, abstentions, warnings, times."""
        notes: tuple[str, ...] = self._score_cache.get_or_compute(
            "notes", lambda: collect_notes(self.archive, self._score_cache.load_trials())
        )
        return notes

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the study declares."""
        return self._score_cache.measures

    def times(self) -> pd.DataFrame:
        """Medians by data set and learner of trials that succeeded: seconds of wall-clock and CPU time, bytes of memory."""
        return summarise_times(self._score_cache.load_trials())

    # Scores

    def scores(
        self, measure: Measures = None, *, positive: object = None, average: Any = "auto", pooled: bool = False, **params: Any
    ) -> pd.DataFrame:
        """A line for each trial and measure: data set, condition, level, learner, repeat, fold, measure, value, status.

        `measure` is one or several, by default those of the study; `average` and `params` are the measure's own. With `pooled`
        the test rows of all folds of a repeat are scored as one (fold -1), for measures that need many rows; scores of
        different folds come from different fits, which such a pool takes as comparable. A trial that failed or has not run has
        no value and says so in `status`; if predictions cannot give the measure the value is NaN, and one warning says why.
        """
        requests = ScoreRequest.from_measures(self.measures if measure is None else measure, average, params)
        frame, undefined = self._score_cache.build_table(requests, positive, pooled)
        if undefined:
            warnings.warn(f"{undefined}; NaN is given", UndefinedMeasureWarning, stacklevel=2)
        return frame

    def frame(self) -> pd.DataFrame:
        """The scores of the study's own measures."""
        with _ignore_undefined():
            return self.scores()

    def wide(
        self, measure: str | Measure | None = None, condition: str | None = None, level: float | None = None, **options: Any
    ) -> pd.DataFrame:
        """Data sets by learners: means over repeats and folds under one condition, clean by default.

        Learners are compared on the same splits: one on which a learner has no value, having others on that data set, counts
        for none. A cell is NaN where a trial of the learner failed, where it has no value, or where no common split is left.
        """
        condition_facts = choose_condition(self.archive.conditions, condition, level)
        with _ignore_undefined():
            scores = self.scores(measure or self._score_cache.verdict_measure, **options)
        return self._score_cache.build_wide_table(scores[mask_condition(scores, condition_facts)])

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
        name = choose_dataset([facts.name for facts in self.archive.datasets], dataset)
        learners = choose_names("learner", [facts.name for facts in self.archive.learners], learner)
        condition_facts = choose_condition(self.archive.conditions, condition, level)
        trials = self._score_cache.load_trials()
        selected_trials = trials[
            (trials["dataset"] == name) & trials["learner"].isin(learners) & mask_condition(trials, condition_facts)
        ]
        order = self._score_cache.get_class_orders(positive)[[facts.name for facts in self.archive.datasets].index(name)]
        return build_curves(kind, self._score_cache.pool_repeat(selected_trials, repeat), order, learners)

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
        check_one_of("by", by, ("dataset", "all"))
        with _ignore_undefined():
            scores = self.scores(measure, **options)
        frame = compute_losses(self.archive, scores, get_measure(measure), condition, alpha)
        return frame if by == "dataset" else average_losses(frame, alpha)

    def deterioration(self, *, alpha: float = 0.05) -> pd.DataFrame:
        """What conditions that change the test part cost learners trained before: loss in error rate, and pD.

        pD needs the same learner trained on the change: declare the condition with part "test" and once more with part "all".
        See `fairtrial.measures.performance_deterioration`.
        """
        return compute_deteriorations(self.archive, self.scores("error_rate"), self._score_cache.load_trials(), alpha)

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
        request = ScoreRequest.from_measures(measure or self._score_cache.verdict_measure, average, params)[0]
        declared = self._score_cache.get_declared("verdict")
        if request.measure.name != get_measure(self._score_cache.verdict_measure).name:
            declared.pop("rope", None)  # it is in the units of the declared measure
        options = {"control": control, "alpha": alpha, "rope": rope, "failures": failures}
        given_options = {name: value for name, value in options.items() if value is not None}
        settings: dict[str, Any] = {name: value for name, value in {**declared, **given_options}.items() if name in options}
        verdict_options = VerdictOptions(choose_condition(self.archive.conditions, condition, level), **settings)
        with _ignore_undefined():
            scores = self.scores(request.measure, positive=positive, average=average, **params)
        return build_verdict(
            self.archive,
            scores,
            self._score_cache.load_trials(),
            request,
            self._score_cache.get_class_orders(positive),
            verdict_options,
        )

    def summary(self) -> ResultSummary:
        """What ran, the mean of each declared measure by learner and condition, what failed, and the verdict in words."""
        summary: ResultSummary = self._score_cache.get_or_compute("summary", lambda: ResultSummary.from_results(self))
        return summary

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return f"<Results of {ResultSummary.format_title(self)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _ignore_undefined() -> Any:
    """Without warnings of undefined measures: what follows says so itself."""
    return warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning)
