import numpy as np

from fairtrial.study.plan.schedule import TimeModel


def test_the_mean_of_what_was_learnt():
    pace = TimeModel([100, 300], 2)
    assert np.isnan(pace.seconds).all()
    pace.learn(0, 0, 1.0)
    pace.learn(0, 0, 2.0)
    pace.learn(0, 0, 6.0, trials=3)
    assert pace.seconds[0, 0] == (1 + 2 + 3 * 6) / 5
    assert np.isnan(pace.seconds[:, 1]).all()
    assert pace.seen.tolist() == [[True, False], [False, False]]


def test_another_data_set_in_proportion_to_its_rows():
    pace = TimeModel([100, 300, 50], 1)
    pace.learn(0, 0, 2.0)
    np.testing.assert_allclose(pace.seconds[:, 0], [2.0, 6.0, 1.0])
    pace.learn(0, 1, 2.0)  # 4 seconds for 400 rows in all
    np.testing.assert_allclose(pace.seconds[:, 0], [2.0, 2.0, 0.5])
