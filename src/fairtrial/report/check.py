"""Methodology checks, each of which looks for one kind of problem in the results of a report.

The documentation of a check explains why the problem matters and how to fix it. Modules in `fairtrial.report.checks` register
checks. Another package can add checks by naming its module in the entry-point group `fairtrial.checks`. Import the public names
of this module from `fairtrial.report.checks`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from fairtrial._findings import Finding
from fairtrial._narrative import register_text, render
from fairtrial._registry import Registry
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.report.section import ReportKind
from fairtrial.report.source import ReportSource, describe_source
from fairtrial.study.results.summary import answer_checks

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["raised", "failed to run", "passed", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("raised", "failed to run", "passed", "not applicable")
"""All outcomes, in the order in which they are shown."""
_NUMBER = re.compile(r"[A-Z]{2,8}[0-9]{3}")

register_text("check_failed", "the check failed to run: {error}: {message}.")


@dataclass(frozen=True, eq=False)
class CheckFinding:
    """The result of a check: its outcome, its finding, and a table of the underlying numbers.

    Attributes
    ----------
    outcome : {"raised", "failed to run", "passed", "not applicable"}
        Outcome of the check.
    finding : Finding
        Kind and values of the finding. The property `text` renders the finding as a sentence.
    details : pandas.DataFrame or None
        Table of the numbers that raised the check.
    formats : dict
        Number format of each column of `details`.
    noun : str
        "learner" or "model".
    by_scheme : dict
        Maps groups of resampling schemes to the finding that they share. Contains only schemes whose outcome is `outcome`.
        Empty if all schemes have the same finding.

    Examples
    --------
    >>> from fairtrial import compare
    >>> from fairtrial.report.checks import registry
    >>> finding = registry["FT008"](compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]], rows="datasets"))
    >>> finding.outcome, finding.finding["limit"]
    ('raised', 6)
    """

    outcome: Outcome
    finding: Finding
    details: pd.DataFrame | None = None
    formats: Mapping[str, str] = field(default_factory=dict)
    noun: str = "learner"
    by_scheme: Mapping[tuple[str, ...], Finding] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the finding.

        If the findings differ between resampling schemes, the text names the schemes for each finding.
        """
        if not self.by_scheme:
            return render(self.finding, self.noun)
        return " ".join(f"With {join_names(names)}: {render(part, self.noun)}" for names, part in self.by_scheme.items())


class CheckAnswer(NamedTuple):
    """The return value of a check function.

    `text` is a key of `Check.texts` and selects the text that describes the outcome. `values` are inserted into this text.
    """

    outcome: Outcome
    text: str
    values: Mapping[str, Any]
    details: pd.DataFrame | None = None
    formats: Mapping[str, str] = {}


def report_raised(
    text: str = "raised", *, details: pd.DataFrame | None = None, formats: Mapping[str, str] | None = None, **values: Any
) -> CheckAnswer:
    """Report that a check found a problem.

    Parameters
    ----------
    text : str, default "raised"
        Key of `Check.texts` that selects the text describing the outcome.
    details : pandas.DataFrame, optional
        Table of the numbers that raised the check.
    formats : dict, optional
        Number formats of the columns of `details`, such as ``{"ratio": "{:.1f}"}``.
    **values
        Values that are inserted into the text.

    Returns
    -------
    CheckAnswer

    Examples
    --------
    >>> report_raised(rows=3).outcome
    'raised'
    """
    return CheckAnswer("raised", text, values, details, formats or {})


def report_passed(text: str = "passed", **values: Any) -> CheckAnswer:
    """Report that a check found no problem.

    Parameters
    ----------
    text : str, default "passed"
        Key of `Check.texts` that selects the text describing the outcome.
    **values
        Values that are inserted into the text.

    Returns
    -------
    CheckAnswer

    Examples
    --------
    >>> report_passed().outcome
    'passed'
    """
    return CheckAnswer("passed", text, values)


def report_not_applicable(text: str = "not applicable", **values: Any) -> CheckAnswer:
    """Report that a check does not apply, or that the data are insufficient for it.

    Parameters
    ----------
    text : str, default "not applicable"
        Key of `Check.texts` that selects the text describing the outcome.
    **values
        Values that are inserted into the text.

    Returns
    -------
    CheckAnswer

    Examples
    --------
    >>> report_not_applicable().outcome
    'not applicable'
    """
    return CheckAnswer("not applicable", text, values)


