import pandas as pd

from fairtrial.predictions.judgement import judge


def test_a_column_of_unknown_labels_is_left_alone_with_a_reason(tmp_path):
    table = pd.DataFrame({"truth": ["yes", "no"] * 20, "tree": ["yes", "no"] * 20, "svm": ["yes", "no", "maybe", "no"] * 10})
    path = tmp_path / "p.csv"
    table.to_csv(path, index=False)
    for stream in (False, True):
        found = judge(path, stream=stream, resamples=20)
        assert "Left alone: 'svm' (its label 'maybe' is no class of the truth)." in found.roles.summary
        assert any(note.startswith("The column 'svm' seems to hold labels") for note in found.notes)
