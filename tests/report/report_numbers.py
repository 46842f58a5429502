"""Check that every number in the text of a report is a number of its tables or figures.

A sentence built by `build_sentence` refers to the cells of its numbers. Other texts (rendered findings, notes, titles,
alternative texts) have no references: each number must occur in a table or figure of the same report, rounded as it is
written, or match one of the constants in `FIXED`.
"""

import re
from math import isinf, isnan
from numbers import Real

NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
FIXED = re.compile(
    r"\d+(?:\.\d+)? %(?= (?:CI|t interval|interval|limit|confidence|simultaneous))"  # confidence levels
    r"|\bp < 0\.001\b|\b0(?= of \d)"  # small p-values, counts of nothing
    r"|\b(?:18|19|20)\d\d\b(?=[);,])"  # years of references
    r"|\b[A-Z]{2,8}\d{3}\b"  # numbers of checks
    r"|\bfairtrial \d+\.\d+\.\w+"  # version
    r"|\.632\+?|\bfrom 0\b|\brecall of 0\.8\b"  # bootstrap, first index, recall at which precision is compared
)
WORD_WITH_DIGIT = re.compile(r"[^\s,;:()'\"]*\d[^\s,;:()'\"]*")


def list_sections(sections):
    """List sections and subsections in reading order."""
    return [part for section in sections for part in section.walk()]


def list_sentences(sections):
    return [sentence for section in list_sections(sections) for sentence in section.sentences]


def list_figures(sections):
    return [figure for section in list_sections(sections) for figure in section.figures]


def list_tables(sections):
    return [table for section in list_sections(sections) for table in section.tables]


def check_numbers(sections, subtitle="", names=(), verdicts=()):
    """Check all texts; return the number of numbers in sentences.

    `names` are names with digits that only other sections show. Texts may also contain values of the findings of `verdicts`.
    """
    tables = {}
    for table in list_tables(sections):
        assert table.key not in tables, f"two tables have the key {table.key}"
        tables[table.key] = table.frame
    known = KnownNumbers(sections)
    known.add(names)
    for verdict in verdicts:
        findings = (*verdict.findings, *verdict.caveats, *verdict.outcome.findings)
        known.add(value for finding in findings for value in finding.values.values())
        known.add(pair.difference for pair in verdict.ranking.pairs)
    for text in [subtitle, *_list_other_texts(sections)]:
        known.check(text)
    return sum(_check_sentence(sentence, tables, known) for sentence in list_sentences(sections))


def _list_other_texts(sections):
    """List notes, titles of tables and figures, alternative texts and subtitles of figures."""
    for section in list_sections(sections):
        if section.key != "references":  # volumes and pages
            yield from section.notes
        yield from (table.note for table in section.tables)
    for table in list_tables(sections):
        yield table.title
    for figure in list_figures(sections):
        yield from (figure.title, figure.alt, *_list_subtitles(figure.chart.to_dict()))


def _list_subtitles(chart):
    title = chart.get("title")
    subtitle = title.get("subtitle", ()) if isinstance(title, dict) else ()
    return [subtitle] if isinstance(subtitle, str) else list(subtitle)


class KnownNumbers:
    """The numbers of all tables and figures of a report, and the names with digits that they contain."""

    def __init__(self, sections):
        self.numbers, self.words = set(), set()
        for item in [*list_tables(sections), *list_figures(sections)]:
            if item.frame is not None:
                self._add_frame(item.frame)
        for figure in list_figures(sections):
            self._add_chart(figure.chart.to_dict())
        for section in list_sections(sections):
            self.words.update(WORD_WITH_DIGIT.findall(section.code))

    def _add_frame(self, frame):
        plain = frame.reset_index()
        self.add([*map(str, plain.columns), len(frame)])
        for name in plain:
            self.add(plain[name].tolist())

    def _add_chart(self, chart):
        for rows in chart.get("datasets", {}).values():
            self.add(value for row in rows for value in row.values())

    def add(self, values):
        for value in values:
            if isinstance(value, str):
                words = (word.rstrip(".") for word in WORD_WITH_DIGIT.findall(value))
                self.words.update(word for word in words if word.count(".") > 1 or not NUMBER.fullmatch(word))
                plain = (number.replace(",", "") for number in NUMBER.findall(value))
                self.numbers.update(float(number) for number in plain if number.count(".") < 2)
            elif isinstance(value, Real) and not isinstance(value, bool):
                self.numbers.add(float(value))

    def check(self, text, either_sign=False):
        """Check a text without cell references; return the number of its numbers.

        The difference of a pair has the other sign in a table that has the pair in the other order (`either_sign`).
        """
        rest = WORD_WITH_DIGIT.sub(lambda match: " " if match[0].rstrip(".") in self.words else match[0], FIXED.sub(" ", text))
        numbers, bounds = NUMBER.findall(rest), re.findall(rf"<= ({NUMBER.pattern})", rest)
        for number in numbers:
            is_known = any(_is_rounded(number, value, number in bounds) for value in self.numbers) or (
                either_sign and any(_is_rounded(number, -value) for value in self.numbers)
            )
            assert is_known, f"{number} of {text!r} is in no table or figure"
        return len(numbers)


def _check_sentence(sentence, tables, known):
    if not sentence.numbers and not sentence.names:
        return known.check(sentence.text, either_sign=True)
    for name in sentence.names:
        known.check(name)
    rest = remove_names(sentence.text, sentence.names)
    texts = {text for number in sentence.numbers for text in NUMBER.findall(number.text)}
    for number in NUMBER.findall(rest):
        assert number in texts, f"{number} of {sentence.text!r} has no cell"
    for number in sentence.numbers:
        assert number.text in sentence.text, f"{number.text} is not in {sentence.text!r}"
        assert number.cell.table in tables, f"{sentence.text!r} refers to the missing table {number.cell.table}"
        value = tables[number.cell.table].loc[number.cell.line, number.cell.column]
        is_same = float(value) == number.value or (isnan(value) and isnan(number.value))
        assert is_same, f"{number.cell} contains {value}, but {sentence.text!r} was given {number.value}"
        assert _is_rounded(number.text, number.value), f"{number.text} of {sentence.text!r} is not {number.value}"
    return len(sentence.numbers)


def remove_names(text, names):
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def _is_rounded(text, value, is_bound=False):
    """Whether a text is the value, rounded to the digits of the text; an upper bound may be rounded up."""
    if isnan(value) or isinf(value):
        return text == ("undefined" if isnan(value) else "infinite" if value > 0 else "minus infinity")
    plain = text.replace(",", "")
    if plain.count(".") > 1:  # a version
        return False
    mantissa, _, power = plain.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(power or 0)
    if is_bound and 0 <= float(plain) - value < 10.0**-digits:
        return True
    return abs(float(plain) - value) <= 0.5 * 10.0**-digits * (1 + 1e-9) and not (plain.startswith("-") and float(plain) == 0)
