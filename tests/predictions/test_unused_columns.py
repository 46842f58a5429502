import pandas as pd


def test_a_column_with_an_unknown_label_is_not_used_and_noted(judge_table):
    table = pd.DataFrame({"y_true": ["yes", "no"] * 20, "tree": ["yes", "no"] * 20, "svm": ["yes", "no", "maybe", "no"] * 10})
    judgement = judge_table(table)
    assert judgement.roles.unused == ("svm",)
    (note,) = [note for note in judgement.notes if note.kind == "unused_unknown_label"]
    assert (note["column"], note["label"]) == ("svm", "maybe")
