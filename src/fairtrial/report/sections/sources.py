"""References, and how to reproduce the results."""

from __future__ import annotations

import re
import shlex
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fairtrial._text import join_names
from fairtrial.errors import FairtrialError, InputError
from fairtrial.measures import get_measure
from fairtrial.report.cache import get_resampling_scheme, has_only_predictions
from fairtrial.report.check import run_checks
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, section
from fairtrial.resampling.splitter import schemes
from fairtrial.significance.names import get_display_name, methods
from fairtrial.study.store.store import open_store
from fairtrial.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results


def get_citation(name: str) -> str:
    """Get the short citation of a test or procedure, or an empty string if there is none."""
    return methods[name].cite if name in methods else ""


# Interval methods of scores that are registered under another name, and the citations for the intervals of AUC.
_INTERVAL_METHODS = {"bca": "bootstrap_difference"}
_AUC_INTERVAL = "Wilson 1927; Hanley & McNeil 1982"
_DECLARED_SECTIONS = ("data", "learners", "conditions", "resampling", "measures", "verdict", "limits")


@section(
    "references",
    title="References",
    order=190,
    serves=("study", "judgement", "comparison", "gate"),
    schemes="none",
    question="how",
)
def build_references_section(source: ReportSource) -> Section | None:
    """List each work once, in alphabetical order, with the methods for which it is cited."""
    uses: dict[str, list[str]] = {}
    for subject, cite in list_citations(source):
        for work in split_citation(cite):
            uses.setdefault(work, []).append(subject)
    works = read_bibliography()
    lines = [(works.get(work, f"{work}."), join_names(dict.fromkeys(subjects), None)) for work, subjects in uses.items()]
    notes = tuple(f"{work} For: {subjects}." for work, subjects in sorted(lines, key=lambda line: _get_family_key(line[0])))
    if not notes:
        return None
    sentence = Sentence("These works define the measures, tests and checks of this report.")
    return Section("references", "References", (sentence,), notes=notes)


def list_citations(source: ReportSource) -> list[tuple[str, str]]:
    """List the methods and raised checks of a report with their short citations."""
    measures, tests, citations = _list_methods(source)
    citations = [(format_measure_name(name), _get_citation(name)) for name in dict.fromkeys(measures)] + citations
    citations += [(get_display_name(name), get_citation(name)) for name in dict.fromkeys(tests) if get_citation(name)]
    raised_checks = [check_result.check for check_result in run_checks(source) if check_result.finding.outcome == "raised"]
    return [*citations, *((check.number, check.cite) for check in raised_checks)]


def _list_methods(source: ReportSource) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """List the measures and tests of a report, and further citations."""
    tests = [] if source.verdict is None else list_tests_used(source.verdict)
    if source.kind == "gate":
        comparisons = source.get_gate().comparisons
        return [comparison.measure for comparison in comparisons], list(source.get_gate().tests_frame()["name"].astype(str)), []
    if source.kind == "comparison":
        return [source.measure] if source.measure else [], tests, []
    if source.kind == "judgement":
        judgement = source.get_judgement()
        intervals = {_INTERVAL_METHODS.get(name, name) for name in map(str, judgement.scores["method"])}
        row_tests = [*_list_row_tests(judgement), *sorted(intervals)]
        row_tests += ["holm"] * bool(len(judgement.tests)) + ["wilson"] * bool(judgement.classes["precision_low"].notna().any())
        citations = [("interval of AUC", _AUC_INTERVAL)] if "score" in intervals else []
        return [str(name) for name in judgement.scores["measure"]], [*row_tests, *tests], citations
    results = source.get_all_results()
    used_schemes = dict.fromkeys(get_resampling_scheme(results.for_resampling(name)) for name in results.schemes)
    citations = [(f"{name} splits", schemes[name].cite) for name in used_schemes if name in schemes and schemes[name].cite]
    if any(condition.name != "clean" for condition in results.archive.conditions):
        citations += [("robustness", get_measure(name).facts.cite) for name in ("rla", "ela")]
        citations.append(("intervals over splits", "Nadeau & Bengio 2003"))
    return [*results.measures, source.measure], tests, citations


def _list_row_tests(judgement: Judgement) -> list[str]:
    """List the tests between models. A variant with its own citation, e.g. for clusters, is listed separately."""
    names: list[str] = []
    for test, note in judgement.tests[["test", "note"]].itertuples(index=False):
        variant = f"{test} ({str(note).partition('.')[0]})"
        names += [str(test), *([variant] if get_citation(variant) else [])]
    return names


def _get_family_key(work: str) -> tuple[str, str]:
    """Build the sort key of a work: the family name of its first author, without initials."""
    first = re.split(r" \(| and | et al|,", work, maxsplit=1)[0]
    family = " ".join(word for word in first.split() if not word.endswith("."))
    plain = unicodedata.normalize("NFKD", family).encode("ascii", "ignore").decode()
    return plain.casefold(), work


def list_tests_used(verdict: Verdict) -> list[str]:
    """List the test of a verdict, its post-hoc procedure and its Bayesian test."""
    further = [] if verdict.posthoc is None else [verdict.posthoc.method]
    return [verdict.outcome.test, *further, *([] if verdict.posterior is None else [verdict.posterior.test])]


def _get_citation(measure: str) -> str:
    """Get the short citation of a measure, or an empty string if the measure is not registered."""
    try:
        return str(get_measure(measure).facts.cite)
    except InputError:
        return ""


