"""The class of an error shows its cause; Python's built-in classes catch it, too."""

import inspect
import pickle

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


def test_the_message_lists_all_problems_by_line():
    problems = [errors.Problem("learners.a", 12, "x"), errors.Problem("seed", 2, "y"), errors.Problem("", None, "z")]
    error = errors.SpecError.from_problems(problems, "study.toml")
    assert str(error).splitlines() == ["study.toml: z", "study.toml:2: seed: y", "study.toml:12: learners.a: x"]
    assert [each.message for each in error.problems] == ["z", "y", "x"]
    assert str(errors.SpecError.from_problems(problems[:1])) == "12: learners.a: x"


def test_a_spec_error_crosses_processes_with_its_problems():
    error = pickle.loads(pickle.dumps(errors.SpecError.from_problems([errors.Problem("seed", 2, "y")])))
    assert error.problems == (errors.Problem("seed", 2, "y"),)
    assert errors.SpecError("plain").problems == ()
