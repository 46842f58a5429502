import pytest

from fairtrial.reproduce.tutorial.breast_cancer import breast_cancer


@pytest.fixture(scope="module")
def found(small_study):
    return breast_cancer(small_study)


def test_rows_to_the_printed_digits(found):
    lines = found.table("measures_by_line")
    assert lines[lines["learner"].isin(["NB", "Boost"])]["agrees"].all()
    # printed .59; WEKA itself prints 0.584
    assert lines[~lines["agrees"]][["learner", "measure"]].to_numpy().tolist() == [["C4.5", "auc"]]
    assert (lines["low"].dropna() <= lines["difference"][lines["low"].notna()]).all()


def test_slips_of_the_printed_ranks_are_named(found):
    note = next(table.note for table in found.tables if table.name == "ranks")
    assert "4 of the 72 ranks" in note
    assert "Boost precision 7 instead of 5" in note


def test_answers_are_counted(found):
    """By the ranks: whoever stands first, those that share the place together."""
    ranks = found.table("ranks").set_index("learner")
    first = {tuple(ranks.index[[str(each).split()[0] == "1" for each in ranks[name]]]) for name in ranks}
    note = next(table.note for table in found.tables if table.name == "ranks")
    assert f"*Answer:* {len(first)} answers for 9 measures: " in note
    assert "almost" not in note


def test_ranks_of_three(found):
    ranks = found.table("ranks").set_index("learner")
    assert ranks.loc["NB", "tpr"] == "1"
    assert ranks.loc["C4.5", "acc"] == "1"


def test_efficiency_of_the_printed_table(found):
    printed = found.table("efficiency").set_index("learner")["efficiency of the printed table"]
    # linear programs over all eight printed rows: only the three run here are shown
    assert printed.to_dict() == pytest.approx({"Boost": 1.0, "C4.5": 1.0, "NB": 0.9676}, abs=5e-5)


def test_claims(found):
    verdicts = {claim.text: claim.holds for claim in found.claims}
    assert verdicts["The row NB of the measures table, to the printed digits"] is True
    assert verdicts["The row C4.5 of the measures table, to the printed digits"] is None
    assert verdicts["Which classifier is better depends on the measure: not all nine have the same winner"] is True


def test_other_folds_are_told_and_not_judged(found, two_folds):
    other = breast_cancer(two_folds)
    assert {claim.holds for claim in other.claims} == {None}
    assert "the folds are the 2 folds that WEKA makes with seed 1 (the printed figures are over 10" in other.tables[0].note
    assert "over the 2 folds" in other.words[0]
    assert "over the 10 folds that WEKA makes with seed 1, 26 of 27 figures of 3 learners" in found.words[0]


def test_learners_that_are_not_wekas_are_counted(found, two_folds):
    other = breast_cancer(two_folds)
    lines = other.table("measures_by_line")
    agreeing = int(lines.loc[lines["learner"] == "Bagg", "agrees"].sum())
    assert f"Of Bagg, which are not WEKA's, {agreeing} of 9 do." in other.words[0]
    assert "not WEKA's" not in found.words[0]


def test_page_shows_as_many_digits_as_are_printed(found):
    frame = found.table("measures")
    own = frame[(frame["learner"] == "NB") & (frame["of"] == "tutorial")].iloc[0]
    # the slide: 71.7 .4534 .44 .16 .53 .44 .48 .7 48.11
    assert [f"{own[name]}" for name in ("acc", "rmse", "tpr", "auc", "info_score")] == [
        "71.7",
        "0.4534",
        "0.44",
        "0.70",
        "48.11",
    ]
    assert not any(f"{each}".strip("-0.") == "" and f"{each}".startswith("-") for each in frame.iloc[:, 2:].to_numpy().ravel())
