"""What sections call the conditions and measures of a study, and keys made of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from fairtrial.report.sentence import Sentence
from fairtrial.study.archive import ConditionFacts

if TYPE_CHECKING:
    from fairtrial.study import Results

CLEAN = "clean"
_MOST_NAMED = 8


def told_condition(condition: ConditionFacts) -> str:
    """Its name, and its level where it has one.

    >>> told_condition(ConditionFacts("class-noise", 0.1, "", {})), told_condition(ConditionFacts("clean", 0.0, "", {}))
    ('class-noise 0.1', 'clean')
    """
    return condition.name if condition.name == CLEAN or isnan(condition.level) else f"{condition.name} {condition.level:g}"


def where_words(condition: ConditionFacts) -> str:
    """The condition as it stands in a sentence.

    >>> where_words(ConditionFacts("class-noise", 0.1, "", {})), where_words(ConditionFacts("clean", 0.0, "", {}))
    ('under class-noise 0.1', 'on clean data')
    """
    return "on clean data" if condition.name == CLEAN else f"under {told_condition(condition)}"


def main_condition(conditions: Sequence[ConditionFacts]) -> ConditionFacts:
    """The condition that is judged first: clean, or the first of a study without it."""
    return next((each for each in conditions if each.name == CLEAN), conditions[0])


def judged_measure(results: Results) -> str:
    """The measure that the study is judged by: that of its verdict, or the first that it declares."""
    declared = results.archive.declaration.get("verdict")
    chosen = declared.get("measure") if isinstance(declared, Mapping) else None
    return str(chosen or results.measures[0])


def keys_of(names: Iterable[str]) -> list[str]:
    """A key for each name: lower case with hyphens, numbered where two names give the same.

    >>> keys_of(["f_score", "class-noise 0.2", "F score", "<b>"])
    ['f-score', 'class-noise-0-2', 'f-score-2', 'b']
    """
    found: list[str] = []
    for name in names:
        key = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "other"
        number, first = 1, key
        while key in found:
            number += 1
            key = f"{first}-{number}"
        found.append(key)
    return found


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
