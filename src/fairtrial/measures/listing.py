"""What is known of all measures, as a table: the command line and the documentation read it from here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from fairtrial import _check
from fairtrial.measures.measure import Facts, get_measure, registry

if TYPE_CHECKING:
    import pandas as pd

_NEEDS = ("labels", "scores", "probabilities", "values", "results")


def facts_frame(needs: str | None = None) -> pd.DataFrame:
    """A line for each measure.

    >>> facts_frame("scores").loc[0, ["measure", "better", "range", "chance"]].tolist()
    ['auc', 'higher', '0 to 1', '0.5']
    """
    import pandas as pd

    if needs is not None:
        _check.one_of("needs", needs, _NEEDS)
    chosen = [each.facts for each in registry.values() if needs in (None, each.facts.needs)]
    chosen.sort(key=lambda facts: _NEEDS.index(facts.needs))
    return pd.DataFrame([_line(facts) for facts in chosen])


def one(name: str) -> str:
    """All about one measure, as text.

    >>> print(one("roc_auc").split(chr(10))[0])
    auc(y_true, y_score, *, positive=None, labels=None, average='auto', sample_weight=None)
    """
    found = get_measure(name)
    facts = _line(found.facts)
    known = "\n".join(
        f"{key + ':':14}{value}" for key, value in facts.items() if key not in ("measure", "what it is") and value
    )
    return f"{found.name}{signature_of(found.name)}\n\n{inspect.getdoc(found)}\n\n{known}"


def signature_of(name: str) -> str:
    """The call, without annotations."""
    signature = inspect.signature(get_measure(name))
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _line(facts: Facts) -> dict[str, str]:
    low, high = facts.range
    return {
        "measure": facts.name,
        "needs": facts.needs,
        "better": "higher" if facts.direction == "max" else "lower",
        "range": f"{low:g} to {high:g}",
        "chance": "" if facts.chance is None else f"{facts.chance:g}",
        "what it is": facts.summary,
        "reference": facts.cite,
        "also called": ", ".join(facts.aliases),
    }
