import warnings

from fairtrial.errors import FallbackWarning, UndefinedMeasureWarning
from fairtrial.study.predictions.judged_plan import FEWEST_RESAMPLES, MANY_ROWS, Plan, quiet


def test_very_many_rows_are_drawn_less_often():
    assert Plan(resamples=2000).resamples_of(MANY_ROWS) == 2000
    assert Plan(resamples=2000).resamples_of(MANY_ROWS + 1) == FEWEST_RESAMPLES
    assert Plan(resamples=50).resamples_of(MANY_ROWS + 1) == 50


def test_only_our_warnings_are_silent():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with quiet():
            for kind in (UndefinedMeasureWarning, FallbackWarning, RuntimeWarning):
                warnings.warn("said", kind, stacklevel=1)
    assert [each.category for each in told] == [RuntimeWarning]
