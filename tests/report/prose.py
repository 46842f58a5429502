"""Every number in the prose of a report is a cell of one of its tables: sentence by sentence."""

import re

from fairtrial.report.page import tables_of

NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")


def sentences_of(sections):
    for section in sections:
        yield from section.sentences
        yield from sentences_of(section.parts)


def check_prose(sections):
    """Assert it of all sentences; gives how many numbers were checked."""
    tables = {}
    for table in tables_of(sections):
        assert table.key not in tables, f"two tables have the key {table.key}"
        tables[table.key] = table.frame
    return sum(_check_sentence(sentence, tables) for sentence in sentences_of(sections))


def _check_sentence(sentence, tables):
    rest = without_names(sentence.text, sentence.names)
    texts = {text for number in sentence.numbers for text in NUMBER.findall(number.text)}
    for found in NUMBER.findall(rest):
        assert found in texts, f"{found} of {sentence.text!r} is no number of a table"
    for number in sentence.numbers:
        assert number.text in sentence.text, f"{number.text} is not in {sentence.text!r}"
        assert number.cell.table in tables, f"{sentence.text!r} rests on the table {number.cell.table}, which is not there"
        value = tables[number.cell.table].loc[number.cell.line, number.cell.column]
        assert float(value) == number.value, f"{number.cell} holds {value}, but {sentence.text!r} was given {number.value}"
        assert _agrees(number.text, number.value), f"{number.text} of {sentence.text!r} is not {number.value}"
    return len(sentence.numbers)


def without_names(text, names):
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def _agrees(text, value):
    """Whether a text is the value, rounded to its own digits."""
    plain = text.replace(",", "")
    mantissa, _, power = plain.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(power or 0)
    return abs(float(plain) - value) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def check_words(words, tables):
    """Assert that every number of words that others wrote is a number of these tables, however it is rounded."""
    cells = [value for table in tables for value in table.frame.to_numpy().ravel() if not isinstance(value, str)]
    for found in NUMBER.findall(words):
        assert any(_agrees(found, abs(float(value))) for value in cells), f"{found} of {words!r} is in no table"
