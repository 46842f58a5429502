"""What a judgement says: summary, text tables, notes and methodology checks, made from its tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtrial._text import choose_p_format, format_p_value
from fairtrial.measures import Measure
from fairtrial.predictions.statistics import PositiveClasses

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Verdict

# The limits of FT002, FT003 and FT008 in the checks of studies, and the rows below which every interval is wide.
MAX_IMBALANCE_RATIO, MAJORITY_SENSITIVE, MIN_CLASS_ROWS, MIN_ROWS = 3.0, ("accuracy", "error_rate"), 10, 30
MIN_FRIEDMAN_DATASETS = 10

METHODOLOGY_COLUMNS = ("number", "check", "dataset", "subject", "value", "limit", "proportion", "remedy")

ADJUSTMENT_CAUSE = "p, once adjusted for the number of pairs, does not reject"
OTHER_CAUSE = "the test is made in another way, or at another level, than the interval, and does not reject"
CAUSES = (ADJUSTMENT_CAUSE, OTHER_CAUSE)

_TEST_NAMES = {
    "mcnemar": "McNemar's test",
    "delong": "DeLong's test",
    "bootstrap_difference": "the bootstrap",
    "permutation_test": "the permutation test",
}


def summarize_judgement(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    main: Measure,
    level: float,
    alpha: float,
    verdict: Verdict | None,
    positives: PositiveClasses | None = None,
) -> tuple[str, ...]:
    """Say which model is best and how sure that is, for each data set and then over data sets or splits."""
    sentences = []
    datasets = list(dict.fromkeys(scores["dataset"]))
    for name in datasets:
        dataset_scores = scores[scores["dataset"] == name]
        main_scores = dataset_scores[dataset_scores["measure"] == main.name]
        where = f"On {name}: " if len(datasets) > 1 else ""
        text = where + _describe_best_model(main_scores, pairs[pairs["dataset"] == name], main, level, alpha)
        sentences.append(" ".join([text, *([] if positives is None else _describe_below_chance(dataset_scores, positives))]))
    if verdict is not None:
        scope = "Over the data sets" if verdict.unit == "data set" else "Over the splits"
        sentences.append(f"{scope}: {replace_learner_with_model(' '.join(verdict.findings), verdict.table.learners)}")
    return tuple(sentences)


def _describe_best_model(scores: pd.DataFrame, pairs: pd.DataFrame, main: Measure, level: float, alpha: float) -> str:
    ranked = scores[scores["estimate"].notna()].sort_values("estimate", ascending=main.facts.direction == "min", kind="stable")
    if not len(ranked):
        return f"{main.name} has no value here, so that there is nothing to say."
    best = ranked.iloc[0]
    limits = f" ({100 * level:g} % interval {best['low']:.4g} to {best['high']:.4g})" if np.isfinite(best["low"]) else ""
    if len(ranked) == 1:
        value = format_distinct(float(best["estimate"]), ())
        return f"{best['model']} has {main.name} {value}{limits}.{_compare_with_chance(best, main)}"
    best_models = [str(name) for name in ranked.loc[ranked["estimate"] == best["estimate"], "model"]]
    value = format_distinct(float(best["estimate"]), ranked["estimate"])
    head = f"{best['model']} has the best {main.name}, {value}{limits}."
    if len(best_models) > 1:
        head = f"{_join_names(best_models)} have the best {main.name}, {value}."
    deciding = pairs[pairs["primary"]]
    others = [str(name) for name in ranked["model"] if str(name) not in best_models]
    lines = [
        line for line in (_find_comparison(best_models[0], other_model, deciding) for other_model in others) if line is not None
    ]
    subject = "It" if len(best_models) == 1 else best_models[0]
    return " ".join([head, *_describe_comparisons(lines, subject, main, alpha), *_describe_tests(lines, deciding, alpha)])


def _describe_comparisons(lines: Sequence[dict[str, Any]], subject: str, main: Measure, alpha: float) -> list[str]:
    """Say which models the best one differs from; on the rows that both predict, another model may be better."""
    sign = 1 if main.facts.direction == "max" else -1
    significant = [line for line in lines if line["p_adjusted"] <= alpha]
    kinds = (
        (f"{subject} is ahead of ", [line for line in significant if sign * line["difference"] > 0]),
        (f"{subject} cannot be told apart from ", [line for line in lines if not line["p_adjusted"] <= alpha]),
        (
            f"On the rows that both predict {'it' if subject == 'It' else subject} is behind ",
            [line for line in significant if not sign * line["difference"] > 0],
        ),
    )
    many = len(lines) > 1
    return [
        f"{prefix}{_join_names([_format_comparison(line, many, alpha) for line in comparisons])}."
        for prefix, comparisons in kinds
        if comparisons
    ]


def _describe_tests(lines: Sequence[dict[str, Any]], deciding: pd.DataFrame, alpha: float) -> list[str]:
    """Say which tests decide, how p is adjusted, and why an interval without zero may not be significant."""
    tests = list(dict.fromkeys(str(line["test"]) for line in lines))
    if not tests:
        return []
    many = int(deciding["p_adjusted"].notna().sum())
    adjustment = f", p adjusted by Holm's procedure over {many} pairs; intervals are of each pair alone" if many > 1 else ""
    sentences = [f"By {' and '.join(_TEST_NAMES.get(test, test) for test in tests)} at level {alpha:g}{adjustment}."]
    names = {cause: [str(line["second"]) for line in lines if explain_disagreement(line, alpha) == cause] for cause in CAUSES}
    return sentences + [
        f"The interval of the difference from {_join_names(models)} excludes zero, but {cause}."
        for cause, models in names.items()
        if models
    ]


def explain_disagreement(line: Any, alpha: float) -> str:
    """Explain why a difference is not significant although its interval excludes zero; empty if they agree."""
    excludes = line["low"] > 0 or line["high"] < 0
    if not excludes or not line["p_adjusted"] > alpha:
        return ""
    return ADJUSTMENT_CAUSE if line.get("p_value", np.nan) <= alpha else OTHER_CAUSE


def _compare_with_chance(line: pd.Series[Any], main: Measure) -> str:
    """Say whether a single model is better than chance, if the chance level of the measure is known."""
    chance, low, high = main.facts.chance, float(line["low"]), float(line["high"])
    if chance is None or not np.isfinite(low):
        return ""
    is_above, is_below = (low > chance, high < chance) if main.facts.direction == "max" else (high < chance, low > chance)
    relation = "better than" if is_above else "worse than" if is_below else "not surely better than"
    return f" That is {relation} guessing ({chance:g})."


def _find_comparison(best: object, second: object, deciding: pd.DataFrame) -> dict[str, Any] | None:
    """Find the comparison of two models, the best one first."""
    for line in deciding.to_dict("records"):
        if line["first"] == best and line["second"] == second:
            return {str(key): value for key, value in line.items()}
        if line["first"] == second and line["second"] == best:
            flipped = {"difference": 0.0 - line["difference"], "low": 0.0 - line["high"], "high": 0.0 - line["low"]}
            return {**{str(key): value for key, value in line.items()}, **flipped, "second": second}
    return None


def _format_comparison(line: dict[str, Any], many: bool, alpha: float) -> str:
    limits = f", interval {line['low']:.4g} to {line['high']:.4g}" if np.isfinite(line["low"]) else ""
    suffix = " adjusted" if many else ""
    p = format_p_value(line["p_adjusted"], alpha, floor=bool(line.get("at_minimum", False)))
    return f"{line['second']} (difference {line['difference']:.4g}{limits}, {p}{suffix})"


def _describe_below_chance(scores: pd.DataFrame, positives: PositiveClasses) -> list[str]:
    """Say which models have an AUC below chance, and what to do."""
    names = [str(name) for name in positives.select_below_chance(scores)["model"]]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    return [
        f"By auc {_join_names(names)} {verb} worse than guessing: perhaps the scores are those of the other class; "
        f"{positives.remedy}."
    ]


def replace_learner_with_model(text: str, names: Sequence[str]) -> str:
    """Replace the word learner by model, except in names.

    >>> replace_learner_with_model("The learners are equal, learner1 too.", ["learner1"])
    'The models are equal, learner1 too.'
    """
    protected = "|".join(re.escape(name) for name in sorted(map(str, names), key=len, reverse=True))
    return re.sub(rf"({protected})|\blearner(s?)\b", lambda match: match[1] or f"model{match[2]}", text)


def format_distinct(value: float, others: Iterable[float]) -> str:
    """Format a number with 4 digits, or more if it would look like another one of them or like 1.

    >>> format_distinct(0.999977, [0.999977, 0.999936]), format_distinct(0.91234, [0.8]), format_distinct(1.0, [0.99999])
    ('0.99998', '0.9123', '1')
    """
    different = [number for number in (*others, 1.0) if number != value]
    for digits in range(4, 17):
        text = f"{value:.{digits}g}"
        if text not in {f"{number:.{digits}g}" for number in different}:
            return text
    return repr(value)


def _join_names(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def find_unequal_rows(scores: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Find data sets whose models are scored on different numbers of rows, with these numbers."""
    row_counts = {
        str(name): {str(model): int(rows) for model, rows in dataset_scores.groupby("model", sort=False)["rows"].max().items()}
        for name, dataset_scores in scores.groupby("dataset", sort=False)
    }
    return {name: rows for name, rows in row_counts.items() if len(set(rows.values())) > 1}


