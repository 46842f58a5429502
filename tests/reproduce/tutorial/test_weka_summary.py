from fairtrial.reproduce.tutorial.weka_summary import weka_summary


def test_every_figure_is_the_one_weka_prints(small_study):
    found = weka_summary(small_study)
    table = found.table("weka_summary")
    printed = table[table["tutorial"].notna()]
    assert len(printed) == 33
    assert (printed["to the printed digits"] == "agrees").all()
    assert found.claims[0].holds is True
