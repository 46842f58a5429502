import pandas as pd
import pytest

from fairtrial import judge
from fairtrial._narrative import render_all
from fairtrial.report.sections.run import build_judgement_section, build_models_frame, explain_omissions
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, lone, sections, text_of, two_classes


def table_of(found, key):
    return next(table.frame for table in found.tables if table.key == key)


def test_roles_are_given_or_guessed():
    found = build_judgement_section(
        describe_source(judge(two_classes(60).rename(columns={"truth": "came"}), y_true="came", resamples=20))
    )
    roles = table_of(found, "judged-columns").set_index("column")
    assert roles.loc["came", ["role", "how"]].tolist() == ["y_true", "given"]
    assert roles.loc["tree_proba", ["role", "model", "how"]].tolist() == ["score", "tree", "guessed"]
    assert roles.loc["sex", "role"] == "subgroup"
    assert "row, score and subgroup" in found.sentences[1].names


def test_size_and_unused_columns():
    def count(name):
        return {number.cell.line: number.value for number in sections(name)["predictions"].sentences[0].numbers}

    assert count("two classes") == {"models": 3, "rows": 160}
    assert count("many sets") == {"models": 2, "rows": 200, "data sets": 5}
    assert "1 model " in sections("one model")["predictions"].sentences[0].text
    found = build_judgement_section(describe_source(judge(lone(40).assign(comment="x"), resamples=20)))
    assert "comment" in found.sentences[1].names


def test_positive_class_is_named():
    assert "The positive class is yes " in text_of(sections("two classes")["predictions"])
    assert "The positive class is no " in text_of(
        build_judgement_section(describe_source(judge(two_classes(60), positive="no", resamples=20)))
    )
    assert "positive class" not in text_of(sections("many classes")["predictions"])
    first, second = two_classes(60).assign(dataset="a"), two_classes(60, seed=3).assign(dataset="b")
    both = pd.concat([first, second.replace({"yes": "well", "no": "ill"})], ignore_index=True)
    found = build_judgement_section(describe_source(judge(both, resamples=20)))
    assert table_of(found, "judged-positive").set_index("data set")["positive class"].to_dict() == {"a": "yes", "b": "well"}


def test_notes_are_those_of_the_judgement():
    table = two_classes(60)[["row", "truth"]].assign(p_yes=two_classes(60)["forest_proba"].round(2))
    table["p_no"] = (1 - table["p_yes"] + 0.01).clip(0, 1)
    judgement = judge(table, resamples=20)
    found = build_judgement_section(describe_source(judgement))
    assert found.notes == render_all(judgement.notes, "model")
    assert "rescaled_probabilities" in [note.kind for note in judgement.notes]


def test_models_in_memory_and_streamed(tmp_path):
    held = build_models_frame(judged("many classes")).set_index("model")
    assert held.loc["good", ["rows", "classes", "labels", "scores"]].tolist() == [150, 3, "from probabilities", "probability"]
    path = tmp_path / "p.csv"
    two_classes(40).to_csv(path, index=False)
    counted = judge(str(path), stream=True, resamples=20)
    assert build_models_frame(counted).set_index("model")["rows"].to_dict() == {"forest": 40, "tree": 40, "rule": 40}
    assert [sentence.names[0] for sentence in explain_omissions(counted)] == ["splits"]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("labels only", ["curves", "calibration", "subgroups", "comparison"]),
        ("one model", ["subgroups", "paired tests"]),
        ("folded", ["subgroups"]),
    ],
)
def test_missing_sections_are_explained(name, missing):
    sentences = explain_omissions(judged(name))
    assert len(sentences) == len(missing)
    assert all(word in sentence.text for word, sentence in zip(missing, sentences, strict=True))
