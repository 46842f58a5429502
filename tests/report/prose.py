"""Every number in the prose of a report is a number of its tables or figures: sentences, notes, alternative texts, subtitles.

A sentence names the cell of each of its numbers. Other words name none: each of their numbers must stand, as rounded as it is
written, in a table or figure of the same report, or among the few that the code itself fixes (`FIXED`).
"""

import re
from math import isinf, isnan
from numbers import Real

NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
FIXED = re.compile(
    r"\d+(?:\.\d+)? %(?= (?:interval|limit|confidence))"  # levels of intervals
    r"|\b(?:18|19|20)\d\d\b(?=[);,])"  # years of works
    r"|\b[A-Z]{2,8}\d{3}\b"  # checks
    r"|\.632\+?|\bfrom 0\b|\brecall of 0\.8\b"  # the bootstrap, where counting begins, where precision is read off
)
RELATION = re.compile(r"^(?:= |< |at most |below )")
FURTHER = ("The sign test", "With ")  # what further tests of a verdict say, and what no test could have said
WORD = re.compile(r"[^\s,;:()'\"]*\d[^\s,;:()'\"]*")


def sentences_of(sections):
    return [sentence for part in every(sections) for sentence in part.sentences]


def iterate_figures(sections):
    return [figure for part in every(sections) for figure in part.figures]


def iterate_tables(sections):
    return [table for part in every(sections) for table in part.tables]


def every(sections):
    return [part for section in sections for part in section.walk()]


def check_prose(sections, subtitle="", names=()):
    """Assert it of all that is said; gives how many numbers of sentences were checked.

    `names` are those of the study that tables of other sections show.
    """
    tables = {}
    for table in iterate_tables(sections):
        assert table.key not in tables, f"two tables have the key {table.key}"
        tables[table.key] = table.frame
    held = Held(sections)
    held.take(names)
    for words in [subtitle, *told_beside(sections)]:
        held.check(words)
    return sum(_check_sentence(sentence, tables, held) for sentence in sentences_of(sections))


def told_beside(sections):
    """Words that are no sentences: notes of sections and tables, alternative texts and lines under figures, titles."""
    for section in every(sections):
        if section.key != "references":  # volumes and pages
            yield from (note for note in section.notes if not note.startswith(FURTHER))
        yield from (table.note for table in section.tables)
    for table in iterate_tables(sections):
        yield table.title
    for figure in iterate_figures(sections):
        yield from (figure.title, figure.alt, *_below(figure.chart.to_dict()))


def _below(chart):
    title = chart.get("title")
    told = title.get("subtitle", ()) if isinstance(title, dict) else ()
    return [told] if isinstance(told, str) else list(told)


class Held:
    """The numbers of all tables and figures of a report, and the words with digits that are names there."""

    def __init__(self, sections):
        self.numbers, self.words = set(), set()
        for frame in (each.frame for each in [*iterate_tables(sections), *iterate_figures(sections)]):
            if frame is not None:
                self._take_frame(frame)
        for figure in iterate_figures(sections):
            self._take_chart(figure.chart.to_dict())
        for section in every(sections):
            self.words.update(WORD.findall(section.code))

    def _take_frame(self, frame):
        plain = frame.reset_index()
        self.take([*map(str, plain.columns), len(frame)])
        for name in plain:
            self.take(plain[name].tolist())

    def _take_chart(self, chart):
        for rows in chart.get("datasets", {}).values():
            self.take(value for row in rows for value in row.values())

    def take(self, values):
        for value in values:
            if isinstance(value, str):
                words = (word.rstrip(".") for word in WORD.findall(value))
                self.words.update(word for word in words if word.count(".") > 1 or not NUMBER.fullmatch(word))
                plain = (found.replace(",", "") for found in NUMBER.findall(value))
                self.numbers.update(float(found) for found in plain if found.count(".") < 2)
            elif isinstance(value, Real) and not isinstance(value, bool):
                self.numbers.add(float(value))

    def check(self, words):
        """Assert that these words, which name no cell, hold no number that is not there."""
        rest = WORD.sub(lambda found: " " if found[0].rstrip(".") in self.words else found[0], FIXED.sub(" ", words))
        for found in NUMBER.findall(rest):
            assert any(_agrees(found, value) for value in self.numbers), f"{found} of {words!r} is in no table or figure"

    def check_name(self, name, sentence):
        """Assert that what was put into a sentence as a name, and has digits, is a name of the report and no number."""
        try:
            self.check(name)
        except AssertionError as error:
            raise AssertionError(f"{error}, but was put into {sentence!r} as a name") from None


def _check_sentence(sentence, tables, held):
    for name in sentence.names:
        held.check_name(name, sentence.text)
    rest = without_names(sentence.text, sentence.names)
    texts = {text for number in sentence.numbers for text in NUMBER.findall(number.text)}
    for found in NUMBER.findall(rest):
        assert found in texts, f"{found} of {sentence.text!r} is no number of a table"
    for number in sentence.numbers:
        assert number.text in sentence.text, f"{number.text} is not in {sentence.text!r}"
        assert number.cell.table in tables, f"{sentence.text!r} rests on the table {number.cell.table}, which is not there"
        value = tables[number.cell.table].loc[number.cell.line, number.cell.column]
        same = float(value) == number.value or (isnan(value) and isnan(number.value))
        assert same, f"{number.cell} holds {value}, but {sentence.text!r} was given {number.value}"
        assert _agrees(number.text, number.value), f"{number.text} of {sentence.text!r} is not {number.value}"
    return len(sentence.numbers)


def without_names(text, names):
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def _agrees(text, value):
    """Whether a text is the value, rounded to its own digits; with a sign before it, whether that is so."""
    if isnan(value) or isinf(value):
        return text == ("undefined" if isnan(value) else "infinite" if value > 0 else "minus infinite")
    plain = RELATION.sub("", text).replace(",", "")
    if text.startswith(("< ", "below ")):
        return value < float(plain)
    if plain.count(".") > 1:  # a version
        return False
    mantissa, _, power = plain.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(power or 0)
    return abs(float(plain) - value) <= 0.5 * 10.0**-digits * (1 + 1e-9) and not (plain.startswith("-") and float(plain) == 0)


def check_words(words, tables):
    """Assert that every number of words that others wrote is a number of these tables, however it is rounded."""
    cells = [value for table in tables for value in table.frame.to_numpy().ravel() if not isinstance(value, str)]
    for found in NUMBER.findall(words):
        assert any(_agrees(found.lstrip("-"), abs(float(value))) for value in cells), f"{found} of {words!r} is in no table"
