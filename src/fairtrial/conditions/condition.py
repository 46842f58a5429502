"""The base class of conditions, their registry, and how a declaration in a study becomes a condition."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, check_generator, check_number, check_one_of
from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def to_plain(value: Any) -> Any:
    """Numbers, text, lists and dictionaries only; whatever differs stays different.

    A function is told by its name and a digest of its code, since two functions may share a name.

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
    """One text for equal plain values, in whatever order a dictionary was written.

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
    """What a function does: its instructions, constants, names, defaults, and the values that it closes over."""
    code = function.__code__
    constants = [constant.co_code if hasattr(constant, "co_code") else to_plain(constant) for constant in code.co_consts]
    closed = [to_plain(cell.cell_contents) for cell in function.__closure__ or ()]
    return code.co_code, constants, code.co_names, to_plain(function.__defaults__), to_plain(function.__kwdefaults__), closed


BoolArray = npt.NDArray[np.bool_]


Part = Literal["train", "test", "all"]


registry: Registry[type[Condition]] = Registry("condition", group="fairtrial.conditions", package="fairtrial.conditions")


_PARTS = {"train": "in the training part", "test": "in the test part", "all": "in all parts"}


@dataclass(frozen=True, eq=False)
class Changed:
    """What a condition leaves: the changed table and classes, where it changed them, and how much it did.

    `mask` marks what changed: cells (n, d) for a change of attributes, rows (n,) for one of classes or of who is there.
    `rows` are the positions, in the data that came in, of the rows that went out: those removed are not among them, those
    drawn twice are there twice. `level` is the realised level, in the units of the declared one. `chosen` tells how many cases
    (cells) were drawn for a change; it exceeds what `mask` marks where a drawn value met the old one. `steps` are the changes
    that a sequence is made of. It unpacks to X, y, mask, level.
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
        """A line for each thing that changed: its row and, for a cell, its column."""
        import pandas as pd

        return pd.DataFrame(np.argwhere(self.mask), columns=["row", "column"][: self.mask.ndim])

    def __str__(self) -> str:
        unit = "rows" if self.mask.ndim == 1 else "values"
        text = f"{np.count_nonzero(self.mask)} of {self.mask.size} {unit} changed, realised level {self.level:.4g}"
        return text if self.chosen == np.count_nonzero(self.mask) else f"{text}; {self.chosen} were chosen"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A change of the data that is declared for the training part, the test part, or both.

    A subclass is a frozen dataclass with `_apply(X, y, rng)`, which must not modify its input, and `_describe_change()`, which
    says in words what it does. It is found by its name in a study: `@condition("class-noise")`.
    """

    name: ClassVar[str] = ""
    part: Part = "train"

    def __post_init__(self) -> None:
        check_one_of("part", self.part, ["train", "test", "all"])
        self._check()
        level = getattr(self, "level", None)
        if level is not None:  # 1 and 1.0 are the same level, and must have the same hash
            object.__setattr__(self, "level", float(level))

    def _check(self) -> None:
        """Whether the parameters make sense; a subclass with parameters says so here."""

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        raise NotImplementedError

    def _describe_change(self) -> str:
        return self.name or type(self).__name__

    def _count_rows(self, X: Any) -> int:
        return count_rows(X)

    def apply(self, X: Any, y: Any = None, rng: Any = None) -> Changed:
        """The changed data. `rng` is a seed or a generator; X and y keep their types and are not written to."""
        n = self._count_rows(X)
        if n == 0:
            raise InputError("X must hold at least 1 row, got 0")
        if y is not None and len(y) != n:
            raise InputError(f"X and y must have the same number of rows: X has {n}, y has {len(y)}")
        return self._apply(X, y, check_generator("rng", rng))

    def limit_to(self, part: Part) -> Condition:
        """What to apply to this part, `"train"` or `"test"`: the condition where it is declared for it, else nothing."""
        check_one_of("part", part, ["train", "test"])
        return self if self.part in (part, "all") else Clean()

    def describe(self) -> dict[str, Any]:
        """The name and every parameter as plain values. Equal descriptions make equal changes; see `from_declaration`."""
        return {"condition": self.name} | {field.name: to_plain(getattr(self, field.name)) for field in fields(self)}

    @property
    def content_hash(self) -> str:
        """SHA-256 of the description."""
        return hashlib.sha256(encode_canonical(self.describe()).encode()).hexdigest()

    def summarise(self) -> str:
        """What it does, in words."""
        return f"{self._describe_change()} {_PARTS[self.part]}"

    def __str__(self) -> str:
        return self.summarise()

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def count_rows(X: Any) -> int:
    """How many rows a table has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_level(level: object, name: str = "level") -> None:
    """A level is a share: a number from 0 to 1."""
    check_number(name, level)
    if not 0 <= level <= 1:  # type: ignore[operator]
        remedy = f": {level!r} per cent is {level / 100:g}" if 1 < level <= 100 else ""  # type: ignore[operator]
        raise InputError(f"{name} must lie between 0 and 1, got {level!r}{remedy}")


def round_count(level: float, n: int) -> int:
    """How many of n cases a level changes: rounded to the nearest, halves to the even one.

    >>> round_count(0.1, 25), round_count(0.1, 35), round_count(0.3, 10)
    (2, 4, 3)
    """
    return round(round(level * n, 9))


def format_percent(level: float) -> str:
    """A share in words.

    >>> format_percent(0.1), format_percent(0.125)
    ('10 %', '12.5 %')
    """
    return f"{round(100 * level, 9):g} %"


def condition(name: str) -> Any:
    """Register a condition under its name."""

    def register(cls: type[Condition]) -> type[Condition]:
        cls.name = name
        registry.add(name, cls)
        return cls

    return register


@condition("clean")
@dataclass(frozen=True, kw_only=True)
class Clean(Condition):
    """Nothing changes.

    >>> changed = Clean().apply([[1.0], [2.0]], ["a", "b"])
    >>> changed.level, changed.mask.tolist()
    (0.0, [False, False])
    """

    part: Part = "all"

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))

    def summarise(self) -> str:
        """What it does, in words."""
        return "clean"


def from_declaration(condition: str, **parameters: Any) -> Condition:
    """The condition of this name with these parameters, as a study declares it; the reverse of `describe`.

    The steps of a sequence are mappings, each with its name under "condition".

    >>> noise = from_declaration("class-noise", level=0.1)
    >>> print(noise)
    10 % class noise (symmetric-uniform) in the training part
    >>> from_declaration(**noise.describe()) == noise
    True
    """
    if not isinstance(condition, str):
        raise InputError(f"condition must be a name, got {condition!r}: known are {', '.join(registry)}")
    kind = registry[condition]
    init_fields = [field for field in fields(kind) if field.init]
    names = [field.name for field in init_fields]
    for name in parameters:
        if name not in names:
            raise InputError(f"{condition} has no parameter {name!r}: {suggest_name(name, names)}")
    for field in init_fields:
        if field.default is MISSING and field.default_factory is MISSING and field.name not in parameters:
            raise InputError(f"{condition} needs the parameter {field.name!r}, got {sorted(parameters) or 'none'}")
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
