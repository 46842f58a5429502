"""Names and lists as they stand in sentences: of conditions, measures, tests, and several things in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fairtrial.measures import registry
from fairtrial.report.section import Sentence
from fairtrial.significance.names import get_display_name
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import CLEAN, format_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_MOST_NAMED = 8


def format_condition_phrase(condition: ConditionFacts) -> str:
    """The condition as it stands in a sentence.

    >>> format_condition_phrase(ConditionFacts("class-noise", 0.1, "", {}))
    'under class-noise 0.1'
    >>> format_condition_phrase(ConditionFacts("clean", 0.0, "", {}))
    'on clean data'
    """
    return "on clean data" if condition.name == CLEAN else f"under {format_condition(condition)}"


def get_verdict_measure_name(results: Results) -> str:
    """The measure that the study is judged by: that of its verdict, or the first that it declares."""
    declared = results.archive.declaration.get("verdict")
    chosen = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(chosen or results.measures[0])


def join_names(names: Sequence[str]) -> str:
    """Names in a row, the last after "and"; the first few of many.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) > _MOST_NAMED:
        return ", ".join(names[:_MOST_NAMED]) + " and others"
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def format_measure_name(measure: str) -> str:
    """Return the display name of a measure.

    >>> format_measure_name("balanced_accuracy"), format_measure_name("auc"), format_measure_name("my_measure")
    ('balanced accuracy', 'AUC', 'my measure')
    """
    return registry[measure].display_name if measure in registry else measure.replace("_", " ")


def concat_sentences(sentences: Sequence[Sentence]) -> Sentence:
    """Several sentences as one, one after the other.

    >>> concat_sentences([Sentence("First."), Sentence(" Second.")]).text
    'First. Second.'
    """
    return Sentence(
        "".join(sentence.text for sentence in sentences),
        tuple(name for sentence in sentences for name in sentence.names),
        tuple(number for sentence in sentences for number in sentence.numbers),
    )


def join_sentences(sentences: Sequence[Sentence | None]) -> Sentence:
    """Whole sentences as one, with a blank between them; those that are None are left out.

    >>> join_sentences([Sentence("First."), None, Sentence("Second.")]).text
    'First. Second.'
    """
    return concat_sentences(
        [piece for sentence in sentences if sentence is not None for piece in (sentence, Sentence(" "))][:-1]
    )


def describe_test(name: str) -> str:
    """A test in words; the name itself where there are none.

    >>> describe_test("corrected_resampled_t"), describe_test("my_test")
    ('corrected resampled t test (Nadeau-Bengio)', 'my_test')
    """
    return get_display_name(name)


def find_best_names(values: pd.Series[float], better: str) -> list[str]:
    """The names of the best, float noise left aside."""
    rounded = values.round(12)
    return [str(name) for name in values.index[rounded == (rounded.max() if better == "max" else rounded.min())]]
