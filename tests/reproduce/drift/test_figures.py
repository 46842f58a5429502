from fairtrial.reproduce.drift.figures import draw_compared, figures


def test_a_panel_for_each_table_with_ours_and_theirs(found):
    chart = draw_compared({table: found.cells(table) for table in ("populations", "definitions")}).to_dict()
    assert len(chart["vconcat"]) == 2
    rows = [row for values in chart["datasets"].values() for row in values]
    line = next(row for row in rows if row["learner"] == "1R" and row["change"] == "W")
    assert (round(line["ours"], 6), line["published"]) == (0.4, 0.13)
    assert line["least"] < line["ours"] < line["most"]
    assert {"NGP to MC", "FC to NGP"} <= {row["change"] for row in rows}


def test_all_figures_are_charts(found):
    drawn = figures(found)
    assert len(drawn) == 4
    assert all(chart.to_dict()["title"] for chart in drawn.values())
