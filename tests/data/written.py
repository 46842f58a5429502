"""Tables written as ARFF and KEEL text, independently of the readers, and tables to write."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=6)
PLAIN_WORDS = st.text("abcdefgXYZ0189-_.^()", min_size=1, max_size=6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)


@st.composite
def tables(draw, words=WORDS):
    """A frame with the class last, and the declared values of its nominal columns."""
    rows = draw(st.integers(1, 8))
    names = draw(st.lists(words, min_size=2, max_size=5, unique=True))
    columns, declared = {}, {}
    for name in names[:-1]:
        if draw(st.booleans()):
            columns[name] = draw(st.lists(st.none() | NUMBERS, min_size=rows, max_size=rows))
        else:
            declared[name] = draw(st.lists(words, min_size=1, max_size=4, unique=True))
            columns[name] = draw(st.lists(st.none() | st.sampled_from(declared[name]), min_size=rows, max_size=rows))
    declared[names[-1]] = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    columns[names[-1]] = draw(st.lists(st.sampled_from(declared[names[-1]]), min_size=rows, max_size=rows))
    return pd.DataFrame(columns, dtype=object), declared


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def arff(frame: pd.DataFrame, declared: dict[str, list[str]], sparse: bool = False) -> bytes:
    lines = ["@relation written"]
    for name in frame.columns:
        kind = "{" + ",".join(map(quoted, declared[name])) + "}" if name in declared else "numeric"
        lines.append(f"@attribute {quoted(name)} {kind}")
    lines.append("@data")
    for row in frame.to_numpy().tolist():
        cells = ["?" if cell is None else quoted(cell) if isinstance(cell, str) else repr(cell) for cell in row]
        lines.append("{" + ", ".join(f"{j} {cell}" for j, cell in enumerate(cells)) + "}" if sparse else ",".join(cells))
    return "\n".join(lines).encode()


def keel(frame: pd.DataFrame, declared: dict[str, list[str]]) -> bytes:
    kinds = {
        name: "{" + ", ".join(declared[name]) + "}" if name in declared else "real [-1.8e308, 1.8e308]"
        for name in frame.columns
    }
    lines = ["@relation written", *(f"@attribute {name} {kind}" for name, kind in kinds.items())]
    lines += [f"@inputs {', '.join(frame.columns[:-1])}", f"@outputs {frame.columns[-1]}", "@data"]
    lines += [", ".join("<null>" if cell is None else str(cell) for cell in row) for row in frame.to_numpy().tolist()]
    return "\r\n".join(lines).encode()


def same(dataset, frame: pd.DataFrame, declared: dict[str, list[str]]) -> bool:
    """Whether a data set holds exactly what was written."""
    found = dataset.frame()
    assert list(found.columns) == list(frame.columns)
    for name in frame.columns:
        if name in declared:
            assert found[name].cat.categories.tolist() == declared[name]
            assert [None if pd.isna(each) else each for each in found[name]] == frame[name].tolist()
        else:
            expected = np.array([np.nan if each is None else each for each in frame[name]], dtype=float)
            assert np.array_equal(found[name].to_numpy(), expected, equal_nan=True)
    return True
