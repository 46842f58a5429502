"""The gallery shows every figure of fairtrial."""

import re
from pathlib import Path

import pytest

from fairtrial import report
from fairtrial.report import list_figure_names

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("plot_*.py")))


@pytest.mark.parametrize("name", list_figure_names())
def test_each_figure_has_an_example(name):
    drawn = re.search(rf'draw\(\w+, "{name}"', TEXT) or re.search(rf"^draw_{name.replace('-', '_')}\(", TEXT, re.MULTILINE)
    assert drawn, f"no example draws the figure {name!r}: add it to examples/"


@pytest.mark.parametrize("name", ["draw_changes", "draw_environments", "draw_rarest_class", "draw_strengths", "draw_tree"])
def test_figures_without_a_name_have_an_example(name):
    assert hasattr(report, name)
    assert f"\n{name}(" in TEXT
