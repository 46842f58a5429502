"""What can go wrong, and whose fault it is.

```
FairtrialError                 everything raised on purpose
├── InputError                 the user's data or arguments (also a ValueError)
│   └── UnknownNameError       a name that is not registered (also a LookupError)
├── SpecError                  the study file, with its place
├── LearnerError               the learner under trial
└── StoreError                 the file that keeps the evidence

FairtrialWarning               everything warned about on purpose (also a UserWarning)
├── UndefinedMeasureWarning    a number that does not exist for this input and is given as NaN
├── FallbackWarning            a method that does not apply here was replaced; the result names the other
└── SuspectInputWarning        input that is allowed but is probably not what was meant
```
"""


class FairtrialError(Exception):
    """Base of all errors that fairtrial raises on purpose."""


class InputError(FairtrialError, ValueError):
    """The data or an argument breaks a rule; the message names it, the rule, the value and the remedy."""


class UnknownNameError(InputError, LookupError):
    """A name that nothing is registered under."""


class SpecError(FairtrialError):
    """The study file is wrong; the message gives the place."""


class LearnerError(FairtrialError):
    """The learner failed."""


class StoreError(FairtrialError):
    """The evidence file cannot be read or written."""


class FairtrialWarning(UserWarning):
    """Base of all warnings that fairtrial gives on purpose."""


class UndefinedMeasureWarning(FairtrialWarning):
    """The measure has no value for this input; NaN is returned."""


class FallbackWarning(FairtrialWarning):
    """The method asked for does not apply here; another one was used and is named in the result."""


class SuspectInputWarning(FairtrialWarning):
    """The input is allowed but probably not what was meant."""
