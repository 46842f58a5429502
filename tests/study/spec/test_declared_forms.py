"""Short forms mean what the long ones say."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.spec import models as forms


@pytest.mark.parametrize(
    ("form", "short", "long"),
    [
        (forms.expand_data, "iris", {"sets": ["iris"]}),
        (forms.expand_data, ("iris", "wine"), {"sets": ["iris", "wine"]}),
        (forms.expand_data, {"heart": "heart.csv"}, {"heart": "heart.csv"}),
        (forms.expand_data_set, "heart.csv", {"set": "heart.csv"}),
        (forms.expand_learners, ["c45"], {"c45": {"learner": "c45"}}),
        (forms.expand_learners, {"c45": {}, "t": "c45"}, {"c45": {"learner": "c45"}, "t": {"learner": "c45"}}),
        (forms.expand_learners, {"x": {"object": "X()"}}, {"x": {"object": "X()"}}),
        (forms.expand_conditions, {"class-noise": 0.1}, {"class-noise": {"condition": "class-noise", "level": 0.1}}),
        (
            forms.expand_conditions,
            {"s": {"condition": "class-noise", "level": [0.1]}},
            {"s": {"condition": "class-noise", "level": [0.1]}},
        ),
        (forms.expand_conditions, ["clean"], {"clean": {"condition": "clean"}}),
        (forms.expand_resampling, "leave-one-out", {"scheme": "leave-one-out"}),
        (forms.expand_resampling, {"n_splits": 3}, {"folds": 3}),
        (forms.expand_resampling, {"scheme": "bootstrap", "n_splits": 3}, {"scheme": "bootstrap", "n_splits": 3}),
        (forms.expand_sampler, "smote", {"sampler": "smote"}),
        (forms.expand_levels, 0.1, [0.1]),
    ],
)
def test_short_and_long(form, short, long):
    assert form(short) == long


@pytest.mark.parametrize(
    ("form", "wrong", "told"),
    [
        (forms.expand_data, 3, "data must be .*, got 3"),
        (forms.expand_learners, ["c45", "c45"], "learners must .*, got 'c45'"),
        (forms.expand_learners, [{"learner": "c45"}], "learners .*must be names"),
        (forms.expand_learners, {"": {}}, "learners must .*, got ''"),
        (forms.expand_resampling, {"folds": 2, "n_splits": 2}, "resampling must .*folds or n_splits"),
        (forms.expand_sampler, {"k_neighbors": 3}, "sampler must"),
        (forms.expand_levels, ["x"], r"level must be .*, got \['x'\]"),
        (forms.expand_levels, [], "level must be"),
        (forms.expand_levels, [True], "level must be"),
    ],
)
def test_what_has_no_form(form, wrong, told):
    with pytest.raises(InputError, match=told):
        form(wrong)


def test_the_form_leaves_what_it_is_given_as_it_is():
    given = {"scheme": "kfold", "n_splits": 3}
    forms.expand_resampling(given)
    assert given == {"scheme": "kfold", "n_splits": 3}
