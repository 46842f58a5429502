"""All measures as a table: the command line and the documentation read it from here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from fairtrial import _check
from fairtrial.measures.measure import MeasureFacts, get_measure, registry

if TYPE_CHECKING:
    import pandas as pd

_NEEDS = ("labels", "scores", "probabilities", "values", "results")


def build_facts_frame(needs: str | None = None) -> pd.DataFrame:
    """A line for each measure.

    >>> build_facts_frame("scores").loc[0, ["measure", "better", "range", "chance"]].tolist()
    ['auc', 'higher', '0 to 1', '0.5']
    """
    import pandas as pd

    if needs is not None:
        _check.check_one_of("needs", needs, _NEEDS)
    chosen = [measure.facts for measure in registry.values() if needs in (None, measure.facts.needs)]
    chosen.sort(key=lambda facts: _NEEDS.index(facts.needs))
    return pd.DataFrame([_describe_facts(facts) for facts in chosen])


def format_measure(name: str) -> str:
    """All about one measure, as text.

    >>> print(format_measure("roc_auc").split(chr(10))[0])
    auc(y_true, y_score, *, positive=None, labels=None, average='auto', sample_weight=None)
    """
    measure = get_measure(name)
    facts = _describe_facts(measure.facts)
    facts_text = "\n".join(
        f"{key + ':':14}{value}" for key, value in facts.items() if key not in ("measure", "what it is") and value
    )
    return f"{measure.name}{format_signature(measure.name)}\n\n{inspect.getdoc(measure)}\n\n{facts_text}"


def format_signature(name: str) -> str:
    """The call, without annotations."""
    signature = inspect.signature(get_measure(name))
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _describe_facts(facts: MeasureFacts) -> dict[str, str]:
    low, high = facts.range
    return {
        "measure": facts.name,
        "needs": facts.needs,
        "better": "higher" if facts.direction == "max" else "lower",
        "range": f"{low:g} to {high:g}",
        "chance": "" if facts.chance is None else f"{facts.chance:g}",
        "description": facts.summary,
        "reference": facts.cite,
        "aliases": ", ".join(facts.aliases),
    }