def format_tables(scores: pd.DataFrame, pairs: pd.DataFrame, alpha: float) -> str:
    """Format the scores and, if there are several models, the pairs as tables of plain text."""
    methods = format_methods(scores)
    pair_table = ["", format_pairs(pairs, alpha)] if len(pairs) else []
    return "\n".join([format_scores(scores), *([methods] if methods else []), *pair_table])


def format_scores(scores: pd.DataFrame) -> str:
    """Format models side by side, each estimate with its interval; with rows if models have different ones."""
    import pandas as pd

    keys = ["dataset", "measure"] if scores["dataset"].nunique() > 1 else ["measure"]
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in scores.to_dict("records"):
        cell = _format_interval_cell(line["estimate"], line["low"], line["high"])
        lines.setdefault(tuple(line[key] for key in keys), {})[line["model"]] = cell
    for name, rows in find_unequal_rows(scores).items():
        lines[(name, "rows") if len(keys) > 1 else ("rows",)] = {model: f"{count:,}" for model, count in rows.items()}
    models = list(dict.fromkeys(scores["model"]))
    table = [[*key, *(cells.get(model, "") for model in models)] for key, cells in lines.items()]
    return pd.DataFrame(table, columns=[*keys, *models]).to_string(index=False)


def _format_interval_cell(estimate: float, low: float, high: float) -> str:
    if np.isnan(estimate):
        return "-"
    return f"{estimate:.4f}" + (f" [{low:.4f}, {high:.4f}]" if np.isfinite(low) and np.isfinite(high) else "")


