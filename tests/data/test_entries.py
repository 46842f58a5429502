"""Lines of the catalogue."""

from fairtrial.data.catalogue import DatasetFacts, Entry


def test_an_entry_knows_its_address_and_counts_when_asked():
    asked = []
    entry = Entry("iris", "here", lambda: None, lambda: asked.append(1) or DatasetFacts(rows=3))
    assert entry.address == "here/iris"
    assert not asked
    assert entry.count() == DatasetFacts(3, None, None)
    assert Entry("x", "y", lambda: None).count() == DatasetFacts()
