"""Whose fault it is shows in the class, and Python's own classes still catch it."""

import inspect

import pytest

from fairtrial import errors


@pytest.mark.parametrize(
    ("error", "parents"),
    [
        (errors.InputError, (errors.FairtrialError, ValueError)),
        (errors.UnknownNameError, (errors.InputError, LookupError)),
        (errors.SpecError, (errors.FairtrialError,)),
        (errors.LearnerError, (errors.FairtrialError,)),
        (errors.StoreError, (errors.FairtrialError,)),
        (errors.UndefinedMeasureWarning, (errors.FairtrialWarning, UserWarning)),
        (errors.FallbackWarning, (errors.FairtrialWarning,)),
        (errors.SuspectInputWarning, (errors.FairtrialWarning,)),
    ],
)
def test_the_tree_of_errors(error, parents):
    assert all(issubclass(error, parent) for parent in parents)


def test_errors_of_others_are_not_the_users_fault():
    assert not issubclass(errors.LearnerError, ValueError)
    assert not issubclass(errors.FairtrialWarning, errors.FairtrialError)


def test_the_tree_is_drawn_in_the_docstring():
    classes = [name for name, _ in inspect.getmembers(errors, inspect.isclass)]
    assert classes
    assert all(name in errors.__doc__ for name in classes)


def test_a_message_is_printed_as_it_was_written():
    assert str(errors.UnknownNameError("no measure is called 'x'")) == "no measure is called 'x'"
