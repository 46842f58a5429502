"""What sections call the conditions and measures of a study, and how they put names and sentences in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fairtrial.report.places import CLEAN as CLEAN, keys_in_order, main_of, told
from fairtrial.report.sentence import Sentence
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    from fairtrial.study import Results

_MOST_NAMED = 8
keys_of, main_condition, told_condition = keys_in_order, main_of, told


def where_words(condition: ConditionFacts) -> str:
    """The condition as it stands in a sentence.

    >>> where_words(ConditionFacts("class-noise", 0.1, "", {})), where_words(ConditionFacts("clean", 0.0, "", {}))
    ('under class-noise 0.1', 'on clean data')
    """
    return "on clean data" if condition.name == CLEAN else f"under {told_condition(condition)}"


def judged_measure(results: Results) -> str:
    """The measure that the study is judged by: that of its verdict, or the first that it declares."""
    declared = results.archive.declaration.get("verdict")
    chosen = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(chosen or results.measures[0])


def listed(names: Sequence[str]) -> str:
    """Names in a row, the last after "and"; the first few of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) > _MOST_NAMED:
        return ", ".join(names[:_MOST_NAMED]) + " and others"
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def measure_words(measure: str) -> str:
    """A measure's name as it stands in a sentence.

    >>> measure_words("balanced_accuracy")
    'balanced accuracy'
    """
    return measure.replace("_", " ")


def joined(sentences: Sequence[Sentence]) -> Sentence:
    """Several sentences as one, one after the other.

    >>> joined([Sentence("First."), Sentence(" Second.")]).text
    'First. Second.'
    """
    return Sentence(
        "".join(each.text for each in sentences),
        tuple(name for each in sentences for name in each.names),
        tuple(number for each in sentences for number in each.numbers),
    )


def in_a_row(sentences: Sequence[Sentence | None]) -> Sentence:
    """Whole sentences as one, with a blank between them; those that are None are left out.

    >>> in_a_row([Sentence("First."), None, Sentence("Second.")]).text
    'First. Second.'
    """
    return joined([each for one in sentences if one is not None for each in (one, Sentence(" "))][:-1])