def format_methods(scores: pd.DataFrame) -> str:
    """Say how the intervals are computed."""
    with_interval = scores[(scores["method"] != "") & scores["low"].notna()]
    parts = []
    for name, subset in with_interval.groupby("method", sort=False):
        parts.append(f"{name} ({', '.join(dict.fromkeys(map(str, subset['measure'])))})")
    return f"Intervals: {'; '.join(parts)}." if parts else ""


def format_pairs(pairs: pd.DataFrame, alpha: float) -> str:
    """Format the pairs as a table of plain text; undefined numbers are left empty."""
    table = pairs if pairs["dataset"].nunique() > 1 else pairs.drop(columns="dataset")
    columns = ["dataset", "first", "second", "test", "measure", "difference", "low", "high", "p_value", "p_adjusted"]
    table = table[[name for name in columns if name in table]]
    numbers = {name: [_format_number(value, "{:.4g}") for value in table[name]] for name in ("difference", "low", "high")}
    at_minimum = pairs["at_minimum"].to_numpy(dtype=bool)
    for name in ("p_value", "p_adjusted"):
        numbers[name] = [
            ("<=" if is_minimum else "") + _format_number(p_value, choose_p_format([p_value], alpha))
            for p_value, is_minimum in zip(table[name], at_minimum, strict=True)
        ]
    return table.assign(**numbers).to_string(index=False)


def _format_number(value: float, template: str) -> str:
    return "" if np.isnan(value) else template.format(value)


class MethodologyRule(NamedTuple):
    """A check: its title, a sentence with placeholders for names and numbers, and the remedy."""

    title: str
    template: str
    remedy: str


