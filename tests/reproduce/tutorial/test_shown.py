import pandas as pd
import pytest

from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.tutorial.shown import Shown, beside_printed


def test_pages_show_the_text_and_files_keep_the_number():
    frame = pd.DataFrame({"t": [Shown(7.8645361107291, "7.8645"), float("nan")]}, dtype=object)
    for digits in (None, 2):
        assert to_markdown(frame, better=None, digits=digits).splitlines()[2:] == ["| 7.8645 |", "| \N{EN DASH} |"]
    assert frame.to_csv(index=False).splitlines()[1] == "7.864536111"


def test_nothing_is_less_than_nothing():
    assert f"{Shown.with_decimals(-1e-9, 3)}" == "0.000"
    assert f"{Shown.with_decimals(-0.0, 1)}" == "0.0"
    assert f"{Shown.with_decimals(-0.004, 3)}" == "-0.004"


@pytest.mark.parametrize(("value", "decimals", "text"), [(73.68421, 4, "73.68421"), (0.25, 2, "0.25"), (-0.2499, 1, "-0.25")])
def test_one_decimal_more_than_printed(value, decimals, text):
    assert f"{beside_printed(value, decimals)}" == text
