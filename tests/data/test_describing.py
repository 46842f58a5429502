"""A data set in words."""

import pandas as pd

from fairtrial.data import Dataset, describe


def test_columns_classes_and_notes():
    table = pd.DataFrame({"size": [1.5, None, 3.0], "hue": list("abc"), "code": list("xyz"), "gap": [None] * 3})
    table["gap"] = table["gap"].astype(float)
    found = describe(Dataset.from_table(table, ["<b>", "no", "no"], target="kind", name="three", source="here", notes=["bad"]))
    assert found.frame().set_index("column").loc["size"].tolist() == ["numeric", "1.5 to 3", 1]
    assert found.frame().set_index("column").loc["hue", "values"] == "a, b, c"
    text = str(found)
    assert "<b>  1 (33.3%)" in text
    assert "source: here" in text
    assert "note: bad" in text
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_many_values_are_cut():
    found = describe(Dataset.from_table(pd.DataFrame({"a": list("abcdefgh")}), [0, 1] * 4))
    assert found.frame()["values"].tolist() == ["a, b, c, d, e, f ... (8 values)"]
