import pytest

from fairtrial import measures
from fairtrial.reproduce.estimates.worked import relative_absolute_error, verdict, worked

LIMIT = "the limit for many rows, rounded; not that of 100 rows"


def test_the_chapters_numbers():
    """All positive on 90 and 10: accuracy 90 %, F = 2 * 0.9 / 1.9, and (100 + 0) / 2 where the chapter prints 45."""
    lines = worked().set_index("what")
    assert lines.loc["accuracy, %", "ours"] == pytest.approx(90)
    assert lines.loc["F-measure", "ours"] == pytest.approx(1.8 / 1.9)
    assert lines.loc["accuracy averaged over both classes, %", "ours"] == pytest.approx(50)
    assert lines["verdict"].tolist() == ["agrees, rounded"] * 2 + ["a slip of the chapter"] + [LIMIT] * 2


def test_printed_limits_stand_beside_what_a_hundred_rows_have():
    """0.99^100 is 0.366; 1/e is 0.368, which is what is printed."""
    lines = worked().set_index("what").iloc[3:]
    assert lines["limit"].tolist() == pytest.approx([0.367879, 0.632121], abs=1e-6)
    assert lines["ours"].tolist() == pytest.approx([0.366032, 0.633968], abs=0.003)
    assert lines["limit"].round(3).tolist() == lines["printed"].tolist() != lines["ours"].round(3).tolist()


@pytest.mark.parametrize(("ours", "printed"), [(0.5, 0.632), (0.634, 0.64)])
def test_neither_a_fault_nor_another_number_is_the_limit(ours, printed):
    assert verdict("share of distinct rows in 2000 such samples", ours, printed, 3) == "differs"


@pytest.mark.parametrize(
    ("name", "line"),
    [("f_score", "F-measure"), ("balanced_accuracy", "accuracy averaged over both classes, %"), ("accuracy", "accuracy, %")],
)
def test_a_fault_of_ours_is_no_slip_of_the_chapter(monkeypatch, name, line):
    monkeypatch.setattr(measures, name, lambda *_, **__: 0.47)
    assert worked().set_index("what").loc[line, "verdict"] == "differs"


def test_relative_absolute_error_by_hand():
    assert relative_absolute_error() == pytest.approx((2 + 0 + 2) / (1 + 0 + 1))
