"""Decide, for a given margin, whether a new model may replace an old one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtrial import _check
from fairtrial._findings import Finding
from fairtrial._json import format_document
from fairtrial._narrative import name_argument, render
from fairtrial._registry import suggest_name
from fairtrial._text import format_html_block, format_html_table, wrap_item, wrap_lines
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.predictions.columns import ModelColumns, Roles, guess_roles, normalize_label
from fairtrial.predictions.judgement import build_settings, find_inverted, open_models, select_measures
from fairtrial.predictions.margins import MarginComparison, compare_at_margin, find_texts
from fairtrial.predictions.read import PredictionFile, Source, read_predictions, read_source
from fairtrial.predictions.statistics import FileStatistics, ModelStatistics
from fairtrial.predictions.validate import Notes
from fairtrial.significance.margins import DECISIONS, DecisionWord, check_margin

if TYPE_CHECKING:
    import pandas as pd

_SHARED_ROLES = ("weight", "cluster", "dataset")
"""Roles of optional columns that may be in either of the two files."""

_GATE_NOTES = (
    "undeclared_clusters",
    "partial_overlap",
    "unequal_rows",
    "below_chance",
    "dropped_missing",
    "unknown_labels",
    *("gate_overlap", "gate_joined"),
)


@dataclass(frozen=True, repr=False)
class GateResult:
    """The result of `gate`: whether the candidate may replace the baseline.

    Attributes
    ----------
    source : str
        Name of the file, or of both files.
    comparisons : tuple of MarginComparison
        One comparison for each candidate and measure. All of them must pass.
    equivalent : bool
        Whether equivalence was required.
    alpha : float
        Significance level. The confidence level is 1 - alpha, or 1 - alpha / k with k candidates.
    notes : tuple of Finding
        Notes on the data that may affect the decision.

    Examples
    --------
    >>> y_true = [0, 1] * 300
    >>> result = gate({"y_true": y_true, "old": y_true, "new": y_true[:594] + [1, 0] * 3}, candidate="new", baseline="old",
    ...               measure="accuracy", margin=0.03)
    >>> result.decision, result.passed, round(result.difference, 3)
    ('non-inferior', True, -0.01)
    """

    source: str
    comparisons: tuple[MarginComparison, ...]
    equivalent: bool
    alpha: float
    notes: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every comparison passed."""
        return all(comparison.result.passed for comparison in self.comparisons)

    @property
    def decision(self) -> DecisionWord:
        """The overall decision: "inferior" if any comparison is, otherwise the weakest decision.

        From strongest to weakest, the other decisions are "superior", "equivalent", "non-inferior" and "inconclusive".
        """
        words = [comparison.result.decision for comparison in self.comparisons]
        return "inferior" if "inferior" in words else max(words, key=DECISIONS.index)

    @property
    def difference(self) -> float:
        """The difference in the first comparison, candidate minus baseline."""
        return self.comparisons[0].result.difference

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per candidate and measure.

        Returns
        -------
        DataFrame
            The columns are candidate, baseline, measure, margin, decision, passed, difference, low, high, level, p_value, test,
            rows, clusters and needed.
        """
        import pandas as pd

        lines = [comparison.to_dict() for comparison in self.comparisons]
        return pd.DataFrame(lines).drop(columns=["tests", "obstacle"])

    def tests_frame(self) -> pd.DataFrame:
        """Return a table with one row per candidate, measure and test.

        Returns
        -------
        DataFrame
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {"candidate": line["candidate"], "measure": line["measure"], **test}
                for line in (comparison.to_dict() for comparison in self.comparisons)
                for test in line["tests"]
            ]
        )

    def to_json(self) -> str:
        """Return the result as a JSON document that conforms to `result.schema.json`.

        Returns
        -------
        str
        """
        comparisons = [comparison.to_dict() for comparison in self.comparisons]
        first = {name: comparisons[0][name] for name in _MAIN_KEYS}
        main = {**first, "decision": self.decision, "passed": self.passed}
        options = {"alpha": self.alpha, "equivalent": self.equivalent}
        notes = [render(note, "model") for note in self.notes]
        answer = " ".join(f"{text.removesuffix('.')}." for texts in self.list_texts() for text in texts)
        return format_document(
            "gate", source=self.source, answer=answer, comparisons=comparisons, **main, **options, notes=notes
        )

    def to_junit(self) -> str:
        """Return the result as JUnit XML, with one test case per candidate and measure.

        Returns
        -------
        str
        """
        from xml.etree import ElementTree

        failed = sum(not comparison.result.passed for comparison in self.comparisons)
        suite = ElementTree.Element("testsuite", name="fairtrial gate", tests=str(len(self.comparisons)), failures=str(failed))
        for comparison, texts in zip(self.comparisons, self.list_texts(), strict=True):
            name = f"{comparison.candidate} against {comparison.baseline}: {comparison.measure}"
            case = ElementTree.SubElement(suite, "testcase", classname="fairtrial.gate", name=name)
            if comparison.result.passed:
                ElementTree.SubElement(case, "system-out").text = "\n".join(texts)
            else:
                failure = ElementTree.SubElement(case, "failure", message=texts[0], type=comparison.result.decision)
                failure.text = "\n".join(texts)
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)

    def list_texts(self) -> list[list[str]]:
        """Describe each comparison in a few sentences.

        The sentences state the decision and its reasons. If a candidate neither passes nor is inferior, they also state what
        would suffice for a decision.

        Returns
        -------
        list of list of str
            Sentences for each comparison.
        """
        n_candidates = len({comparison.candidate for comparison in self.comparisons})
        return [
            [render(finding, "model") for finding in find_texts(comparison, self.equivalent, n_candidates)]
            for comparison in self.comparisons
        ]

    def format_lines(self) -> list[str]:
        """Format the answer for the console, with PASS or FAIL and the decision.

        Returns
        -------
        list of str
        """
        lines = []
        for comparison, texts in zip(self.comparisons, self.list_texts(), strict=True):
            mark = "PASS" if comparison.result.passed else "FAIL"
            wrapped = [line for text in texts for line in wrap_lines(text, 74)]
            lines += [f"{mark}  {wrapped[0]}", *(f"      {line}" for line in wrapped[1:])]
        if len(self.comparisons) > 1:
            n_passed = sum(comparison.result.passed for comparison in self.comparisons)
            total = Finding.of("gate_total", passed=n_passed, total=len(self.comparisons))
            lines.append(f"{'PASS' if self.passed else 'FAIL'}  {render(total, 'model')}")
        return [*lines, *(line for note in self.notes for line in wrap_item(render(note, "model"), "!"))]

    def __str__(self) -> str:
        return "\n".join(self.format_lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_block(str(self)) + format_html_table(self.frame())


_MAIN_KEYS = ("measure", "margin", "difference", "low", "high", "level", "p_value", "rows", "tests")


def gate(
    source: Source | PredictionFile,
    *,
    candidate: str | Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    measure: str | Measure | None = None,
    baseline_source: Source | None = None,
    equivalent: bool = False,
    alpha: float = 0.05,
    resamples: int = 2000,
    seed: int = 0,
    positive: object = None,
    stream: bool | None = None,
    **roles: Any,
) -> GateResult:
    """Decide whether a new model may replace an old one.

    The candidate passes if the confidence interval for the difference excludes a loss of `margin` or more. It is superior if
    the interval shows that it is better than the baseline. If no reliable interval can be computed, e.g. because a class has
    few cases, the decision is inconclusive, and the candidate does not pass.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        Predictions of the candidate and the baseline, as for `judge`.
    candidate : str or list of str
        Model to test. With k candidates, the confidence level is 1 - alpha / k, and all candidates must pass.
    baseline : str
        Model to replace. If there are only two models, either `candidate` or `baseline` is enough.
    margin : float or mapping
        The largest loss that does not matter, in the unit of the measure. To test several measures, pass a mapping from
        measures to margins. The candidate must then pass for all measures.
    measure : str or Measure, optional
        Measure by which the models are compared, unless `margin` names the measures. Default: AUC if all models have scores for
        a positive class, else accuracy.
    baseline_source : path, list of paths or dataframe, optional
        Predictions of the baseline, if they are not in `source`. The two files are joined on their row ids.
    equivalent : bool, default False
        Require equivalence: a difference of less than `margin` in both directions.
    alpha : float, default 0.05
        Significance level. Each one-sided test uses alpha / 2, or alpha / (2k) with k candidates.
    resamples, seed : int
        Number of bootstrap resamples (default 2000), and seed (default 0). Unless there are very many rows, the maximum number
        of permutations in a permutation test is at least 10,000.
    positive : label, optional
        The positive class, as in `judge`.
    stream : bool, optional
        Whether to stream the rows, as in `judge`.
    **roles : str, list or mapping, optional
        Columns (y_true, prediction, model, scores, row, weight, cluster) and the option `drop_missing`, as in `judge`.

    Returns
    -------
    GateResult

    Raises
    ------
    InputError
        If a model or measure is unknown, a margin is not positive, or the models have no rows in common.

    Examples
    --------
    >>> y_true = [0, 1] * 300
    >>> table = {"y_true": y_true, "old": [1, 0] * 30 + y_true[60:], "new": y_true}
    >>> print(gate(table, candidate="new", baseline="old", measure="accuracy", margin=0.01).decision)
    superior
    """
    _check.check_between("alpha", alpha, 0, 1)
    if margin is None:
        example = name_argument("margin", "0.01")
        raise InputError(f"margin must be given (the largest loss that does not matter): pass e.g. {example}")
    settings = build_settings(1 - alpha, resamples, seed, alpha)
    margins = {str(name): check_margin(value) for name, value in margin.items()} if isinstance(margin, Mapping) else None
    if margins is None:
        single_margin = check_margin(margin)  # type: ignore[arg-type]
    elif measure is not None:
        raise InputError(
            f"measure must not be given if each measure has a margin, got {measure!r}: omit {name_argument('measure', 'NAME')}"
        )
    if margins is not None and not margins:
        raise InputError("margin must name at least one measure, got none")
    names = _list_candidates(candidate)
    if baseline_source is not None:
        if isinstance(source, PredictionFile):
            raise InputError("source must be a file or a frame if baseline_source is given, got predictions already read")
        if stream:
            raise InputError("two files cannot be streamed, because they are joined in memory: join them into one file first")
        source, names, baseline = _join_sources(source, baseline_source, names, baseline, positive, roles)
        roles = {}
    with open_models(source, positive, stream, roles) as (file, notes):
        candidates, baseline_model = _select_models(file, names, baseline)
        compared = [*candidates, baseline_model]
        measures = select_measures(compared, measure if margins is None else list(margins))
        measures = measures[:1] if margins is None else measures
        for checked in measures:
            _check_inputs(checked, compared)
        limits = [single_margin] if margins is None else list(margins.values())
        for checked, limit in zip(measures, limits, strict=True):
            _check_margin_range(checked, limit)
        inverted = {checked.name: find_inverted(compared, file.roles, checked, positive, settings) for checked in measures}
        comparisons = [
            compare_at_margin(
                model, baseline_model, used_measure, limit, equivalent, settings, inverted[used_measure.name], len(candidates)
            )
            for model in candidates
            for used_measure, limit in zip(measures, limits, strict=True)
        ]
        return GateResult(file.source, tuple(comparisons), equivalent, alpha, _select_notes(notes, file))


def _list_candidates(candidate: str | Sequence[str] | None) -> list[str]:
    names = [candidate] if isinstance(candidate, str) else list(candidate or [])
    repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        raise InputError(f"candidates must differ, got {repeated!r} twice: name it once")
    return names


def _select_models(
    file: FileStatistics, names: Sequence[str], baseline: str | None
) -> tuple[list[ModelStatistics], ModelStatistics]:
    """Select the candidates and the baseline by name. If there are only two models, one name is enough."""
    datasets = list(dict.fromkeys(model.dataset for model in file.models))
    if len(datasets) > 1:
        raise InputError(
            f"gate compares models on one data set, got {len(datasets)} in {file.source}: keep the rows of one data set, or "
            "use judge or compare"
        )
    models = {model.name: model for model in file.models}
    if baseline is None and len(names) == 1 and len(models) == 2 and names[0] in models:
        baseline = next(name for name in models if name != names[0])
    if not names and baseline is not None and len(models) == 2 and baseline in models:
        names = [name for name in models if name != baseline]
    if not names or baseline is None:
        role = "candidate" if not names else "baseline"
        raise InputError(f"{role} must name a model: pass {name_argument(role, 'MODEL')}, one of {', '.join(models)}")
    for role, name in (*(("candidate", name) for name in names), ("baseline", baseline)):
        if name not in models:
            raise InputError(f"{role} must be a model of {file.source}, got {name!r}: {suggest_name(name, models)}")
    if baseline in names:
        raise InputError(f"candidate and baseline must differ, got {baseline!r} for both: name two models")
    return [models[name] for name in names], models[baseline]


def _check_margin_range(measure: Measure, margin: float) -> None:
    """Reject a margin that is at least the range of the measure: every model would pass."""
    lowest, highest = measure.facts.range
    if margin >= highest - lowest:
        hint = f": for {margin:g} percentage points pass {margin / 100:g}" if highest - lowest == 1 and margin < 100 else ""
        raise InputError(
            f"margin must be smaller than {highest - lowest:g}, the range of {measure.display_name}, got {margin:g}{hint}"
        )


def _check_inputs(measure: Measure, models: Sequence[ModelStatistics]) -> None:
    for model in models:
        missing = model.find_missing_input(measure)
        if missing:
            raise InputError(f"measure {measure.name} needs {missing}, got none from {model.name!r}: choose another measure")


def _select_notes(notes: Notes, file: FileStatistics) -> tuple[Finding, ...]:
    """Select the notes that may affect the decision."""
    all_notes = [*notes.merge(with_datasets=False), *file.roles.reasons]
    return tuple(dict.fromkeys(note for note in all_notes if note.kind in _GATE_NOTES))


def _join_sources(
    source: Source,
    baseline_source: Source,
    names: Sequence[str],
    baseline: str | None,
    positive: object,
    roles: Mapping[str, Any],
) -> tuple[PredictionFile, list[str], str]:
    """Join the predictions of a candidate and a baseline from two files by row id."""
    import pandas as pd

    if len(names) > 1:
        raise InputError(f"candidate must be one model if the baseline is in another file, got {len(names)}: name one")
    specified_roles = {role: value for role, value in roles.items() if value is not None}
    drop_missing = bool(specified_roles.pop("drop_missing", False))
    parts = [
        _FilePart.read(table_source, role, name, positive, specified_roles)
        for table_source, role, name in (
            (source, "candidate", names[0] if names else None),
            (baseline_source, "baseline", baseline),
        )
    ]
    _check_columns(specified_roles, parts)
    if parts[0].name == parts[1].name:
        parts = [replace(part, name=role) for part, role in zip(parts, ("candidate", "baseline"), strict=True)]
    frames = [part.select_columns() for part in parts]
    if frames[0]["row"].dtype != frames[1]["row"].dtype:
        frames = [frame.assign(row=frame["row"].map(normalize_label).astype(str)) for frame in frames]
    joined = frames[0].merge(frames[1], on="row", suffixes=("", " baseline"))
    if not len(joined):
        files = " and ".join(part.source for part in parts)
        raise InputError(f"models must predict the same rows to be compared, got no common row id in {files}: check the ids")
    for role in _SHARED_ROLES:
        if f"{role} baseline" in joined:
            if not joined[role].equals(joined[f"{role} baseline"]):
                raise InputError(
                    f"both files must agree on the {role} of each row, got different values: keep the column in only one file"
                )
            joined = joined.drop(columns=f"{role} baseline")
    labels = [joined[column].map(normalize_label).astype(str) for column in ("y_true", "y_true baseline")]
    n_different = int((labels[0] != labels[1]).sum())
    if n_different:
        raise InputError(
            f"both files must have the same true labels, got different ones in {n_different:,} of {len(joined):,} common rows: "
            "check the row ids and the spelling of the labels"
        )
    specified: dict[str, Any] = {
        "prediction": {part.name: f"{part.role} label" for part in parts if part.columns.label is not None},
        "scores": {part.name: part.name_scores() for part in parts if part.columns.scores},
    }
    shared = {role: role for role in _SHARED_ROLES if role in joined}
    file = read_predictions(
        pd.DataFrame(joined.drop(columns="y_true baseline")),
        y_true="y_true",
        row="row",
        positive=positive,
        drop_missing=drop_missing,
        **{role: value for role, value in {**specified, **shared}.items() if value},
    )
    notes = [part.note_overlap(len(joined)) for part in parts if len(joined) < len(part.table)]
    notes += [note for note in parts[0].roles.reasons if note.kind == "undeclared_clusters"]
    if "row" not in specified_roles:
        notes.append(Finding.of("gate_joined", column=parts[0].roles.columns["row"]))
    file = replace(file, source=f"{parts[0].source} and {parts[1].source}", notes=(*file.notes, *notes))
    return file, [parts[0].name], parts[1].name


def _has_columns(table: pd.DataFrame, value: Any) -> bool:
    """Return whether a table has all columns that the user specified for a role."""
    if isinstance(value, Mapping):
        return all(_has_columns(table, column) for column in value.values())
    return all(str(column) in table.columns for column in ([value] if isinstance(value, str) else value))


def _check_columns(specified_roles: Mapping[str, Any], parts: Sequence[_FilePart]) -> None:
    """Check that each specified column is in at least one file, and that row ids and true labels are in both."""
    for role, value in specified_roles.items():
        is_in_file = [_has_columns(part.table, value) for part in parts]
        if not any(is_in_file) or (role in ("row", "y_true") and not all(is_in_file)):
            source = " and ".join(part.source for part, has_it in zip(parts, is_in_file, strict=True) if not has_it)
            columns = dict.fromkeys(column for part in parts for column in part.table.columns)
            hint = suggest_name(value, columns) if isinstance(value, str) else "check the names of the columns"
            raise InputError(f"{role} must be a column, got {value!r}, which is not in {source}: {hint}")


@dataclass(frozen=True, eq=False)
class _FilePart:
    """The lines and columns of one model in a file."""

    source: str
    role: str
    name: str
    table: pd.DataFrame
    roles: Roles
    columns: ModelColumns

    @classmethod
    def read(
        cls, source: Source, role: str, name: str | None, positive: object, specified_roles: Mapping[str, Any]
    ) -> _FilePart:
        """Read the named model of a file. If the file has only one model, no name is needed."""
        table, file_name, _ = read_source(source)
        known = {role: value for role, value in specified_roles.items() if _has_columns(table, value)}
        roles = guess_roles(table, positive=positive, **known)
        if roles.get("row") is None:
            raise InputError(
                f"{file_name} must have a column of row ids to join it with the other file: pass "
                f"{name_argument('row', 'COLUMN')}"
            )
        model_column = roles.get("model")
        if model_column is not None:
            available = [str(value) for value in dict.fromkeys(table[model_column])]
        else:
            available = [model_columns.name for model_columns in roles.models]
        if name is None and len(available) > 1:
            hint = f"pass {name_argument(role, 'MODEL')}, one of {', '.join(available)}"
            raise InputError(f"{role} must name one of the models of {file_name}: {hint}")
        # If a file has only one column of scores or labels, its model may have no name.
        if name is not None and any(available) and name not in available:
            raise InputError(f"{role} must be a model of {file_name}, got {name!r}: {suggest_name(name, available)}")
        chosen = name if name is not None and name in available else available[0]
        if model_column is not None:
            table = table[table[model_column].astype(str) == chosen]
        columns = (
            roles.models[0] if model_column is not None else next(columns for columns in roles.models if columns.name == chosen)
        )
        row = roles.columns["row"]
        repeated = table[row][table[row].duplicated()]
        if len(repeated):
            raise InputError(
                f"row ids of {file_name} must be unique to join the files, got {str(repeated.iloc[0])!r} more than once: "
                "remove the copies, or name another column"
            )
        return cls(file_name, role, name or chosen or role, table, roles, columns)

    def select_columns(self) -> pd.DataFrame:
        """Select the columns of the model, and rename each column after its role."""
        names = {
            role: self.roles.columns[role] for role in ("row", "y_true", "weight", "cluster") if role in self.roles.columns
        }
        if self.columns.label is not None:
            names[f"{self.role} label"] = self.columns.label
        names |= {f"{self.role} score {label}": column for label, column in self.columns.scores}
        return self.table[list(names.values())].set_axis(list(names), axis=1)

    def name_scores(self) -> str | dict[str, str]:
        """Return the score columns keyed by class, or a single column that names no class."""
        if self.columns.scores[0][0] is None:
            return f"{self.role} score None"
        return {str(label): f"{self.role} score {label}" for label, _ in self.columns.scores}

    def note_overlap(self, common: int) -> Finding:
        """Build the note that some rows of this file are missing from the other file."""
        return Finding.of("gate_overlap", source=self.source, rows=len(self.table), common=common)
