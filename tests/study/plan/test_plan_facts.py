import numpy as np
import pandas as pd

from fairtrial.data import Dataset
from fairtrial.study.identity import compute_condition_identity
from fairtrial.study.plan.plan import TrialIndex, plan_study
from fairtrial.study.run.coordinator import add_plan, build_data_facts, build_link
from fairtrial.study.store.store import open_store
from tests.study.small_study import small_study


def test_a_store_gives_back_what_the_plan_is_about(tmp_path):
    planned = plan_study(small_study())
    with open_store(tmp_path / "a.fairtrial", write=True, create=True) as store:
        add_plan(store, planned)
        archive = store.open_archive()
        assert (archive.name, archive.seed) == ("small", 3)
        assert [each.name for each in archive.datasets] == ["first", "second"]
        assert [each.content_hash for each in archive.datasets] == [each.hash for each in planned.data]
        assert [(each.name, each.level) for each in archive.conditions] == [("clean", 0.0), ("class-noise", 0.1)]
        assert [(each.name, each.class_name.split(".")[-1]) for each in archive.learners] == [
            ("bayes", "GaussianNB"),
            ("tree", "DecisionTreeClassifier"),
        ]


def test_facts_of_a_data_set_with_gaps_and_a_class_without_rows():
    table = pd.DataFrame({"size": [1.0, np.nan, 3.0, 4.0], "hue": ["red", "blue", "red", "red"]})
    dataset = Dataset.from_table(table, ["b", "c", "c", "c"], classes=["a", "b", "c"], source="a book", notes=["as printed"])
    facts = build_data_facts(dataset, "named")
    assert (facts.name, facts.content_hash, facts.classes) == ("named", dataset.content_hash, ("a", "b", "c"))
    assert facts.codes.tolist() == [1, 2, 2, 2]
    assert facts.counts.tolist() == [0, 1, 3]
    assert facts.facts == {
        "rows": 4,
        "numeric": 1,
        "nominal": 1,
        "missing": 1,
        "imbalance_ratio": 3.0,
        "source": "a book",
        "notes": ["as printed"],
    }


def test_a_link_is_made_of_the_hashes_at_its_place():
    planned = plan_study(small_study())
    link = build_link(planned, TrialIndex(1, 2, 0, 1))
    assert link.data == planned.data[1].dataset.content_hash
    assert link.condition == compute_condition_identity(planned.conditions[0].condition).hash
    assert link.split.hex() == planned.data[1].split_hashes[2]
    assert link.learner == planned.learners[1].hash