def split_citation(cite: str) -> list[str]:
    """Split a short citation into its individual works.

    >>> split_citation("Cohen 1960, 1968; Sáez, Luengo & Herrera 2011")
    ['Cohen 1960', 'Cohen 1968', 'Sáez, Luengo & Herrera 2011']
    """
    works = []
    for citation in filter(None, (part.strip() for part in cite.split(";"))):
        years_match = re.fullmatch(r"(.*?) (\d{4}(?:, \d{4})+)", citation)
        works += [f"{years_match[1]} {year}" for year in years_match[2].split(", ")] if years_match else [citation]
    return works


@cache
def read_bibliography() -> dict[str, str]:
    """Read the bibliography: a mapping from short citations to full references."""
    text = files("fairtrial.report").joinpath("bibliography.toml").read_text(encoding="utf-8")
    return {name: str(work) for name, work in tomllib.loads(text).items()}


@section("reproduce", title="How to reproduce", order=180, serves=("study",), schemes="none", question="how")
def build_reproduction_section(source: ReportSource) -> Section:
    """Show the commands and the study file that reproduce the results. For a predictions file, show only the command."""
    results = source.get_all_results()
    if has_only_predictions(results):
        sentence = build_sentence("The predictions were made elsewhere. Judging the same file again gives the same report.")
        code = f"fairtrial judge {shlex.quote(results.archive.name)}\n"
        return Section("reproduce", "How to reproduce", (sentence,), (), _build_hash_tables(results), code=code)
    text, why_not = format_study_file(results)
    versions = collect_versions(results)
    subsections = [subsection for subsection in [_build_commands_section(results, versions, bool(text))] if subsection.code]
    if text:
        subsections.append(
            Section(
                "reproduce-study",
                "Study file",
                (build_sentence("Save this as {name}.", name=_format_study_filename(results)),),
                code=text,
            )
        )
    sentences = (build_sentence("The same versions, study file and data give the same results, with any number of workers."),)
    notes = (f"The study cannot be written as a file: {why_not}.",) if why_not else ()
    return Section("reproduce", "How to reproduce", sentences, (), _build_hash_tables(results), notes, tuple(subsections))


def format_study_file(results: Results) -> tuple[str, str]:
    """Format the study as TOML. If this is impossible, return an empty string and the reason."""
    declaration = results.archive.declaration
    sections: dict[str, Any] = {name: declaration[name] for name in _DECLARED_SECTIONS if declaration.get(name)}
    try:
        study = Study(**sections, seed=results.archive.seed, name=results.archive.name, allow_local_code=True)
        return study.to_toml(), ""
    except FairtrialError as error:
        return "", "; ".join(str(error).splitlines()).rstrip(".")


def collect_versions(results: Results) -> dict[str, str]:
    """Collect the package versions of the last run and of the learners.

    The version of Python is included if it is known.
    """
    runs = results.archive.runs
    versions = {str(name): str(version) for name, version in (runs[-1].get("versions") or {}).items()} if runs else {}
    for learner in results.archive.learners:
        for name, version in learner.versions.items():
            versions.setdefault(str(name), str(version))
    return versions


def _build_commands_section(results: Results, versions: dict[str, str], has_study_file: bool) -> Section:
    lines = []
    packages = [f"{name}=={version}" for name, version in versions.items() if name != "python"]
    if "python" in versions:
        lines.append(f"# Python {versions['python']}")
    lines += [f"pip install {shlex.join(packages)}"] if packages else []
    store = shlex.quote(f"{results.archive.name}.fairtrial")
    if has_study_file:
        lines += [
            f"fairtrial run {shlex.quote(_format_study_filename(results))} --store {store}",
            f"fairtrial report {store} --out report.html",
        ]
    sentences: tuple[Sentence, ...] = (
        build_sentence("Install the versions of the last run, run the study and write this page:"),
    )
    if not has_study_file:
        sentences = (build_sentence("Install the versions of the last run, then run the Python code that declares the study."),)
    return Section("reproduce-commands", "Commands", sentences, code="".join(f"{line}\n" for line in lines))


def _format_study_filename(results: Results) -> str:
    return f"{results.archive.name}.toml"


def _build_hash_tables(results: Results) -> tuple[ReportTable, ...]:
    frame = build_hashes_frame(results)
    note = "Equal hashes mean equal results or equal data, regardless of time and computer."
    return (ReportTable("reproduce-hashes", "Hashes", frame, note=note),)


def build_hashes_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the hashes of the results file, if there is one, and of the data sets."""
    import pandas as pd

    lines = [("data set", dataset.name, dataset.content_hash) for dataset in results.archive.datasets]
    file = getattr(results.archive, "file", None)
    if file is not None:
        with open_store(file.path) as store:
            lines.insert(0, ("results", f"{results.archive.name}.fairtrial", store.compute_digest()))
    return pd.DataFrame(lines, columns=["item", "name", "hash"])


@section("reproduce", title="How to reproduce", order=180, serves=("judgement",), question="how")
def build_judgement_reproduction_section(source: ReportSource) -> Section:
    """Show the command that reproduces a judgement, and the hashes of the judged files."""
    judgement = source.get_judgement()
    origin = judgement.origin
    version = build_sentence("This judgement was made with fairtrial {version}.", version=origin.version or "(unknown version)")
    if not origin.files:
        sentence = build_sentence(
            "The predictions were passed as a frame. Write them to a file to judge them from the command line."
        )
        return Section("reproduce", "How to reproduce", (sentence, version))
    sentence = build_sentence("The same files and the same version of fairtrial give the same numbers.")
    table = ReportTable("reproduce-files", "Judged files", build_files_frame(judgement))
    code = f"pip install fairtrial=={origin.version}\n{origin.command}\n"
    return Section("reproduce", "How to reproduce", (sentence, version), (), (table,), code=code)


def build_files_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a frame of the judged files and their SHA-256 hashes."""
    import pandas as pd

    return pd.DataFrame(list(judgement.origin.files), columns=["file", "SHA-256"])
