"""Decision curves: the net benefit of acting on the probabilities of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial.predictions.probabilities import find_useful_thresholds
from fairtrial.report.figures.probabilities import draw_decision_curves
from fairtrial.report.judgement import drop_single_dataset, list_datasets, rank_judged_models, select_largest_datasets
from fairtrial.report.section import Figure, ReportTable, Section, Sentence, section
from fairtrial.report.selection import make_unique_keys

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource

# Thresholds in the table. The figure shows all thresholds.
_TABLE_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@section("decision-curves", title="Decision curves", order=97, serves=("judgement",), question="threshold")
def build_judgement_section(source: ReportSource) -> Section | None:
    """Compare the net benefit of models with that of treating all or no rows. Return None if there are no decision curves."""
    judgement = source.get_judgement()
    if not len(judgement.decisions):
        return None
    several = len(list_datasets(judgement)) > 1
    formats = dict.fromkeys(["net benefit", "treat all", "difference", "low", "high"], "{:.4f}") | {"threshold": "{:.2f}"}
    names = {"net_benefit": "net benefit", "treat_all": "treat all"}
    curves = _select_thresholds(judgement.decisions).drop(columns=["class", "treat_none"]).rename(columns=names)
    differences = _select_thresholds(judgement.decision_differences)
    tables = (
        ReportTable(
            "decision-curves-models",
            "Net benefit",
            drop_single_dataset(curves, several),
            formats,
            "Net benefit: true positives minus false positives times t / (1 - t), per row, at threshold t. Treating no row has "
            "a net benefit of 0. The confidence limits are pointwise.",
        ),
        ReportTable(
            "decision-curves-differences",
            "Differences in net benefit on the same rows",
            drop_single_dataset(differences, several),
            formats,
            "Difference: first minus second. The confidence limits are pointwise.",
            None,
            True,
        ),
    )
    return Section("decision-curves", "Decision curves", _describe(judgement), _draw_figures(judgement), tables)


def _select_thresholds(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["threshold"].round(6).isin(_TABLE_THRESHOLDS)].reset_index(drop=True)


def _describe(judgement: Judgement) -> tuple[Sentence, ...]:
    """Describe the thresholds at which each model is useful on the largest data sets. The best model comes first."""
    several, sentences = len(list_datasets(judgement)) > 1, []
    for dataset in select_largest_datasets(judgement):
        decisions, differences = (
            frame[frame["dataset"] == dataset] for frame in (judgement.decisions, judgement.decision_differences)
        )
        names = [name for name in rank_judged_models(judgement, dataset) if name in set(decisions["model"])]
        findings = find_useful_thresholds(decisions, differences, names)
        if not findings:
            continue
        useful = [finding for finding in findings if finding.kind != "no_useful_threshold"]
        useless = tuple(str(finding["model"]) for finding in findings if finding.kind == "no_useful_threshold")
        ranges = [render(finding, "model") for finding in useful]
        values = {"where": f" on {dataset}" if several else "", "ranges": "; ".join(ranges), "models": useless}
        kinds = [*(["useful_ranges"] if ranges else []), *(["no_useful_threshold"] if useless else [])]
        text = " ".join(render(Finding.of(kind, **values), "model") for kind in kinds)
        sentences.append(Sentence(text, when={"dataset": dataset} if several else {}))
    return tuple(sentences)


def _draw_figures(judgement: Judgement) -> tuple[Figure, ...]:
    several, chosen = len(list_datasets(judgement)) > 1, select_largest_datasets(judgement)
    figures = []
    for name, key in zip(chosen, make_unique_keys(chosen), strict=True):
        curves = judgement.decisions[judgement.decisions["dataset"] == name]
        if not len(curves):
            continue
        frames = {str(model): part.reset_index(drop=True).round(5) for model, part in curves.groupby("model", sort=False)}
        title = f"Decision curves{f' on {name}' if several else ''}: class {curves['class'].iloc[0]}"
        alt = "Net benefit against the threshold, one line per model, with the net benefit of treating all rows and none."
        chart = draw_decision_curves(frames, title=title, level=judgement.level)
        when = {"dataset": name} if several else {}
        figures.append(Figure(f"decision-curves-{key}", title, chart, alt, curves.reset_index(drop=True), when=when))
    return tuple(figures)
