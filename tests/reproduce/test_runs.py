"""Times of runs."""

import time

import pytest

from fairtrial.reproduce.runs import clocked, times


def test_every_run_of_the_command_is_noted_also_one_that_is_stopped(tmp_path):
    with clocked(tmp_path, "one --seed 1"):
        time.sleep(0.2)
    with pytest.raises(KeyboardInterrupt), clocked(tmp_path, "one --seed 1"):
        raise KeyboardInterrupt
    with clocked(tmp_path, "other"):
        pass
    first, second = times(tmp_path, "one --seed 1")
    assert first >= 0.2
    assert second < 0.2
    assert len(times(tmp_path, "other")) == 1
