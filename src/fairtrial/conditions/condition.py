"""Base class and registry of conditions, and conversion of declarations in study files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, check_generator, check_number, check_one_of
from fairtrial._frames import to_pandas
from fairtrial._registry import Registry, suggest_name
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def to_plain(value: Any) -> Any:
    """Convert a value to plain numbers, strings, lists and dictionaries.

    A function is converted to its name and a hash of its code, because two functions can have the same name.

    >>> to_plain({"levels": (np.float64(0.1), np.int64(2))})
    {'levels': [0.1, 2]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {to_plain(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [to_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((to_plain(item) for item in value), key=repr)
    if hasattr(value, "describe"):
        return value.describe()
    return _describe_function(value) if callable(value) else repr(value)


def encode_canonical(described: Any) -> str:
    """Convert plain values to a string that does not depend on the order of dictionary keys.

    >>> encode_canonical({"b": 1, "a": [0.1]})
    "{'a': [0.1], 'b': 1}"
    """
    if isinstance(described, dict):
        pairs = sorted((repr(key), encode_canonical(value)) for key, value in described.items())
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    if isinstance(described, list):
        return "[" + ", ".join(map(encode_canonical, described)) + "]"
    return repr(described)


def _describe_function(function: Any) -> str:
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
    code = getattr(function, "__code__", None)
    return name if code is None else f"{name}#{hashlib.sha256(repr(_describe_code(function)).encode()).hexdigest()[:16]}"


def _describe_code(function: Any) -> tuple[Any, ...]:
    """Collect the instructions, constants, names, defaults and closure values of a function."""
    code = function.__code__
    constants = [constant.co_code if hasattr(constant, "co_code") else to_plain(constant) for constant in code.co_consts]
    closed = [to_plain(cell.cell_contents) for cell in function.__closure__ or ()]
    return code.co_code, constants, code.co_names, to_plain(function.__defaults__), to_plain(function.__kwdefaults__), closed


BoolArray = npt.NDArray[np.bool_]


Part = Literal["train", "test", "all"]


registry: Registry[type[Condition]] = Registry("condition", group="fairtrial.conditions", package="fairtrial.conditions")


_PARTS = {"train": "in the training set", "test": "in the test set", "all": "in the training and test sets"}


@dataclass(frozen=True, eq=False)
class Changed:
    """The data after a condition has been applied, with a record of what changed.

    The object can be unpacked into X, y, mask and level.

    Attributes
    ----------
    X, y : table, array-like
        Attributes and classes after the change. Their types are the same as before.
    mask : ndarray of bool
        If attributes change, an array of shape (n, d) that marks the changed cells. Otherwise, an array of shape (n,) that
        marks the changed or removed rows.
    level : float
        Realized level, in the units of the declared level.
    rows : ndarray of int
        Indices of the rows in the original data. Removed rows are left out, and rows that were drawn twice occur twice.
    chosen : int
        Number of cells or rows drawn for a change. A drawn cell or row that receives its old value again is not marked in
        `mask`.
    steps : tuple of Changed
        Results of the steps of a sequence.

    Examples
    --------
    >>> from fairtrial.conditions import ClassNoise
    >>> X, y, mask, level = ClassNoise(0.5).apply([[1], [2]], ["a", "b"], rng=1)
    >>> int(mask.sum()), level
    (1, 0.5)
    """

    X: Any
    y: Any
    mask: BoolArray
    level: float
    rows: IntArray
    chosen: int = -1
    steps: tuple[Changed, ...] = ()

    def __post_init__(self) -> None:
        if self.chosen < 0:
            object.__setattr__(self, "chosen", int(np.count_nonzero(self.mask)))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.mask, self.level))

    def __repr__(self) -> str:
        return f"<Changed: {self}>"

    def frame(self) -> pd.DataFrame:
        """Return a frame that lists the changed rows, or the row and column of each changed cell."""
        import pandas as pd

        return pd.DataFrame(np.argwhere(self.mask), columns=["row", "column"][: self.mask.ndim])

    def __str__(self) -> str:
        total = format_count(self.mask.size, "row" if self.mask.ndim == 1 else "value")
        text = f"{np.count_nonzero(self.mask):,} of {total} changed, realized level {self.level:.4g}"
        return text if self.chosen == np.count_nonzero(self.mask) else f"{text}; {self.chosen:,} drawn"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Base class of conditions: declared changes to the training set, the test set, or both.

    A subclass is a frozen dataclass, registered with the decorator `condition`. It defines `_apply(X, y, rng)`, which returns a
    `Changed` object and must not modify its input. It can also override `_describe_change()`, which describes the change in a
    short phrase.

    Parameters
    ----------
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> from fairtrial.conditions import MissingValues
    >>> isinstance(MissingValues(0.1), Condition), MissingValues(0.1).part
    (True, 'train')
    """

    name: ClassVar[str] = ""
    part: Part = "train"

    _shared_draws: ClassVar[Mapping[str, Any]] = {}
    """Parameter values that are assumed when the random seed is derived. Conditions that differ only in these parameters draw
    the same random numbers."""

    @property
    def is_clean(self) -> bool:
        """Whether the condition changes nothing."""
        return getattr(self, "level", None) == 0

    def __post_init__(self) -> None:
        check_one_of("part", self.part, ["train", "test", "all"])
        self._check()
        level = getattr(self, "level", None)
        if level is not None:  # 1 and 1.0 are the same level and must have the same hash
            object.__setattr__(self, "level", float(level))

    def _check(self) -> None:
        """Check the parameters. Subclasses with parameters override this method."""

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        raise NotImplementedError

    def _describe_change(self) -> str:
        return self.name or type(self).__name__

    def _count_rows(self, X: Any) -> int:
        return count_rows(X)

    def apply(self, X: Any, y: Any = None, rng: Any = None) -> Changed:
        """Apply the condition to data, regardless of its `part`.

        Parameters
        ----------
        X : dataframe, 2-D array or list of rows
            Attributes, which are not modified. Polars and PyArrow tables are converted to pandas.
        y : array-like, optional
            Class of each row. This argument is not modified.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        Changed
        """
        frame = to_pandas(X)
        X = X if frame is None else frame
        n = self._count_rows(X)
        if n == 0:
            raise InputError("X must have at least 1 row, got 0")
        if y is not None and len(y) != n:
            raise InputError(f"X and y must have the same number of rows, got {n} and {len(y)}")
        return self._apply(X, y, check_generator("rng", rng))

    def limit_to(self, part: Part) -> Condition:
        """Return the condition if it changes the given part of the data, otherwise `Clean()`.

        Parameters
        ----------
        part : {"train", "test"}
            Training set or test set.

        Returns
        -------
        Condition
        """
        check_one_of("part", part, ["train", "test"])
        return self if self.part in (part, "all") else Clean()

    def describe(self) -> dict[str, Any]:
        """Return the name and the parameters as plain values.

        `from_declaration` accepts these values unless a parameter is a function.
        """
        return {"condition": self.name} | {field.name: to_plain(getattr(self, field.name)) for field in fields(self)}

    @property
    def content_hash(self) -> str:
        """SHA-256 hash of the description."""
        return hashlib.sha256(encode_canonical(self.describe()).encode()).hexdigest()

    def summarise(self) -> str:
        """Describe the condition in a short phrase."""
        return f"{self._describe_change()} {_PARTS[self.part]}"

    def __str__(self) -> str:
        return self.summarise()

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def count_rows(X: Any) -> int:
    """Count the rows of a table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_level(level: object, name: str = "level") -> None:
    """Check that a noise level is a number from 0 to 1."""
    check_number(name, level)
    if not 0 <= level <= 1:  # type: ignore[operator]
        remedy = f": pass {level / 100:g} for {level:g} %" if 1 < level <= 100 else ""  # type: ignore[operator]
        raise InputError(f"{name} must lie between 0 and 1, got {level!r}{remedy}")


def round_count(level: float, n: int) -> int:
    """Compute the number of cases to change: round(level * n), with halves rounded to even.

    >>> round_count(0.1, 25), round_count(0.1, 35), round_count(0.3, 10)
    (2, 4, 3)
    """
    return round(round(level * n, 9))


def condition(name: str) -> Any:
    """Register a condition class under the name that study files use.

    Parameters
    ----------
    name : str
        Name of the condition.

    Returns
    -------
    callable
        Class decorator.

    Examples
    --------
    >>> @condition("shuffled-classes")
    ... @dataclass(frozen=True, kw_only=True)
    ... class ShuffledClasses(Condition):
    ...     def _apply(self, X, y, rng):
    ...         new = [y[i] for i in rng.permutation(len(y))]
    ...         mask = np.array([a != b for a, b in zip(y, new)])
    ...         return Changed(X, new, mask, float(mask.mean()), np.arange(len(y)))
    >>> from_declaration("shuffled-classes").part
    'train'
    >>> registry.remove("shuffled-classes")
    """

    def register(cls: type[Condition]) -> type[Condition]:
        cls.name = name
        registry.add(name, cls)
        return cls

    return register


@condition("clean")
@dataclass(frozen=True, kw_only=True)
class Clean(Condition):
    """Identity condition: leaves the data unchanged.

    Parameters
    ----------
    part : {"train", "test", "all"}, default "all"
        Data to which the condition applies: training set, test set, or both.

    Examples
    --------
    >>> changed = Clean().apply([[1.0], [2.0]], ["a", "b"])
    >>> changed.level, changed.mask.tolist()
    (0.0, [False, False])
    """

    part: Part = "all"

    @property
    def is_clean(self) -> bool:
        """Always true, because `Clean` changes nothing."""
        return True

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))

    def summarise(self) -> str:
        """Describe the condition in a short phrase."""
        return "clean"