@dataclass(eq=False)
class Check:
    """A methodology check with its documentation. The number of a check never changes.

    Attributes
    ----------
    number : str
        Capital letters and three digits, such as "FT002".
    title : str
        Short title.
    looks_for : str
        Problem that raises the check.
    why : str
        Why the problem matters.
    remedy : str
        How to solve the problem.
    cite : str
        Works that explain the problem.
    texts : dict
        Maps keys to sentence templates. The keys are "raised", "passed" and any other key that `function` returns.
    function : callable
        Function that takes a `ReportSource` and returns a `CheckAnswer`.
    serves : tuple of {"study", "judgement", "comparison"}
        Kinds of reports to which the check applies.
    affects_answer : bool
        Whether a raised check may change the conclusion. The answer at the top of a report mentions such a check.

    Examples
    --------
    >>> from fairtrial import compare
    >>> verdict = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]], rows="datasets")
    >>> few = registry["FT008"]
    >>> few.title, few.table, few(verdict).outcome
    ('Too few data sets for the test', 'checks-ft008', 'raised')
    """

    number: str
    title: str
    looks_for: str
    why: str
    remedy: str
    cite: str
    texts: Mapping[str, str]
    function: Callable[[ReportSource], CheckAnswer]
    serves: tuple[ReportKind, ...] = ("study",)
    affects_answer: bool = False

    def __post_init__(self) -> None:
        if not _NUMBER.fullmatch(self.number):
            raise InputError(f"number must be 2 to 8 capital letters and 3 digits, such as 'LAB001', got {self.number!r}")
        functools.update_wrapper(self, self.function)  # lets a rerun notebook cell replace the check that it defines

    @property
    def table(self) -> str:
        """Key of the table that contains the underlying numbers of the check."""
        return f"checks-{self.number.lower()}"

    def __call__(self, results: Any) -> CheckFinding:
        """Run the check on results, a judgement or a verdict.

        The results of a study are checked separately for each resampling scheme.
        """
        source = _get_source(results)
        sources = source.split_by_scheme()
        if sources:
            return _join_findings({name: self(scheme_source) for name, scheme_source in sources.items()})
        answer = self.function(source)
        finding = Finding(f"{self.number}/{answer.text}", answer.values)
        return CheckFinding(answer.outcome, finding, answer.details, answer.formats, source.noun)


registry: Registry[Check] = Registry("check", group="fairtrial.checks", package="fairtrial.report.checks")


def check(
    number: str,
    *,
    title: str,
    looks_for: str,
    why: str,
    remedy: str,
    cite: str,
    texts: Mapping[str, str],
    serves: tuple[ReportKind, ...] = ("study",),
    affects_answer: bool = False,
) -> Callable[[Callable[[ReportSource], CheckAnswer]], Check]:
    """Register a function as a methodology check.

    Numbers that begin with FT are reserved for this package. Other packages must use different letters and register their
    modules in the entry-point group "fairtrial.checks".

    Parameters
    ----------
    number, title, looks_for, why, remedy, cite, texts, serves, affects_answer
        See `Check`.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> texts = {"passed": "the study has a name.", "raised": "the study has no name."}
    >>> decorate = check("LAB001", title="Name", looks_for="...", why="...", remedy="...", cite="", texts=texts)
    """

    def register(function: Callable[[ReportSource], CheckAnswer]) -> Check:
        new_check = Check(number, title, looks_for, why, remedy, cite, texts, function, serves, affects_answer)
        registry.add(number, new_check)
        for key, template in texts.items():
            register_text(f"{number}/{key}", template)
        return new_check

    return register


class CheckResult(NamedTuple):
    """A check and its finding.

    Attributes
    ----------
    check : Check
        The check.
    finding : CheckFinding
        Result of the check.

    Examples
    --------
    >>> from fairtrial import compare
    >>> check, finding = run_checks(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6]], rows="datasets"))[0]
    >>> check.number, finding.outcome
    ('FT008', 'raised')
    """

    check: Check
    finding: CheckFinding

    def __str__(self) -> str:
        return f"{self.check.number} {self.finding.outcome}: {self.finding.text}"


_results: WeakKeyDictionary[Any, tuple[CheckResult, ...]] = WeakKeyDictionary()


