import pandas as pd

from fairtrial import judge
from fairtrial.report.sections.run import build_judgement_section, build_models_frame, explain_omissions
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, lone, sections, text_of, two_classes


def table_of(found, key):
    return next(table.frame for table in found.tables if table.key == key)


def test_roles_are_shown_with_how_they_were_found():
    found = build_judgement_section(describe_source(judge(two_classes(60).rename(columns={"truth": "came"}), y_true="came", resamples=20)))
    roles = table_of(found, "judged-columns").set_index("column")
    assert roles.loc["came", ["role", "how"]].tolist() == ["y_true", "given"]
    assert roles.loc["tree_proba", ["role", "model", "how"]].tolist() == ["score", "tree", "guessed"]
    assert roles.loc["sex", "role"] == "subgroup"
    assert "Guessed from names and contents: row, score and subgroup." in text_of(found)


def test_the_file_in_words():
    assert "predictions holds the predictions of 3 models for 160 rows." in text_of(sections("two classes")["predictions"])
    told = text_of(sections("many sets")["predictions"])
    assert "the predictions of 2 models for 200 rows of 5 data sets." in told
    assert "1 model for" in text_of(sections("one model")["predictions"])
    found = build_judgement_section(describe_source(judge(lone(40).assign(comment="x"), resamples=20)))
    assert "Left alone: comment." in text_of(found)


def test_the_positive_class_is_named_with_how_it_was_chosen():
    assert "The positive class is yes, the second of two in their order." in text_of(sections("two classes")["predictions"])
    assert "The positive class is no, as asked for." in text_of(
        build_judgement_section(describe_source(judge(two_classes(60), positive="no", resamples=20)))
    )
    assert "positive class" not in text_of(sections("many classes")["predictions"])
    first, second = two_classes(60).assign(dataset="a"), two_classes(60, seed=3).assign(dataset="b")
    both = pd.concat([first, second.replace({"yes": "well", "no": "ill"})], ignore_index=True)
    found = build_judgement_section(describe_source(judge(both, resamples=20)))
    assert "The positive class differs between data sets" in text_of(found)
    assert table_of(found, "judged-positive").set_index("data set")["positive class"].to_dict() == {"a": "yes", "b": "well"}


def test_every_repair_is_repeated():
    table = two_classes(60)[["row", "truth"]].assign(p_yes=two_classes(60)["forest_proba"].round(2))
    table["p_no"] = (1 - table["p_yes"] + 0.01).clip(0, 1)
    judgement = judge(table, resamples=20)
    found = build_judgement_section(describe_source(judgement))
    assert found.notes == judgement.notes
    assert "sum to one only within rounding" in " ".join(found.notes)


def test_models_of_held_and_of_counted_files(tmp_path):
    held = build_models_frame(judged("many classes")).set_index("model")
    assert held.loc["good", ["rows", "classes", "labels", "scores"]].tolist() == [150, 3, "from probabilities", "probability"]
    path = tmp_path / "p.csv"
    two_classes(40).to_csv(path, index=False)
    counted = judge(str(path), stream=True, resamples=20)
    assert build_models_frame(counted).set_index("model")["rows"].to_dict() == {"forest": 40, "tree": 40, "rule": 40}
    told = " ".join(map(str, explain_omissions(counted)))
    assert told == "There is no verdict over splits: the file was counted and its rows were not held."


def test_what_is_left_out_says_why():
    told = text_of(sections("labels only")["predictions"])
    assert "There are no curves: the file has no scores." in told
    assert "Calibration is left out: no model gives probabilities." in told
    assert "There are no subgroups" in told
    assert "There is no verdict over splits: the file has one split of one data set." in told
    assert "There are no paired tests" in text_of(sections("one model")["predictions"])
    told = text_of(sections("folded")["predictions"])
    assert "no verdict" not in told
    assert "no curves" not in told
