"""From a declaration in a study to a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from fairtrial._registry import did_you_mean
from fairtrial.conditions.condition import Condition, registry
from fairtrial.errors import InputError


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
    known = [each for each in fields(kind) if each.init]
    names = [each.name for each in known]
    for name in parameters:
        if name not in names:
            raise InputError(f"{condition} has no parameter {name!r}: {did_you_mean(name, names)}")
    for each in known:
        if each.default is MISSING and each.default_factory is MISSING and each.name not in parameters:
            raise InputError(f"{condition} needs the parameter {each.name!r}, got {sorted(parameters) or 'none'}")
    if "steps" in names:
        parameters = {**parameters, "steps": _declared_steps(parameters["steps"])}
    return kind(**parameters)


def _declared_steps(steps: Any) -> Any:
    if not isinstance(steps, (list, tuple)):
        return steps
    return [_declared_step(number, step) for number, step in enumerate(steps)]


def _declared_step(number: int, step: Any) -> Any:
    if not isinstance(step, Mapping):
        return step
    if "condition" not in step:
        raise InputError(f'step {number} must name its condition, got {dict(step)}: write condition = "class-noise"')
    return from_declaration(**step)