def from_declaration(condition: str, **parameters: Any) -> Condition:
    """Build a condition from its name and parameters, as declared in a study file.

    This function is the inverse of `Condition.describe`, unless a parameter of the condition is a function.

    Parameters
    ----------
    condition : str
        Name of the condition, such as "class-noise".
    **parameters : object
        Parameters of the condition. Each step of a sequence is a mapping that contains the name of its condition under the key
        "condition".

    Returns
    -------
    Condition

    Raises
    ------
    InputError
        If the condition or a parameter is unknown, or a required parameter is missing.

    Examples
    --------
    >>> noise = from_declaration("class-noise", level=0.1)
    >>> print(noise)
    10 % class noise (symmetric-uniform) in the training set
    >>> from_declaration(**noise.describe()) == noise
    True
    """
    if not isinstance(condition, str):
        raise InputError(f"condition must be a name, got {condition!r}: pass one of {join_names(registry, None, 'or')}")
    kind = registry[condition]
    init_fields = [field for field in fields(kind) if field.init]
    names = [field.name for field in init_fields]
    for name in parameters:
        if name not in names:
            raise InputError(f"{condition} has no parameter {name!r}: {suggest_name(name, names)}")
    for field in init_fields:
        if field.default is MISSING and field.default_factory is MISSING and field.name not in parameters:
            received = join_names(sorted(parameters)) or "no parameter"
            raise InputError(f"{condition} requires the parameter {field.name!r}, got {received}")
    if "steps" in names:
        parameters = {**parameters, "steps": _resolve_steps(parameters["steps"])}
    return kind(**parameters)


def _resolve_steps(steps: Any) -> Any:
    if not isinstance(steps, (list, tuple)):
        return steps
    return [_resolve_step(number, step) for number, step in enumerate(steps)]


def _resolve_step(number: int, step: Any) -> Any:
    if not isinstance(step, Mapping):
        return step
    if "condition" not in step:
        raise InputError(f'step {number} must name its condition, got {dict(step)}: write condition = "class-noise"')
    return from_declaration(**step)
