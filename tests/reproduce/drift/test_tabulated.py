import pytest

from fairtrial.reproduce.drift.tabulated import averages, compared, hypotheses, tables, trivial


def test_ours_beside_the_printed(found):
    frame = compared(found, "populations")
    line = frame.query("learner == '1R' and tested_on == 'DP' and what == 'error, %'").iloc[0]
    assert (line["ours"], line["published"]) == pytest.approx((31.0, 34.2))
    line = frame.query("learner == '1R' and tested_on == 'W' and what == 'pD'").iloc[0]
    assert (line["ours"], line["published"]) == pytest.approx((0.06 / 0.15, 0.13))
    assert line["low"] < line["difference"] < line["high"]
    assert frame["learner"].drop_duplicates().tolist() == ["1R", "Decision Tree", "Simple NN", "Complex NN"]


def test_averages_have_the_printed_one_and_that_of_its_lines(found):
    line = averages(found).query("table == 'missing' and learner == '1R'").iloc[0]
    assert (line["published"], line["mean_of_printed_lines"]) == pytest.approx((0.29, 0.145), abs=0.001)
    assert line["ours"] == pytest.approx(0.06 / 0.15)


def test_hypotheses_for_main_and_variants(found):
    frame = hypotheses(found)
    assert frame["variant"].unique().tolist() == ["main", "age in years"]
    assert len(frame) == 2 * 3 * 2
    assert set(frame["the simple one loses"]) == {"more"}


def test_trivial_errors(found):
    frame = trivial(found).set_index("environment")
    assert frame.loc["MC", "published"] == 28.4
    assert frame["ours"].dropna().to_dict() == pytest.approx(dict.fromkeys(["NGP", "DP", "W", "MC", "FC"], 40.0))


def test_all_tables_have_names_of_their_own(found):
    names = [each.name for each in tables(found)]
    assert len(set(names)) == len(names) == 6


def test_notes_name_the_lines_that_are_filled_in_or_contradict_themselves(found):
    notes = {each.name: each.note for each in tables(found)}
    for line in ("1R from no Teenager or OldAdult to NGP (0.11)", "1R from FC to MC (1.00)"):
        assert line in notes["averages"]
    assert "a dash, for 1R from FC to MC (1.00)" in notes["definitions"]
    assert "Simple NN from FC to MC (printed 0.73, from its errors 0.00)" in notes["definitions"]
    assert "a dash, for 1R from no Teenager or OldAdult to NGP (0.11)" in notes["missing"]
    assert "a dash" not in notes["populations"]
    assert not any("see the text" in note for note in notes.values())
