"""Data sets of an experiment, found by name; what cannot be found is named and left out, never replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.data import Dataset


def found_sets(names: Mapping[str, str | Iterable[str]]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Data sets by the paper's name, and why others are not there.

    `names` gives for each of the paper's names that of the catalogue, or several, of which the first that is there is taken.

    >>> sets, missing = found_sets({"Iris": "iris", "Nowhere": ["no-such-set"]})
    >>> list(sets), list(missing)
    (['Iris'], ['Nowhere'])
    """
    from fairtrial.data import load

    found: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for name, places in names.items():
        for place in [places] if isinstance(places, str) else places:
            try:
                found[name] = load(place)
                break
            except InputError as error:
                missing.setdefault(name, str(error))
    return found, {name: why for name, why in missing.items() if name not in found}
