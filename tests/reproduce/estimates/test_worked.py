import pytest

from fairtrial import measures
from fairtrial.reproduce.estimates.worked import relative_absolute_error, worked


def test_the_chapters_numbers():
    """All positive on 90 and 10: accuracy 90 %, F = 2 * 0.9 / 1.9, and (100 + 0) / 2 where the chapter prints 45."""
    lines = worked().set_index("what")
    assert lines.loc["accuracy, %", "ours"] == pytest.approx(90)
    assert lines.loc["F-measure", "ours"] == pytest.approx(1.8 / 1.9)
    assert lines.loc["accuracy averaged over both classes, %", "ours"] == pytest.approx(50)
    assert lines["verdict"].tolist() == ["agrees, rounded"] * 2 + ["a slip of the chapter"] + ["agrees, rounded"] * 2


@pytest.mark.parametrize(
    ("name", "line"),
    [("f_score", "F-measure"), ("balanced_accuracy", "accuracy averaged over both classes, %"), ("accuracy", "accuracy, %")],
)
def test_a_fault_of_ours_is_no_slip_of_the_chapter(monkeypatch, name, line):
    monkeypatch.setattr(measures, name, lambda *_, **__: 0.47)
    assert worked().set_index("what").loc[line, "verdict"] == "differs"


def test_relative_absolute_error_by_hand():
    assert relative_absolute_error() == pytest.approx((2 + 0 + 2) / (1 + 0 + 1))
