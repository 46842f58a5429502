import numba
import numpy as np
import pytest
import scipy
import sklearn

import fairtrial
from fairtrial.errors import InputError
from fairtrial.study.run.engine import CheckedWork, find_version_differences, get_versions


def test_versions_are_those_that_the_packages_tell_of_themselves():
    assert get_versions() == {
        "fairtrial": fairtrial.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }


def test_each_difference_is_named():
    wanted = {"fairtrial": "1.0", "numpy": "2.3.1", "xgboost": "3.0", "scikit-learn": "1.7"}
    found = {"fairtrial": "1.0", "numpy": "2.0.0", "xgboost": "not installed"}
    assert find_version_differences(wanted, found) == ["numpy 2.0.0 instead of 2.3.1", "no xgboost", "no scikit-learn"]


def test_a_package_that_is_absent_on_both_sides_is_no_difference():
    assert find_version_differences({"mine": "not installed"}, {"mine": "not installed"}) == []


def test_a_worker_with_other_packages_is_refused_by_name():
    CheckedWork("run", {"numpy": "2"}).refuse_differences("the worker", {"numpy": "2"})
    with pytest.raises(InputError, match=r"node7 must have .* got numpy 1 instead of 2"):
        CheckedWork("run", {"numpy": "2"}).refuse_differences("the worker on node7", {"numpy": "1"})
