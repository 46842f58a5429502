"""scikit-learn's sets."""

import pytest

from fairtrial.data.catalogue import list_builtin_entries


@pytest.mark.parametrize("entry", list_builtin_entries(), ids=lambda entry: entry.name)
def test_facts_and_names(entry):
    data, facts = entry.open(), entry.count()
    assert (len(data), data.X.shape[1], len(data.classes)) == (facts.rows, facts.attributes, facts.classes)
    assert data.name == entry.name
    assert data.source.startswith("scikit-learn ")
