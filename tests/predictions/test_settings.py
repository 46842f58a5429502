import warnings

from fairtrial.errors import FallbackWarning, UndefinedMeasureWarning
from fairtrial.predictions.statistics import MANY_ROWS, REDUCED_RESAMPLES, JudgeSettings, ignore_warnings


def test_very_many_rows_are_drawn_less_often():
    assert JudgeSettings(resamples=2000).limit_resamples(MANY_ROWS) == 2000
    assert JudgeSettings(resamples=2000).limit_resamples(MANY_ROWS + 1) == REDUCED_RESAMPLES
    assert JudgeSettings(resamples=50).limit_resamples(MANY_ROWS + 1) == 50


def test_only_our_warnings_are_silent():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ignore_warnings():
            for kind in (UndefinedMeasureWarning, FallbackWarning, RuntimeWarning):
                warnings.warn("said", kind, stacklevel=1)
    assert [each.category for each in told] == [RuntimeWarning]
