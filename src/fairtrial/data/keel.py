"""Read KEEL's .dat files."""

from __future__ import annotations

from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import FileFormat, read_declared
from fairtrial.data.faults import warn_if_known
from fairtrial.data.lines import Source


def _split_keel_line(line: str) -> list[str]:
    text = line.strip()
    return text.split(",") if text and text[0] != "%" else []


KEEL = FileFormat(
    lists={"inputs": "inputs", "input": "inputs", "outputs": "outputs", "output": "outputs"},
    missing=("?", "<null>"),
    plain=True,
    make_splitter=lambda _: _split_keel_line,
)


def read_keel(source: Source, *, target: str | None = None, name: str | None = None, encoding: str = "utf-8") -> Dataset:
    """A KEEL file as a data set: a path, the bytes of a file, or an open one (a member of a zip archive).

    The class is `target`, else the one that `@outputs` names, else the last attribute; what the file lists neither as input
    nor as output is left out, as KEEL does. Missing values are written `?` or `<null>`. Declared classes and values keep their
    order, declared ranges are kept in `Dataset.ranges`. Values outside them, and files known to be damaged, give a
    SuspectInputWarning.

    >>> flowers = read_keel(b'''@relation flowers
    ... @attribute length real [0.1, 9.9]
    ... @attribute hue {red, blue}
    ... @attribute Class {rose, iris}
    ... @inputs length, hue
    ... @outputs Class
    ... @data
    ... 1.5, red, rose
    ... <null>, blue, iris
    ... ''')
    >>> print(flowers.summary())
    flowers: 2 rows, 1 numeric and 1 nominal attributes, 1 missing values; classes: rose 1, iris 1; imbalance ratio 1.00
    >>> read_keel(b"@attribute a real\\n@attribute b {x,y}\\n@data\\n1,x\\n2,z\\n")
    Traceback (most recent call last):
    fairtrial.errors.InputError: the given bytes, line 5: a value of 'b' must be declared, got 'z': known: x, y
    """
    return warn_if_known(read_declared(source, KEEL, target=target, name=name, encoding=encoding))
