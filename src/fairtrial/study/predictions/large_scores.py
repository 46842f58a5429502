"""The scores of a model in a large file: SQL for each class, checked by counting, probabilities told from other scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fairtrial.errors import InputError
from fairtrial.study.predictions.large_file import LargeFile, name
from fairtrial.study.predictions.prediction_checks import EXACT, ROUNDED, Notes, tell_nothing
from fairtrial.study.predictions.prediction_names import ModelColumns, called_probability

Kind = Literal["probability", "decision"]


@dataclass(frozen=True)
class LargeScores:
    """SQL for the score of each class and for the class that they speak for (None where nothing tells where to cut)."""

    values: tuple[str, ...]
    kind: Kind
    label: str | None
    lone: bool = False


class _Seen(NamedTuple):
    """In the columns of scores: extremes, the largest distance of a sum from one, lines with a sum near it, with zeros."""

    least: float
    most: float
    off: float
    near: int
    zeros: int
    rows: int


def given_scores(file: LargeFile, one: ModelColumns, where: str, who: str) -> dict[str | None, str]:
    """Class to column, of the columns that hold scores on these lines; a class that is not here leaves its column empty."""
    if not one.scores:
        return {}
    parts = [f"count(*) FILTER (WHERE NOT {file.missing(column)})" for _, column in one.scores]
    parts += [f"count(*) FILTER (WHERE NOT {file.missing(column)} AND isfinite({number(column)}))" for _, column in one.scores]
    rows, *counts = file.rows(f"SELECT count(*), {', '.join(parts)} FROM judged WHERE {where}")[0]
    found: dict[str | None, str] = {}
    for (text, column), known, finite in zip(one.scores, counts[: len(one.scores)], counts[len(one.scores) :], strict=True):
        if known and finite < rows:
            raise InputError(
                f"scores of {who} must be finite numbers, got {rows - finite:,} lines where they are not in column {column!r}: "
                "drop these lines or give them a score"
            )
        if known:
            found[text] = column
    return found


def scores_in_sql(
    file: LargeFile, found: Mapping[str | None, str], texts: Sequence[str], place: int, where: str, who: str, notes: Notes
) -> LargeScores | None:
    """The scores of a model on the classes of its data set; `place` is that of a lone column of the positive class."""
    if not found:
        return None
    if set(found) == {None} or (len(found) == 1 and len(texts) == 2):
        text, column = next(iter(found.items()))
        if len(texts) != 2:
            raise InputError(
                f"scores of {who} must have a column for each of the {len(texts)} classes, got one column: name them "
                f"score[{texts[0]}], score[{texts[1]}] ..., or pass scores= as a mapping"
            )
        return _lone(column, place if text is None else texts.index(text), _seen(file, [column], where), who)
    missing = [text for text in texts if text not in found]
    if missing:
        raise InputError(
            f"scores of {who} must have a column for each class, got none for {missing[0]!r}: add it, or pass scores= as a "
            "mapping of class to column"
        )
    columns = [found[text] for text in texts]
    values = tuple(map(number, columns))
    seen = _seen(file, columns, where)
    probable = _probable(columns, seen, who, notes)
    if probable and seen.off > EXACT:
        values = tuple(f"({each} / ({' + '.join(values)}))" for each in values)
    return LargeScores(values, "probability" if probable else "decision", highest(values))


def number(column: str) -> str:
    """SQL for a cell as a number."""
    return f"CAST({name(column)} AS DOUBLE)"


def highest(values: Sequence[str]) -> str:
    """SQL for the class of the highest score, the first of equal ones."""
    most = f"greatest({', '.join(values)})"
    return "(CASE " + " ".join(f"WHEN {each} = {most} THEN {i}" for i, each in enumerate(values)) + " END)"


def losses_in_sql(scores: Sequence[str], truth: str, positive: int | None) -> tuple[str, str]:
    """SQL for what each row adds to the Brier score and to the log loss (NULL where that is infinite).

    Of two classes, and where one of several is named as the positive one, they are of that class against the rest.
    """
    if positive is None:
        apart = [f"({each} - ({truth} = {i})::INT)" for i, each in enumerate(scores)]
        square = " + ".join(f"{each} * {each}" for each in apart)
        cases = " ".join(f"WHEN {truth} = {i} THEN {each}" for i, each in enumerate(scores))
        return f"({square})", f"-ln(nullif(greatest((CASE {cases} END), 0), 0))"
    own, came = scores[positive], f"({truth} = {positive})"
    likely = f"(CASE WHEN {came} THEN {own} ELSE 1 - {own} END)"
    return f"(({own} - {came}::INT) * ({own} - {came}::INT))", f"-ln(nullif(greatest({likely}, 0), 0))"


def _seen(file: LargeFile, columns: Sequence[str], where: str) -> _Seen:
    values = [number(column) for column in columns]
    off, near = f"abs({' + '.join(values)} - 1)", ROUNDED * len(values)
    low, high = (
        (values[0], values[0]) if len(values) == 1 else (f"least({', '.join(values)})", f"greatest({', '.join(values)})")
    )
    zeros = " AND ".join(f"{each} = 0" for each in values)
    counts = [f"count(*) FILTER (WHERE {what})" for what in (f"{off} <= {near!r}", zeros)]
    parts = f"min({low}), max({high}), max({off}), {', '.join(counts)}, count(*)"
    return _Seen(*file.rows(f"SELECT {parts} FROM judged WHERE {where}")[0])


def _lone(column: str, place: int, seen: _Seen, who: str) -> LargeScores:
    """Scores of one of two classes: the other one's follow, and labels where they can be cut."""
    within = seen.least >= 0 and seen.most <= 1
    if not within and called_probability(column):
        raise InputError(
            f"probabilities of {who} must lie between 0 and 1, got {seen.least if seen.least < 0 else seen.most:g} in column "
            f"{column!r}: call the column a score if it does not hold probabilities"
        )
    own = number(column)
    other = f"(1 - {own})" if within else f"(-{own})"
    values = (other, own) if place == 1 else (own, other)
    cut = within or (seen.least <= 0 < seen.most if place == 1 else seen.least < 0 <= seen.most)
    return LargeScores(values, "probability" if within else "decision", highest(values) if cut else None, not within)


def _probable(columns: Sequence[str], seen: _Seen, who: str, notes: Notes) -> bool:
    """Whether scores of all classes are probabilities; those that miss one by rounding are rescaled, which is told."""
    named = all(map(called_probability, columns))
    if seen.least < 0 or seen.most > 1:
        if named:
            raise InputError(
                f"probabilities of {who} must lie between 0 and 1, got {seen.least if seen.least < 0 else seen.most:g}: call "
                "the columns scores if they are not probabilities"
            )
        return False
    if seen.near == seen.rows:
        if seen.off > EXACT:
            notes.tell(
                f"Probabilities of {who} sum to one only within rounding (off by up to {seen.off:.2g}): they are rescaled."
            )
        return True
    if not named and seen.near + seen.zeros == seen.rows:
        tell_nothing(seen.zeros, seen.rows, who, notes)
        return False
    if named or seen.near > seen.rows / 2:
        raise InputError(
            f"probabilities of {who} must sum to 1 in each row, got a sum that is off by {seen.off:.3g} "
            f"({seen.rows - seen.near:,} such lines): normalise them, or call the columns scores if they are not probabilities"
        )
    notes.tell(
        f"Scores of {who} do not sum to one (off by up to {seen.off:.4g}): they are taken as scores, not as probabilities, and "
        "measures of probabilities are left out."
    )
    return False
