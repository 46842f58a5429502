"""Pages of experiments."""

import altair as alt
import pandas as pd
import pytest

from fairtrial.reproduce.experiments import Experiment
from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table
from fairtrial.reproduce.writing import write

EXPERIMENT = Experiment("ela", "A title", "Somebody: a paper", "none")


def found():
    frame = pd.DataFrame({"set": ["iris", "a|b"], "ours": [1 / 3, 2.0]})
    chart = alt.Chart(frame).mark_point().encode(x="ours:Q")
    return Reproduction(
        ("All of it agrees.",),
        (Table("by-set", "By data set", frame, "A note.", digits=3), Table("long", "Long", frame, shown=False)),
        (Claim("One is ahead", True, "2 of 2"), Claim("Two is ahead", None, "no data")),
        {"A picture: of it all!": chart},
        {"ring": "damaged"},
    )


def test_a_page_has_words_claims_tables_and_what_was_left_out(tmp_path):
    text = write(EXPERIMENT, Request("quick", tmp_path, 2), found(), [30.4]).read_text()
    for part in (
        "# ela: A title",
        "fairtrial reproduce ela --scale quick",
        "All of it agrees.",
        "2 statements: 1 holds, 0 do not hold, 1 open.",
        "| One is ahead | holds | 2 of 2 |",
        "| Two is ahead | open | no data |",
        "| iris | 0.333 |",
        r"a\|b",
        "A note.",
        "- ring: damaged",
        "30 s",
        "seed 1, 2 processes",
    ):
        assert part in text


@pytest.mark.parametrize(("scale", "told"), [("smoke", True), ("quick", False)])
def test_a_smoke_says_that_its_numbers_mean_nothing(scale, told, tmp_path):
    text = write(EXPERIMENT, Request(scale, tmp_path), found(), [1]).read_text()
    assert ("mean nothing" in text) is told


def test_long_tables_are_files_only(tmp_path):
    text = write(EXPERIMENT, Request("quick", tmp_path), found(), [1]).read_text()
    assert text.count("| iris |") == 1
    assert "(long.csv)" in text


def test_files_hold_all_digits_that_count_and_pictures_are_written(tmp_path):
    write(EXPERIMENT, Request("quick", tmp_path), found(), [1])
    assert (tmp_path / "long.csv").read_text().splitlines()[1] == "iris,0.3333333333"
    assert {each.name for each in tmp_path.iterdir()} == {
        "by-set.csv",
        "long.csv",
        "claims.csv",
        "a-picture-of-it-all.svg",
        "a-picture-of-it-all.png",
        "index.md",
    }
    assert (tmp_path / "claims.csv").read_text().splitlines()[1:] == ["One is ahead,holds,2 of 2", "Two is ahead,open,no data"]
    assert (tmp_path / "a-picture-of-it-all.png").read_bytes().startswith(b"\x89PNG")
    assert "(a-picture-of-it-all.png)" in (tmp_path / "index.md").read_text()


def test_long_runs_are_told_in_minutes(tmp_path):
    assert "31 min on" in write(EXPERIMENT, Request("full", tmp_path), found(), [1870]).read_text()


def test_a_run_in_parts_is_told_with_all_of_them(tmp_path):
    assert "31 min in 3 runs on" in write(EXPERIMENT, Request("full", tmp_path), found(), [1000, 800, 70]).read_text()


def test_a_table_without_lines_says_so(tmp_path):
    nothing = Reproduction(("Words.",), (Table("off", "Cells that differ", pd.DataFrame({"a": []})),))
    assert "There are none." in write(EXPERIMENT, Request("quick", tmp_path), nothing, [1]).read_text()


def test_the_command_of_the_page_has_what_was_asked(tmp_path):
    request = Request("full", tmp_path, 1, measures=("my.one", "my.other"), seed=4)
    text = write(EXPERIMENT, request, found(), [1]).read_text()
    assert "fairtrial reproduce ela --scale full --measure my.one --measure my.other --seed 4\n" in text
    assert "1 process, " in text
