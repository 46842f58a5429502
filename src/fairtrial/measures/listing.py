"""Tables and descriptions of all measures, for the command line and the documentation."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from fairtrial import _check
from fairtrial.measures.measure import MeasureFacts, get_measure, registry

if TYPE_CHECKING:
    import pandas as pd

_NEEDS = ("labels", "scores", "probabilities", "values", "results")


def build_facts_frame(needs: str | None = None) -> pd.DataFrame:
    """Return a data frame with one row per measure.

    >>> build_facts_frame("scores").loc[0, ["measure", "better", "range", "chance"]].tolist()
    ['auc', 'higher', '0 to 1', '0.5']
    """
    import pandas as pd

    return pd.DataFrame(collect_facts(needs))


def collect_facts(needs: str | None = None) -> dict[str, list[str]]:
    """Return the columns of `build_facts_frame`, without importing pandas."""
    if needs is not None:
        _check.check_one_of("needs", needs, _NEEDS)
    chosen = [measure.facts for measure in registry.values() if needs in (None, measure.facts.needs)]
    chosen.sort(key=lambda facts: _NEEDS.index(facts.needs))
    rows = [_describe_facts(facts) for facts in chosen]
    return {name: [row[name] for row in rows] for name in rows[0]}


def format_measure(name: str) -> str:
    """Describe one measure: its signature, docstring and metadata.

    >>> print(format_measure("roc_auc")[:30])
    AUC
    <BLANKLINE>
    auc(y_true, y_score, *, p
    """
    measure = get_measure(name)
    facts = _describe_facts(measure.facts)
    facts_text = "\n".join(f"{key + ':':14}{value}" for key, value in facts.items() if key in ("needs", "aliases") and value)
    heading = f"{measure.name}{format_signature(measure.name)}"
    return "\n\n".join([measure.display_name, heading, str(inspect.getdoc(measure)), facts_text])


def format_signature(name: str) -> str:
    """Format the signature of a measure without type annotations."""
    signature = inspect.signature(get_measure(name))
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _describe_facts(facts: MeasureFacts) -> dict[str, str]:
    low, high = facts.range
    return {
        "measure": facts.name,
        "needs": facts.needs,
        "better": facts.better,
        "range": f"{low:g} to {high:g}",
        "chance": "" if facts.chance is None else f"{facts.chance:g}",
        "description": facts.summary,
        "reference": facts.cite,
        "aliases": ", ".join(facts.aliases),
    }
