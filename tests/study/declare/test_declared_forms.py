"""Short forms mean what the long ones say."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.declare import declared_forms as forms


@pytest.mark.parametrize(
    ("form", "short", "long"),
    [
        (forms.data_form, "iris", {"sets": ["iris"]}),
        (forms.data_form, ("iris", "wine"), {"sets": ["iris", "wine"]}),
        (forms.data_form, {"heart": "heart.csv"}, {"heart": "heart.csv"}),
        (forms.data_set_form, "heart.csv", {"set": "heart.csv"}),
        (forms.learners_form, ["c45"], {"c45": {"learner": "c45"}}),
        (forms.learners_form, {"c45": {}, "t": "c45"}, {"c45": {"learner": "c45"}, "t": {"learner": "c45"}}),
        (forms.learners_form, {"x": {"object": "X()"}}, {"x": {"object": "X()"}}),
        (forms.conditions_form, {"class-noise": 0.1}, {"class-noise": {"condition": "class-noise", "level": 0.1}}),
        (
            forms.conditions_form,
            {"s": {"condition": "class-noise", "level": [0.1]}},
            {"s": {"condition": "class-noise", "level": [0.1]}},
        ),
        (forms.conditions_form, ["clean"], {"clean": {"condition": "clean"}}),
        (forms.resampling_form, "leave-one-out", {"scheme": "leave-one-out"}),
        (forms.resampling_form, {"n_splits": 3}, {"folds": 3}),
        (forms.resampling_form, {"scheme": "bootstrap", "n_splits": 3}, {"scheme": "bootstrap", "n_splits": 3}),
        (forms.sampler_form, "smote", {"sampler": "smote"}),
        (forms.levels_form, 0.1, [0.1]),
    ],
)
def test_short_and_long(form, short, long):
    assert form(short) == long


@pytest.mark.parametrize(
    ("form", "wrong", "told"),
    [
        (forms.data_form, 3, "data must be a table or a list of names and files, got 3"),
        (forms.learners_form, ["c45", "c45"], "learners must have different names, got 'c45' twice"),
        (forms.learners_form, [{"learner": "c45"}], "learners in a list must be names"),
        (forms.learners_form, {"": {}}, "learners must have names that are text"),
        (forms.resampling_form, {"folds": 2, "n_splits": 2}, "folds or n_splits, which mean the same, got both"),
        (forms.sampler_form, {"k_neighbors": 3}, "sampler must name itself"),
        (forms.levels_form, ["x"], r"level must be a number or a list of numbers such as \[0, 0.1, 0.2\], got \['x'\]"),
        (forms.levels_form, [], "level must be"),
        (forms.levels_form, [True], "level must be"),
    ],
)
def test_what_has_no_form(form, wrong, told):
    with pytest.raises(InputError, match=told):
        form(wrong)


def test_the_form_leaves_what_it_is_given_as_it_is():
    given = {"scheme": "kfold", "n_splits": 3}
    forms.resampling_form(given)
    assert given == {"scheme": "kfold", "n_splits": 3}