METHODOLOGY_RULES = {
    "FT002": MethodologyRule(
        "Accuracy on imbalanced data",
        "{where}models are judged by {subject}, but the largest class has {value} times the rows of the smallest: naming it "
        "always has an accuracy of {proportion}.",
        "judge by balanced_accuracy, kappa, mcc, auc or h_measure (--measure)",
    ),
    "FT003": MethodologyRule(
        "Tiny classes",
        "{where}the class {subject} has {value} rows, fewer than {limit}: a rate over them moves by a large step with each.",
        "add rows of this class, or read its rates with care",
    ),
    "few rows": MethodologyRule(
        "Few rows",
        "{where}there are {value} rows, fewer than {limit}: intervals and tests say little.",
        "add rows",
    ),
    "FT008": MethodologyRule(
        "Too few data sets for the test",
        "The test {subject} has {value} data sets on which models can differ, and should have {limit} or more.",
        "add data sets; until then speak of these data sets only",
    ),
}


VALUE_FORMATS = {"FT002": "{:.3g}", "FT003": "{:.0f}", "few rows": "{:.0f}", "FT008": "{:.0f}"}


def check_methodology(counts: Mapping[str, Mapping[str, int]], main: Measure, verdict: Verdict | None) -> pd.DataFrame:
    """Build one row per violated rule; `counts` are the rows of each class of each data set.

    >>> from fairtrial.measures import accuracy
    >>> check_methodology({"data": {"no": 95, "yes": 5}}, accuracy, None)["number"].tolist()
    ['FT002', 'FT003']
    """
    import pandas as pd

    lines = [line for name, class_counts in counts.items() for line in _check_class_counts(name, class_counts, main)]
    if verdict is not None:
        lines += _check_verdict(verdict)
    return pd.DataFrame(lines, columns=list(METHODOLOGY_COLUMNS)).astype({"value": float, "limit": float, "proportion": float})


def _check_class_counts(name: str, counts: Mapping[str, int], main: Measure) -> Iterator[dict[str, Any]]:
    present = {label: rows for label, rows in counts.items() if rows}
    if not present:
        return
    rows, smallest = sum(present.values()), min(present, key=lambda label: present[label])
    ratio, proportion = max(present.values()) / present[smallest], max(present.values()) / rows
    if main.name in MAJORITY_SENSITIVE and ratio >= MAX_IMBALANCE_RATIO:
        yield _build_check_row("FT002", name, main.name, ratio, MAX_IMBALANCE_RATIO, proportion)
    if present[smallest] < MIN_CLASS_ROWS:
        yield _build_check_row("FT003", name, smallest, present[smallest], MIN_CLASS_ROWS)
    if rows < MIN_ROWS:
        yield _build_check_row("few rows", name, "", rows, MIN_ROWS)


def _check_verdict(verdict: Verdict) -> Iterator[dict[str, Any]]:
    if verdict.unit == "split":
        return
    test = verdict.outcome.test
    cases = verdict.outcome.n if test == "wilcoxon" else len(verdict.table.datasets)
    required = (
        find_min_wilcoxon_n(verdict.alpha) if test == "wilcoxon" else max(MIN_FRIEDMAN_DATASETS, len(verdict.table.learners))
    )
    if cases < required:
        yield _build_check_row("FT008", "", test, cases, required)


def find_min_wilcoxon_n(alpha: float) -> int:
    """Find the smallest n with which Wilcoxon's two-sided test can be significant: its smallest p is 2 ** (1 - n)."""
    return next(n for n in count(1) if 2.0 ** (1 - n) <= alpha)


def _build_check_row(
    number: str, dataset: str, subject: str, value: float, limit: float, proportion: float = float("nan")
) -> dict[str, Any]:
    rule = METHODOLOGY_RULES[number]
    values = (number, rule.title, dataset, subject, float(value), float(limit), proportion, rule.remedy)
    return dict(zip(METHODOLOGY_COLUMNS, values, strict=True))


def format_methodology_notes(checks: pd.DataFrame, several: bool) -> tuple[str, ...]:
    """Write a sentence about each violated rule."""
    return tuple(_format_methodology_note(line, several) for line in checks.to_dict("records"))


def _format_methodology_note(line: Mapping[Any, Any], several: bool) -> str:
    number = str(line["number"])
    where = f"On {line['dataset']} " if several else ""
    text = METHODOLOGY_RULES[number].template.format(
        where=where,
        subject=line["subject"],
        value=VALUE_FORMATS[number].format(line["value"]),
        limit=f"{line['limit']:g}",
        proportion=f"{line['proportion']:.3f}",
    )
    text = text[0].upper() + text[1:]
    prefix = f"{number}: " if number.startswith("FT") else ""
    return f"{prefix}{text} Remedy: {line['remedy']}."
