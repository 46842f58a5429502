"""Our numbers beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def beside(ours: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], *, interval: bool = True) -> pd.DataFrame:
    """Lines of both, joined by the keys: ours, published, their difference and, by `low` and `high` of ours, its interval.

    Both have the keys and a column `value`; a line that only one of them has stays, with a hole. The published number counts
    as fixed: its own sampling error is unknown, so that a difference whose interval misses 0 may still be chance.

    >>> import pandas as pd
    >>> ours = pd.DataFrame({"set": ["iris"], "value": [94.0], "low": [92.0], "high": [96.0]})
    >>> theirs = pd.DataFrame({"set": ["iris", "wine"], "value": [95.0, 97.0]})
    >>> beside(ours, theirs, ["set"]).compute_values.tolist()
    [['iris', 94.0, 95.0, -1.0, -3.0, 1.0], ['wine', nan, 97.0, nan, nan, nan]]
    """
    keys = list(keys)
    columns = [*keys, "value", *(("low", "high") if interval else ())]
    theirs = published[[*keys, "value"]].rename(columns={"value": "published"})
    both = in_order(ours[columns].merge(theirs, on=keys, how="outer"), [ours, theirs], keys)
    found = both[keys].assign(ours=both["value"], published=both["published"])
    found["difference"] = found["ours"] - found["published"]
    if interval:
        found["low"], found["high"] = (both[end] - found["published"] for end in ("low", "high"))
    return found


def in_order(frame: pd.DataFrame, frames: Sequence[pd.DataFrame], keys: Sequence[str]) -> pd.DataFrame:
    """Lines in the order in which the frames first have their keys; a join sorts them otherwise.

    >>> import pandas as pd
    >>> in_order(pd.DataFrame({"set": ["a", "b"]}), [pd.DataFrame({"set": ["b", "a"]})], ["set"])["set"].tolist()
    ['b', 'a']
    """
    import pandas as pd

    first = pd.concat([each[list(keys)] for each in frames]).drop_duplicates()
    return first.merge(frame, on=list(keys), how="left")
