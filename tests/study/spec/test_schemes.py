"""Schemes by name: the splitters that they stand for, their repeats, their text."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairtrial import _registry
from fairtrial.data import Dataset, load
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.resampling import DOBSCV, Bootstrap, FiveByTwo, Given, KFold, Repeated, Splits, StratifiedKFold, WekaFolds
from fairtrial.resampling.splitter import FoldSplitter, scheme, schemes
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.schemes import build_scheme, build_scheme_from_splitter

IRIS = load("iris")


@pytest.mark.parametrize("name", list(schemes))
def test_every_scheme_splits(name):
    made = build_scheme({"scheme": name} | ({"n_splits": 3} if name in ("bootstrap", "subsampling") else {}))
    splits = made.draw_splits(IRIS, None, 0, np.random.default_rng(1))
    assert splits.n_rows == 150
    assert all(not set(part.train) & set(part.test) for part in splits)


def test_the_generator_decides_the_splits_as_it_does_in_the_splitter():
    ours = build_scheme({"scheme": "stratified", "folds": 5}).draw_splits(IRIS, None, 0, np.random.default_rng(7))
    theirs = StratifiedKFold(5).freeze(IRIS.X, IRIS.y, random_state=np.random.default_rng(7))
    assert ours.content_hash == theirs.content_hash


def test_parts_carry_the_number_of_the_repeat():
    splits = build_scheme({"scheme": "kfold", "folds": 2, "repeats": 5}).draw_splits(IRIS, None, 3, np.random.default_rng(1))
    assert [(part.repeat, part.fold) for part in splits] == [(3, 0), (3, 1)]
    draws = build_scheme({"scheme": "bootstrap", "n_splits": 3}).draw_splits(IRIS, None, 2, np.random.default_rng(1))
    assert [part.repeat for part in draws] == [6, 7, 8]


def test_weka_counts_its_seed_up_with_the_repeats():
    weka = build_scheme({"scheme": "weka", "folds": 10, "repeats": 3})
    third = weka.draw_splits(IRIS, None, 2, np.random.default_rng(1))
    assert third.content_hash == WekaFolds(10, random_state=3).freeze(IRIS.X, IRIS.y).content_hash


def test_the_text_tells_all_but_the_repeats():
    text = build_scheme({"scheme": "dob-scv", "folds": 5, "repeats": 2}).text
    assert text == build_scheme({"scheme": "dob-scv", "n_splits": 5, "assign": "shuffled"}).text
    assert text == build_scheme_from_splitter(Repeated(DOBSCV(5), 7)).text
    others = [
        {"scheme": "dob-scv", "folds": 4},
        {"scheme": "dob-scv", "folds": 5, "assign": "keel"},
        {"scheme": "db-scv", "folds": 5},
    ]
    assert len({text, *(build_scheme(each).text for each in others)}) == 4


def test_given_splits_are_taken_as_they_are():
    given = Splits.from_pairs([([0, 1], [2])], 150)
    made = build_scheme({"scheme": "given"})
    assert made.draw_splits(IRIS, given, 0, np.random.default_rng(1)) is given
    with pytest.raises(InputError, match=r"iris .*'given'"):
        made.draw_splits(IRIS, None, 0, np.random.default_rng(1))


def test_splitter_objects():
    five_by_two = build_scheme_from_splitter(FiveByTwo())
    assert (five_by_two.name, five_by_two.repeats, five_by_two.splitter.n_splits) == ("stratified", 5, 2)
    assert build_scheme_from_splitter(Bootstrap(30)).name == "bootstrap"
    assert build_scheme_from_splitter(Given([([0], [1])])).name == "object"
    with pytest.raises(InputError, match="random_state"):
        build_scheme_from_splitter(KFold(5, random_state=1))


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"scheme": "stratifed"}, "'stratifed': .*'stratified'"),
        ({"scheme": "kfold", "fold": 3}, "kfold .*'fold': .*'folds'"),
        ({"scheme": "holdout", "folds": 3}, "holdout .*'folds': .*stratify, test_size"),
        ({"scheme": "given", "folds": 3}, "given .*'folds'"),
        ({"scheme": "kfold", "random_state": 3}, "'random_state'"),
        ({"scheme": "leave-one-out", "repeats": 2}, "repeats must be 1 for leave-one-out"),
        ({"scheme": "given", "repeats": 2}, "repeats must be 1 for given"),
        ({"scheme": "holdout", "test_size": 3.5}, "test_size must"),
        ({"scheme": "dob-scv", "assign": "shufled"}, "'shuffled'"),
    ],
)
def test_what_cannot_be_a_scheme(declared, told):
    with pytest.raises((InputError, UnknownNameError), match=told):
        build_scheme(declared)


def test_too_many_folds_are_told_before_anything_runs():
    few = IRIS.take([0, 1, 2, 50, 51, 100])
    with pytest.raises(InputError, match=r"folds must be .* 3 in few, got 5"):
        build_scheme({"scheme": "stratified", "folds": 5}).check("few", few, None)
    with pytest.raises(InputError, match=r"folds must be .* 6 in few, got 7"):
        build_scheme({"scheme": "kfold", "folds": 7}).check("few", few, None)
    build_scheme({"scheme": "stratified", "folds": 3}).check("few", few, None)
    with pytest.raises(InputError, match=r"few .*'given'"):
        build_scheme({"scheme": "given"}).check("few", few, None)


@pytest.mark.parametrize(("values", "asked"), [(30, True), (2, False)])
def test_a_class_column_with_very_many_values_is_asked_about(values, asked):
    data = Dataset.from_table([[0.0]] * 60, [each % values for each in range(60)], name="regr", target="y")
    with pytest.raises(InputError) as caught:
        build_scheme({"scheme": "stratified", "folds": 40}).check("regr", data, None)
    assert ("'y' has 30 different values in 60 rows" in str(caught.value)) == asked
    assert f"{60 // values} in regr, got 40" in str(caught.value)


def test_a_splitter_is_a_scheme_once_it_is_registered(monkeypatch):
    monkeypatch.setattr(schemes, "_items", dict(schemes._items))

    @scheme("every-other")
    class EveryOther(FoldSplitter):
        def _assign_folds(self, rows, rng):
            return np.arange(rows.n) % self.n_splits

    spec = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "resampling": "every-other"})
    assert spec.resampling.to_dict() == {"scheme": "every-other", "folds": 10, "repeats": 1}
    made = build_scheme(spec.resampling.to_dict())
    assert made.text == build_scheme_from_splitter(EveryOther(10)).text == "{'n_splits': 10, 'scheme': 'every-other'}"
    splits = made.draw_splits(IRIS, None, 0, np.random.default_rng(1))
    assert splits.splits[3].test.tolist() == list(range(3, 150, 10))
    with pytest.raises(InputError, match="'kfold'"):
        scheme("kfold")(EveryOther)


def test_other_packages_register_schemes_by_an_entry_point(monkeypatch):
    loaded = []
    point = SimpleNamespace(load=lambda: loaded.append("package"))
    monkeypatch.setattr(_registry, "entry_points", lambda group: [point] if group == "fairtrial.schemes" else [])
    monkeypatch.setattr(schemes, "_loaded", False)
    assert "kfold" in schemes
    assert loaded == ["package"]
