"""Results of a study, computed from the stored trials: scores, robustness and the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

from fairtrial._check import check_between, check_one_of
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.measures import Measure, get_measure
from fairtrial.significance.verdict import Verdict
from fairtrial.study.archive import Archive
from fairtrial.study.results.curves import build_curves
from fairtrial.study.results.generalisation import compute_corrected_t, compute_generalisation
from fairtrial.study.results.learning_curve import average_learning_curve, compute_learning_curve
from fairtrial.study.results.robustness import average_losses, compute_deteriorations, compute_losses
from fairtrial.study.results.schemes import compare_schemes
from fairtrial.study.results.scores import KEY_COLUMNS, ScoreCache, ScoreRequest
from fairtrial.study.results.selection import (
    choose_condition,
    choose_dataset,
    choose_names,
    get_declared_splitters,
    mask_condition,
    mask_failed,
)
from fairtrial.study.results.summary import ResultSummary, collect_findings, summarise_times
from fairtrial.study.results.tuning import list_choices
from fairtrial.study.results.verdict import VerdictOptions, build_verdict
from fairtrial.study.store.store import open_store

if TYPE_CHECKING:
    import pandas as pd

Measures = str | Measure | Iterable[str | Measure] | None


def open_results(path: str | PathLike[str], study: str | None = None) -> Results:
    """Open the results of a study, even while a run is writing to the file.

    Parameters
    ----------
    path : path
        Results file (`*.fairtrial`), written by `Study.run` or `fairtrial run`.
    study : str, optional
        Name of the study, if the file contains several studies. Default: the study that was added last.

    Returns
    -------
    Results

    Raises
    ------
    StoreError
        If the file is missing, is corrupted, is not a results file, or contains no study.
    InputError
        If the file contains no study of this name.

    Examples
    --------
    >>> import tempfile, fairtrial
    >>> study = fairtrial.Study(["iris"], ["decision-tree", "gaussian-nb"], resampling={"folds": 2}, name="example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/example.fairtrial"
    ...     _ = study.run(path, jobs=1, progress=False)
    ...     results = open_results(path)
    ...     results.complete, len(results.trials())
    (True, 4)
    """
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
    """The results of a study, computed from the stored predictions on request.

    `open_results` and `Study.run` return `Results`. Any measure can be computed later, for example with
    `results.scores("taks")`. By default, two-class measures use the second class in sorted order as the positive class. To use
    another class, declare it in the study, or pass `positive`: a class, or a mapping of data sets to classes. Returned tables
    are copies, and computed scores are cached.

    Parameters
    ----------
    archive : Archive
        The stored trials and predictions of the study.

    Examples
    --------
    >>> import tempfile, fairtrial
    >>> study = fairtrial.Study(["iris", "wine"], ["decision-tree", "gaussian-nb"], resampling={"folds": 2}, name="example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = study.run(f"{folder}/example.fairtrial", jobs=1, progress=False)
    ...     table = results.wide("accuracy")
    ...     verdict = results.verdict("accuracy")
    >>> table.shape, verdict.choice
    ((2, 2), 'wilcoxon')
    """

    archive: Archive

    @cached_property
    def _score_cache(self) -> ScoreCache:
        return ScoreCache(self.archive)

    # Resampling schemes

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names of the resampling schemes of the study."""
        return self.archive.schemes

    def for_resampling(self, resampling: str | None = None) -> Results:
        """Return the results of one resampling scheme.

        Parameters
        ----------
        resampling : str, optional
            Name of the scheme. Default: the first scheme.

        Returns
        -------
        Results
        """
        name = self.schemes[0] if resampling is None else resampling
        choose_names("resampling", self.schemes, name)
        if len(self.schemes) == 1:
            return self
        results: Results = self._score_cache.get_or_compute(
            ("resampling", name), lambda: Results(self.archive.select_scheme(name))
        )
        return results

    def compare_resampling(
        self,
        measure: str | Measure | None = None,
        *,
        condition: str | None = None,
        level: float | None = None,
        alpha: float = 0.05,
        **options: Any,
    ) -> pd.DataFrame:
        """Compare the resampling schemes for each learner by Wilcoxon tests over data sets.

        Parameters
        ----------
        measure : str or Measure, optional
            Default: the measure of the study's verdict.
        condition : str, optional
            Name of the condition. Default: clean data.
        level : float, optional
            Level of the condition, if it has several levels.
        alpha : float, default 0.05
            Significance level, and one minus the confidence level.
        **options
            Passed to `scores`.

        Returns
        -------
        pandas.DataFrame
            One row per learner and pair of schemes. `mean_first` and `mean_second` are mean scores over data sets, and
            `difference` is their difference. `p_adjusted` is adjusted by Holm's method over all rows. `effect` is the
            rank-biserial correlation, with the confidence limits `low` and `high`. `datasets` is the number of data sets.
            `outcome` reports whether the schemes differ significantly.

        Raises
        ------
        InputError
            If the study has a single scheme.
        """
        options |= {"condition": condition, "level": level}
        return compare_schemes({name: self.for_resampling(name).wide(measure, **options) for name in self.schemes}, alpha)

    # Trials

    def trials(self) -> pd.DataFrame:
        """Return a table with one row per planned trial: status, times, memory and abstentions.

        Returns
        -------
        pandas.DataFrame
            Trials that have not run have the status `missing`. `realised_level`, `changed`, `test_level` and `test_changed`
            describe how the condition changed the training set and the test set.
        """
        return self._score_cache.load_trials().copy()

    def scored_trials(self) -> pd.DataFrame:
        """Return the trials from which scores are computed.

        Returns
        -------
        pandas.DataFrame
            The table has the same columns as `trials()`. Trials on the inner splits of `nested-cv` and on the halves of the
            data in `conservative-z` are left out, because only `generalisation` uses them.
        """
        return self._score_cache.load_scored_trials().copy()

    def failures(self) -> pd.DataFrame:
        """Return a table with one row per failed trial, with its status and error message."""
        trials = self._score_cache.load_trials()
        return trials[mask_failed(trials)][[*KEY_COLUMNS, "status", "error", "message"]].reset_index(drop=True)

    @property
    def missing(self) -> int:
        """Number of planned trials that have not run."""
        return int((self._score_cache.load_trials()["status"] == "missing").sum())

    @property
    def complete(self) -> bool:
        """Whether every planned trial has run. Failed trials count as run."""
        return self.missing == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that help to interpret the scores.

        For example, they report failed trials, abstentions and slow fits.
        """
        return render_all(self.findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings that help to interpret the scores.

        The property `notes` contains the same findings as text.
        """
        findings: tuple[Finding, ...] = self._score_cache.get_or_compute(
            "findings", lambda: collect_findings(self.archive, self._score_cache.load_trials())
        )
        return findings

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that the study declares."""
        return self._score_cache.measures

    @property
    def verdict_measure(self) -> str:
        """Name of the measure on which the verdict is based."""
        return str(self._score_cache.verdict_measure)

    def times(self) -> pd.DataFrame:
        """Compute the median times and memory of successful trials by data set and learner.

        Returns
        -------
        pandas.DataFrame
            Wall-clock and CPU seconds for fitting and predicting, and memory in bytes.
        """
        return summarise_times(self._score_cache.load_trials())

    def tuning(self) -> pd.DataFrame:
        """Return the parameters that tuned learners chose, with one row per trial and parameter.

        Returns
        -------
        pandas.DataFrame
            `score` is the mean score of the chosen combination of parameters on the inner splits. `tried` is the number of
            combinations that were tried. The table is empty if no learner is tuned.
        """
        return list_choices(self._score_cache.load_trials())

    # Scores

    def scores(
        self,
        measure: Measures = None,
        *,
        positive: object = None,
        average: Any = "auto",
        pooled: bool = False,
        **params: Any,
    ) -> pd.DataFrame:
        """Compute the scores of all trials.

        Parameters
        ----------
        measure : str, Measure or list of them, optional
            Measures to compute. Default: the measures of the study.
        positive : class label or mapping, optional
            Positive class of two-class measures, or a mapping of data sets to classes.
        average : str, default "auto"
            How the measure averages over classes.
        pooled : bool, default False
            Compute one value per repeat, from the test rows of all its folds. The table shows this value as fold -1. Pooling
            helps with measures that need many rows. It assumes that predicted scores are comparable across folds, although
            each fold has its own fitted model.
        **params
            Parameters of the measure.

        Returns
        -------
        pandas.DataFrame
            One row per trial and measure. The columns are dataset, condition, level, resampling, learner, repeat, fold,
            measure, value and status. The value is NaN if the trial failed or has not run, or if the measure is undefined. A
            warning reports undefined values.
        """
        requests = ScoreRequest.from_measures(self.measures if measure is None else measure, average, params)
        frame, undefined = self._score_cache.build_table(requests, positive, pooled)
        if undefined:
            warnings.warn(UndefinedMeasureWarning(" ".join(render_all(undefined)), undefined), stacklevel=2)
        return frame

    def pack_scores(self) -> dict[str, bytes]:
        """Pack the scores of each declared measure for storage in the results file."""
        parts = [self, *(self.for_resampling(name) for name in self.schemes)] if len(self.schemes) > 1 else [self]
        return {name: packed for part in parts for name, packed in part._score_cache.pack_scores().items()}

    def frame(self) -> pd.DataFrame:
        """Return the scores for the measures that the study declares."""
        with _ignore_undefined():
            return self.scores()

    def wide(
        self,
        measure: str | Measure | None = None,
        condition: str | None = None,
        level: float | None = None,
        *,
        resampling: str | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Compute mean scores under one condition: one row per data set, one column per learner.

        The scores of all learners are averaged over the same splits. A split is left out if a learner has no value on it.
        Learners without any value on the data set are ignored in this step. A mean is NaN if any trial of the learner on the
        data set failed, or if no common split remains.

        Parameters
        ----------
        measure : str or Measure, optional
            Default: the measure of the study's verdict.
        condition : str, optional
            Name of the condition. Default: clean data.
        level : float, optional
            Level of the condition, if it has several levels.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.
        **options
            Passed to `scores`.

        Returns
        -------
        pandas.DataFrame
        """
        if len(self.schemes) > 1:
            return self.for_resampling(resampling).wide(measure, condition, level, **options)
        choose_names("resampling", self.schemes, resampling)
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
        resampling: str | None = None,
    ) -> pd.DataFrame:
        """Compute curves of the learners on one data set.

        Each curve pools the test rows of all folds of one repeat, as if a single model had scored them.

        Parameters
        ----------
        kind : str, default "roc"
            Kind of curve: roc, roc-hull, precision-recall, gain, tpr-fpr, cost, cost-lines, brier or calibration.
        dataset : str, optional
            Name of the data set. The name can be omitted if the study has only one data set.
        condition : str, optional
            Name of the condition. Default: clean data.
        level : float, optional
            Level of the condition, if it has several levels.
        learner : str or list of str, optional
            Default: all learners.
        positive : class label, optional
            Positive class. All other classes count as negative.
        repeat : int, optional
            Default: the first repeat.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.

        Returns
        -------
        pandas.DataFrame
            The points of all curves, with a column for the learner.
        """
        if len(self.schemes) > 1:
            selection: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner}
            return self.for_resampling(resampling).curves(kind, positive=positive, repeat=repeat, **selection)
        choose_names("resampling", self.schemes, resampling)
        name = choose_dataset([facts.name for facts in self.archive.datasets], dataset)
        learners = choose_names("learner", [facts.name for facts in self.archive.learners], learner)
        condition_facts = choose_condition(self.archive.conditions, condition, level)
        trials = self._score_cache.load_scored_trials()
        selected_trials = trials[
            (trials["dataset"] == name) & trials["learner"].isin(learners) & mask_condition(trials, condition_facts)
        ]
        order = self._score_cache.get_class_orders(positive)[[facts.name for facts in self.archive.datasets].index(name)]
        return build_curves(kind, self._score_cache.pool_repeat(selected_trials, repeat), order, learners)

    # Robustness and verdict

    def robustness(
        self,
        condition: str | None = None,
        measure: str | Measure = "accuracy",
        *,
        by: Literal["dataset", "all"] = "dataset",
        alpha: float = 0.05,
        resampling: str | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Compute the relative loss and the equalized loss of accuracy (RLA, ELA) by condition.

        Parameters
        ----------
        condition : str, optional
            Name of a condition. Default: all conditions except clean data and training sizes.
        measure : str or Measure, default "accuracy"
            Measure from which the losses are computed. Its range must be from 0 (worst) to 1 (best).
        by : {"dataset", "all"}, default "dataset"
            "dataset": losses on each data set, from the splits on which all learners have a value for both clean and noisy
            data. The delta-method intervals refer to this data set and account for overlapping training sets (Nadeau & Bengio
            2003).
            "all": means over the data sets on which all learners have a value, with t intervals.
        alpha : float, default 0.05
            One minus the confidence level.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.
        **options
            Passed to `scores`.

        Returns
        -------
        pandas.DataFrame
        """
        if len(self.schemes) > 1:
            return self.for_resampling(resampling).robustness(condition, measure, by=by, alpha=alpha, **options)
        choose_names("resampling", self.schemes, resampling)
        check_one_of("by", by, ("dataset", "all"))
        with _ignore_undefined():
            scores = self.scores(measure, **options)
        frame = compute_losses(self.archive, scores, get_measure(measure), condition, alpha)
        return frame if by == "dataset" else average_losses(frame, alpha)

    def learning_curve(
        self,
        measure: str | Measure | None = None,
        *,
        by: Literal["dataset", "all"] = "dataset",
        alpha: float = 0.05,
        resampling: str | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Compute the mean scores of each learner by training size (condition `train-size`).

        Parameters
        ----------
        measure : str or Measure, optional
            Default: the measure of the study's verdict.
        by : {"dataset", "all"}, default "dataset"
            "dataset": means over the splits that all learners share, with t intervals corrected for overlapping training sets
            (Nadeau & Bengio 2003). "all": means over data sets, with t intervals.
        alpha : float, default 0.05
            One minus the confidence level.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.
        **options
            Passed to `scores`.

        Returns
        -------
        pandas.DataFrame
            `size` is the declared training size (1 for clean data), and `rows` is the mean number of training rows.

        Raises
        ------
        InputError
            If the study declares no training sizes.
        """
        check_one_of("by", by, ("dataset", "all"))
        selected = self.for_resampling(resampling)
        request = get_measure(measure or self._score_cache.verdict_measure)
        with _ignore_undefined():
            scores = selected.scores(request, **options)
        trials = selected._score_cache.load_scored_trials()
        frame = compute_learning_curve(selected.archive, scores, trials, request, alpha)
        return frame if by == "dataset" else average_learning_curve(frame, request, alpha)

    def generalisation(
        self,
        measure: str | Measure | None = None,
        *,
        condition: str | None = None,
        level: float | None = None,
        alpha: float = 0.05,
        resampling: str | None = None,
        positive: object = None,
        average: Any = "auto",
        **params: Any,
    ) -> pd.DataFrame:
        """Compute intervals for the generalisation error by data set and learner.

        The schemes `nested-cv` (Bates, Hastie & Tibshirani 2024) and `conservative-z` (Nadeau & Bengio 2003) each have their
        own interval. For all other schemes, the interval is the corrected resampled t interval for the mean over splits
        (Nadeau & Bengio 2003). With `nested-cv`, the estimate refers to training sets as large as the whole data set. With the
        other methods, the estimate refers to the smaller training sets of the splits.

        Parameters
        ----------
        measure : str or Measure, optional
            Default: the measure of the study's verdict. `nested-cv` needs a mean over rows, such as the error rate.
        condition : str, optional
            Name of the condition. Default: clean data.
        level : float, optional
            Level of the condition, if it has several levels.
        alpha : float, default 0.05
            One minus the confidence level.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.
        positive : class label or mapping, optional
            Positive class of two-class measures, or a mapping of data sets to classes.
        average : str, default "auto"
            How the measure averages over classes.
        **params
            Parameters of the measure.

        Returns
        -------
        pandas.DataFrame
            One row per data set and learner: estimate, confidence limits, standard error, number of splits and method. The
            column `note` reports undefined values, failed trials and missing trials. In these cases, the estimate can be NaN.

        Raises
        ------
        InputError
            If the scheme is `nested-cv` and the measure is not a mean over rows.

        Examples
        --------
        >>> import tempfile, fairtrial
        >>> scheme = {"scheme": "nested-cv", "folds": 3, "repeats": 2}
        >>> study = fairtrial.Study(["iris"], ["gaussian-nb"], resampling=scheme, name="example")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     results = study.run(f"{folder}/example.fairtrial", jobs=1, progress=False)
        ...     table = results.generalisation("error_rate")
        >>> table[["dataset", "learner", "splits", "method"]].to_dict("records")
        [{'dataset': 'iris', 'learner': 'gaussian-nb', 'splits': 18, 'method': 'nested cross-validation'}]
        """
        check_between("alpha", alpha, 0, 1)
        selected = self.for_resampling(resampling)
        cache, archive = selected._score_cache, selected.archive
        request = ScoreRequest.from_measures(measure or cache.verdict_measure, average, params)[0]
        facts = choose_condition(archive.conditions, condition, level)
        splitters = get_declared_splitters(archive)
        if not splitters:
            with _ignore_undefined():
                scores = selected.scores(request.measure, positive=positive, average=average, **params)
            return compute_corrected_t(archive, scores[mask_condition(scores, facts)], request.measure, alpha)
        trials, splitter = cache.load_trials(), next(iter(splitters.values()))
        orders = cache.get_class_orders(positive)
        return compute_generalisation(archive, trials[mask_condition(trials, facts)], splitter, request, orders, alpha)

    def deterioration(self, *, alpha: float = 0.05, resampling: str | None = None) -> pd.DataFrame:
        """Compute the increase in error rate under conditions that change only the test set.

        The performance deterioration (pD) compares the learner with the same learner trained under the condition. To compute
        pD, declare the condition twice, with `part = "test"` and with `part = "all"`. See
        `fairtrial.measures.performance_deterioration`.

        Parameters
        ----------
        alpha : float, default 0.05
            One minus the confidence level.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.

        Returns
        -------
        pandas.DataFrame
            Increase in error rate (`loss`) with its interval, and performance deterioration (`pd`).
        """
        if len(self.schemes) > 1:
            return self.for_resampling(resampling).deterioration(alpha=alpha)
        choose_names("resampling", self.schemes, resampling)
        return compute_deteriorations(self.archive, self.scores("error_rate"), self._score_cache.load_scored_trials(), alpha)

    def verdict(
        self,
        measure: str | Measure | None = None,
        *,
        condition: str | None = None,
        level: float | None = None,
        resampling: str | None = None,
        control: str | None = None,
        alpha: float | None = None,
        rope: float | None = None,
        failures: str | None = None,
        positive: object = None,
        average: Any = "auto",
        **params: Any,
    ) -> Verdict:
        """Compare the learners on one measure under one condition, as `fairtrial.compare` does.

        Parameters
        ----------
        measure : str or Measure, optional
            Default: the measure of the study's verdict.
        condition : str, optional
            Name of the condition. Default: clean data.
        level : float, optional
            Level of the condition, if it has several levels.
        resampling : str, optional
            Resampling scheme. Default: the first scheme.
        control : str, optional
            Learner with which all others are compared. Default: the control that the study declares. If the study declares no
            control, all pairs are compared.
        alpha : float, optional
            Significance level. Default: as declared by the study, otherwise 0.05.
        rope : float, optional
            Half-width of the region of practical equivalence. Default: as declared by the study, if `measure` is the measure
            of the study's verdict.
        failures : {"exclude", "worst-rank", "trivial"}, optional
            "exclude" leaves out learners that never succeeded, then data sets on which any other learner failed. "worst-rank"
            gives a learner the worst rank on each data set on which it failed. With a single data set, this rule applies to
            each split on which the learner failed. "trivial" gives a failed trial the score of the trivial classifier. Default:
            as declared by the study, otherwise "exclude".
        positive : class label or mapping, optional
            Positive class of two-class measures, or a mapping of data sets to classes.
        average : str, default "auto"
            How the measure averages over classes.
        **params
            Parameters of the measure.

        Returns
        -------
        Verdict
        """
        request = ScoreRequest.from_measures(measure or self._score_cache.verdict_measure, average, params)[0]
        declared = self._score_cache.get_declared("verdict")
        if request.measure.name != get_measure(self._score_cache.verdict_measure).name:
            declared.pop("rope", None)  # the ROPE is in the units of the declared measure
        options = {"control": control, "alpha": alpha, "rope": rope, "failures": failures}
        given_options: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if len(self.schemes) > 1:
            selection: dict[str, Any] = {"condition": condition, "level": level, "positive": positive, "average": average}
            selected = self.for_resampling(resampling)
            verdict = selected.verdict(measure, **selection, **given_options, **params)
            return replace(verdict, reasons=(Finding.of("resampling", scheme=selected.schemes[0]), *verdict.reasons))
        choose_names("resampling", self.schemes, resampling)
        settings: dict[str, Any] = {name: value for name, value in {**declared, **given_options}.items() if name in options}
        verdict_options = VerdictOptions(choose_condition(self.archive.conditions, condition, level), **settings)
        orders = self._score_cache.get_class_orders(positive)

        def compute() -> Verdict:
            with _ignore_undefined():
                scores = self.scores(request.measure, positive=positive, average=average, **params)
            trials = self._score_cache.load_scored_trials()
            return build_verdict(self.archive, scores, trials, request, orders, verdict_options)

        if request.key is None:
            return compute()
        condition_facts = verdict_options.condition
        key = ("verdict", request.key, condition_facts.name, condition_facts.level, tuple(settings.items()), orders)
        cached: Verdict = self._score_cache.get_or_compute(key, compute)
        return cached

    def summary(self) -> ResultSummary:
        """Summarize the study: the answer, the means of each declared measure, and notes."""
        summary: ResultSummary = self._score_cache.get_or_compute("summary", lambda: ResultSummary.from_results(self))
        return summary

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return f"<Results of {ResultSummary.format_title(self)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _ignore_undefined() -> Any:
    """Ignore warnings about undefined measures, because the results show undefined values."""
    return warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning)
