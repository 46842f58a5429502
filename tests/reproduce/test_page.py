"""The page of an experiment, its tables and its figures."""

import json
from dataclasses import replace

import altair as alt
import pandas as pd
import pytest
from jinja2 import UndefinedError

from fairtrial.reproduce import Claim, Experiment, Reproduction, ResultTable
from fairtrial.reproduce.experiment import Request
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.papers import Paper

TEMPLATE = """{% extends "page.md.j2" %}
{% block text %}
{% if agrees %}
All of it agrees: {{ names | join_names }}, {{ "%.2f" | format(proportion) }}.
{% endif %}
{% if not agrees %}
Nothing agrees.
{% endif %}
{% endblock %}
"""


@pytest.fixture
def experiment(tmp_path_factory):
    template = tmp_path_factory.mktemp("template") / "page.md.j2"
    template.write_text(TEMPLATE)
    return Experiment("ela", "A title", Paper("Somebody", "A paper", "A journal 1, 2-3", 2001, "10.1/x"), None, template)


def build_reproduction(**values):
    frame = pd.DataFrame({"set": ["iris", "a|b"], "ours": [1 / 3, 2.0]})
    chart = alt.Chart(frame).mark_point().encode(x="ours:Q")
    return Reproduction(
        {"agrees": True, "names": ["iris", "car", "zoo"], "proportion": 0.5} | values,
        (ResultTable("by-set", "By data set", frame, "A note.", digits=3), ResultTable("long", "Long", frame, on_page=False)),
        (
            Claim("One is better", "reproduced", "2 of 2", variants={"votes": "inconclusive"}),
            Claim("Two is better", "not testable", "no data"),
            Claim("Within 1", "contradicted", "3", "target"),
        ),
        {"A picture: of it all!": chart},
        {"ring": "corrupted"},
    )


def test_a_page_has_text_claims_tables_and_what_was_skipped(experiment, tmp_path):
    text = write_page(experiment, Request("quick", tmp_path, 2), build_reproduction(), [30.4]).read_text()
    assert text.splitlines()[0] == "# ela: A title"
    for part in (
        "Somebody (2001). A paper. A journal 1, 2-3. https://doi.org/10.1/x",
        "\n\n```bash\nfairtrial reproduce ela --scale quick\n```\n\n",
        "\n\nAll of it agrees: iris, car and zoo, 0.50.\n\n",
        "| One is better | reproduced | 2 of 2 | votes: inconclusive |",
        "| Two is better | not testable | no data |",
        "| Within 1 | not met | 3 |",
        "- Claims of the paper: 1 reproduced, 1 not testable\n- Our targets: 1 not met\n",
        "| iris | 0.333 |",
        r"a\|b",
        "\n\nA note.\n\n",
        "\n- ring: corrupted\n",
        "30 s",
        "2 processes",
    ):
        assert part in text
    assert "\n\n\n" not in text


def test_a_value_that_the_template_lacks_is_an_error(experiment, tmp_path):
    with pytest.raises(UndefinedError, match="names"):
        write_page(experiment, Request("quick", tmp_path), Reproduction({"agrees": True}, ()), [1])


@pytest.mark.parametrize(("scale", "warned"), [("smoke", True), ("quick", False)])
def test_only_a_smoke_page_has_a_warning(scale, warned, experiment, tmp_path):
    text = write_page(experiment, Request(scale, tmp_path), build_reproduction(), [1]).read_text()
    assert ("\n**" in text) is warned  # a paragraph in bold


def test_the_answer_comes_first_then_claims_and_main_tables_then_details(experiment, tmp_path):
    reproduction = build_reproduction()
    main = ResultTable("main", "Beside the paper", pd.DataFrame({"ours": [7.5]}), is_main=True)
    reproduction = replace(reproduction, answer="It is so.", tables=(*reproduction.tables, main))
    text = write_page(experiment, Request("quick", tmp_path), reproduction, [1]).read_text()
    parts = ("It is so.", "a-picture", "## Claims of the paper", "## Beside the paper", "All of it agrees", "## By data set")
    positions = [text.index(part) for part in (*parts, "## Our targets", "## Errors in the paper", "## This run")]
    assert positions == sorted(positions)
    assert json.loads((tmp_path / "summary.json").read_text()) == {"answer": "It is so.", "figure": "a-picture-of-it-all"}


def test_long_tables_are_files_only(experiment, tmp_path):
    text = write_page(experiment, Request("quick", tmp_path), build_reproduction(), [1]).read_text()
    assert text.count("| iris |") == 1
    assert "(long.csv)" in text


def test_files_have_ten_digits_and_figures_are_written(experiment, tmp_path):
    write_page(experiment, Request("quick", tmp_path), build_reproduction(), [1])
    assert (tmp_path / "long.csv").read_text().splitlines()[1] == "iris,0.3333333333"
    assert {path.name for path in tmp_path.iterdir()} == {
        "by-set.csv",
        "long.csv",
        "claims.csv",
        "a-picture-of-it-all.svg",
        "a-picture-of-it-all.png",
        "index.md",
        "summary.json",
    }
    claims = (tmp_path / "claims.csv").read_text().splitlines()
    assert claims == [
        "claim,verdict,details,sensitivity,kind",
        "One is better,reproduced,2 of 2,votes: inconclusive,claim",
        "Two is better,not testable,no data,,claim",
        "Within 1,contradicted,3,,target",
    ]
    assert (tmp_path / "a-picture-of-it-all.png").read_bytes().startswith(b"\x89PNG")
    assert "(a-picture-of-it-all.png)" in (tmp_path / "index.md").read_text()


@pytest.mark.parametrize(
    ("durations", "text"), [([1870], "31 min 10 s"), ([1000, 800, 70], "31 min 10 s in 3 runs"), ([1.2], "1.2 s")]
)
def test_the_duration_covers_all_runs(durations, text, experiment, tmp_path):
    page = write_page(experiment, Request("full", tmp_path), build_reproduction(), durations).read_text()
    assert text in page.splitlines()[-1]


def test_an_empty_table_and_no_claims(experiment, tmp_path):
    reproduction = Reproduction({"agrees": False}, (ResultTable("off", "Differences", pd.DataFrame({"a": []})),))
    text = write_page(experiment, Request("quick", tmp_path), reproduction, [1]).read_text()
    assert "Nothing agrees." in text
    assert "| a |" not in text
    assert "(off.csv)" in text
    assert "(claims.csv)" not in text


def test_the_command_has_all_settings(experiment, tmp_path):
    request = Request("full", tmp_path, 1, measures=("my.one", "my.other"), seed=4)
    text = write_page(experiment, request, build_reproduction(), [1]).read_text()
    assert "fairtrial reproduce ela --scale full --measure my.one --measure my.other --seed 4\n" in text
    assert "1 process" in text
