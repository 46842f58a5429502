"""Read KEEL .dat files."""

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
    """Read a data set from a KEEL file.

    As in KEEL, attributes that the file lists neither as inputs nor as outputs are left out. A missing value is written as a
    question mark or as the word null in angle brackets. Declared classes and values keep their order, and declared ranges are
    stored in `Dataset.ranges`. A SuspectInputWarning is issued if values are outside these ranges or if the file is known to be
    corrupted.

    Parameters
    ----------
    source : path, bytes or open file
        Path or content of a KEEL file, or an open file such as a member of a zip archive.
    target : str, optional
        Class attribute. Default: the attribute named in `@outputs`, or the last attribute if there is no `@outputs`.
    name : str, optional
        Name of the data set. Default: the file name, or the name of the relation if there is no file name.
    encoding : str, default "utf-8"
        Text encoding of the file.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read. The message contains the line number.

    Examples
    --------
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
    flowers: 2 rows, 1 numeric and 1 nominal attributes, 1 missing value; classes: rose 1, iris 1; imbalance ratio 1.00
    >>> read_keel(b"@attribute a real\\n@attribute b {x,y}\\n@data\\n1,x\\n2,z\\n")
    Traceback (most recent call last):
    fairtrial.errors.InputError: the given bytes, line 5: a value of 'b' must be declared, got 'z': known: x, y
    """
    return warn_if_known(read_declared(source, KEEL, target=target, name=name, encoding=encoding))
