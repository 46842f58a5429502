"""The header of a study in a store: the names that it gives to hashes. One that was damaged is refused, never half read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.errors import StoreError
from fairtrial.study.store import store_values as values
from fairtrial.study.store.store_plan import Ids


def read_header(text: str, path: Path) -> Mapping[str, Any]:
    """The header as plain values; `path` is that of the store, for errors.

    >>> found = {"name": "mine", "declaration": {}, "seed": 1, "data": [], "conditions": [], "learners": [], "splits": {}}
    >>> read_header(values.to_json(found), Path("a.fairtrial")) == found
    True
    """
    header = values.from_json(text)
    try:
        _look_through(header)
    except KeyError as error:
        raise _damaged(path, f"the header of a study lacks {error.args[0]!r}") from None
    except (TypeError, ValueError) as error:
        raise _damaged(path, f"the header of a study cannot be read: {error}") from None
    return dict(header)


def refuse_unknown(header: Mapping[str, Any], ids: Ids, path: Path) -> None:
    """All that the header names must be in the store: a trial of something unknown would pass for one that has not run."""
    for kind, known in {"data": ids.data, "conditions": ids.condition, "learners": ids.learner}.items():
        for name, *_, own in header[kind]:
            if own not in known:
                raise _damaged(path, f"the study {header['name']!r} names {name!r} among its {kind}, which are not there")
    for name, own in header["data"]:
        for repeat, fold, split in header["splits"][own]:
            if (ids.data[own], bytes.fromhex(split)) not in ids.split:
                raise _damaged(path, f"a split of {name!r}, repeat {repeat} and fold {fold}, is not there")


def _look_through(header: Any) -> None:
    """Raises where something is missing or of another kind."""
    str(header["name"]), dict(header["declaration"]), int(header["seed"])
    for _, own in header["data"]:
        for repeat, fold, split in header["splits"][own]:
            int(repeat), int(fold), bytes.fromhex(split)
    for _, level, _ in header["conditions"]:
        float(level)
    for _, _ in header["learners"]:
        pass


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(f"{path} is damaged ({what}): take a copy from before, or run the study into a new store")