def run_checks(results: Any, checks: Iterable[Check | str] | None = None) -> tuple[CheckResult, ...]:
    """Run methodology checks on results.

    The findings are sorted by outcome (raised checks first) and then by check number. If a check raises an exception, its
    outcome is "failed to run", and the other checks still run.

    Parameters
    ----------
    results : Results, Judgement, Verdict or ReportSource
        Results to check.
    checks : str or iterable of Check or str, optional
        Checks to run, or their numbers. Default: all registered checks that apply to this kind of results.

    Returns
    -------
    tuple of CheckResult

    Examples
    --------
    >>> from fairtrial import compare
    >>> verdict = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets")
    >>> [result.check.number for result in run_checks(verdict) if result.finding.outcome == "raised"]
    ['FT008']
    >>> print(*run_checks(verdict, "FT008"))
    FT008 raised: The Wilcoxon signed-rank test has 5 data sets on which learners can differ; it needs at least 6.
    """
    source = _get_source(results)
    if checks is not None:
        items = [checks] if isinstance(checks, str) else checks
        selected = [registry[item] if isinstance(item, str) else item for item in items]
        return _sort_results([CheckResult(current_check, _run_check(current_check, source)) for current_check in selected])
    key = source.identity
    serving = [current_check for current_check in registry.values() if source.kind in current_check.serves]
    cached = _results.get(key)
    if cached is None or {result.check.number: result.check for result in cached} != {item.number: item for item in serving}:
        _results[key] = run_checks(source, serving)
    return _results[key]


def list_answer_warnings(results: Any) -> list[CheckResult]:
    """Run the checks that affect the answer, and list those that are raised.

    FT008 (too few data sets) is not listed, because the answer itself reports that no decision is possible.

    Parameters
    ----------
    results : Results, Judgement, Verdict or ReportSource
        Results to check.

    Returns
    -------
    list of CheckResult

    Examples
    --------
    >>> from fairtrial import compare
    >>> verdict = compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets")
    >>> [result.check.number for result in list_answer_warnings(verdict)]
    []
    """
    source = _get_source(results)
    checks = [item for item in registry.values() if item.affects_answer and source.kind in item.serves]
    return [result for result in run_checks(source, checks) if result.finding.outcome == "raised"]


def format_answer_warnings(results: Any) -> list[str]:
    """Format the raised checks that affect the answer, each with its number."""
    return [f"{result.check.number}: {result.finding.text}" for result in list_answer_warnings(results)]


answer_checks.add("methodology", format_answer_warnings)


def _get_source(results: Any) -> ReportSource:
    return results if isinstance(results, ReportSource) else describe_source(results)


def _sort_results(results: list[CheckResult]) -> tuple[CheckResult, ...]:
    return tuple(sorted(results, key=lambda result: (OUTCOMES.index(result.finding.outcome), result.check.number)))


def _run_check(current_check: Check, source: ReportSource) -> CheckFinding:
    try:
        return current_check(source)
    except Exception as error:
        values = {"error": type(error).__name__, "message": str(error).rstrip(".")}
        return CheckFinding("failed to run", Finding("check_failed", values))


def _join_findings(findings: Mapping[str, CheckFinding]) -> CheckFinding:
    """Combine the findings of several resampling schemes.

    Only the findings with the most serious outcome are combined.
    """
    outcome = min((finding.outcome for finding in findings.values()), key=OUTCOMES.index)
    serious = {name: finding for name, finding in findings.items() if finding.outcome == outcome}
    names_by_text: dict[str, list[str]] = {}
    for name, finding in serious.items():
        names_by_text.setdefault(finding.text, []).append(name)
    first = next(iter(serious.values()))
    if list(names_by_text.values()) == [list(findings)]:
        by_scheme = {}
    else:
        by_scheme = {tuple(names): serious[names[0]].finding for names in names_by_text.values()}
    return replace(first, by_scheme=by_scheme, details=_join_details(serious))


def _join_details(findings: Mapping[str, CheckFinding]) -> pd.DataFrame | None:
    """Combine the tables of several resampling schemes.

    Unless every scheme has the same table, a column with the names of the schemes is added.
    """
    import pandas as pd

    frames = {name: finding.details for name, finding in findings.items() if finding.details is not None}
    if not frames:
        return None
    first, *others = frames.values()
    if len(frames) == len(findings) and all(frame.equals(first) for frame in others):
        return first
    named = all(frame.index.name is not None for frame in frames.values())
    plain = [frame.reset_index() if named else frame.reset_index(drop=True) for frame in frames.values()]
    parts = [frame.assign(scheme=name) for name, frame in zip(frames, plain, strict=True)]
    joined = pd.concat(parts, ignore_index=True)
    return joined[["scheme", *(column for column in joined.columns if column != "scheme")]]


def list_unique(names: Iterable[object]) -> tuple[str, ...]:
    """List names without duplicates.

    >>> list_unique(["iris", "wine", "iris"])
    ('iris', 'wine')
    """
    return tuple(dict.fromkeys(map(str, names)))
