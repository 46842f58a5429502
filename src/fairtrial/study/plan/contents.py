"""What Python can see of an object: whether its state lies open, what its slots hold, whether its name says all."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, MemberDescriptorType
from typing import Any

_FLAGS, _MADE_BY_PYTHON = 3 << 8, 1 << 9  # Py_TPFLAGS_HEAPTYPE, not IMMUTABLETYPE: a class whose whole state Python can see


def seen_whole(value: Any) -> bool:
    """Whether an object keeps all that it holds where Python can see it: in its __dict__ and in declared slots."""
    line = type(value).__mro__[:-1]
    made_by_python = all(each.__flags__ & _FLAGS == _MADE_BY_PYTHON for each in line)
    return bool(line) and made_by_python and (hasattr(value, "__dict__") or all("__slots__" in vars(each) for each in line))


def slots_of(value: Any) -> dict[str, Any]:
    """What an object keeps in slots; the same name in two classes of its line are two slots."""
    slots = [
        (each.__qualname__, name, slot)
        for each in type(value).__mro__
        for name, slot in vars(each).items()
        if isinstance(slot, MemberDescriptorType)
    ]
    found = {}
    for kind, name, slot in slots:
        try:
            found[f"{kind}.{name}"] = slot.__get__(value)
        except AttributeError:  # it has not been filled
            continue
    return found


def found_by_name(value: Any) -> bool:
    """Whether its module knows it under its name: then the name says all."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        return False
    if isinstance(value, BuiltinFunctionType) and not isinstance(value.__self__, (type(sys), type(None))):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value
