"""Tests of `fairtrial.study.plan`."""

import json
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairtrial.conditions import ClassNoise, Condition
from fairtrial.data import Dataset
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.learners import Prepared as PreparedUnfitted
from fairtrial.learners.prepared import Prepared
from fairtrial.resampling import Bootstrap, FiveByTwo, Holdout, KFold, LeaveOneOut, Split, Splits
from fairtrial.study.identity import PROTOCOL, compute_condition_identity, compute_digest, hash_split
from fairtrial.study.plan.plan import PendingTrials, TrialBlock, TrialIndex, plan_study
from fairtrial.study.plan.schedule import Chunker, clone_unfitted, dump_estimator
from fairtrial.study.records import PlannedSplits
from fairtrial.study.run.coordinator import add_plan, build_data_facts, build_link
from fairtrial.study.run.estimator import TrialLearner
from fairtrial.study.spec.resolve import NamedData, NamedScheme
from fairtrial.study.spec.schemes import build_scheme
from fairtrial.study.store.store import open_store
from tests.study.small_studies import CLEAN, rows, study
from tests.study.small_study import small_study

# --- Plan ---


NOISE = ("class-noise", 0.1, ClassNoise(level=0.1))


def test_a_warning_about_a_data_set_names_it_and_is_given_once():
    labels = np.array(["a"] * 20 + ["b"] * 2)
    dataset = Dataset.from_table(np.arange(44.0).reshape(22, 2), labels, name="rare")
    with pytest.warns(SuspectInputWarning, match="^data set rare: class 'b' has 2 rows for 3 folds") as caught:
        plan_study(study({"rare": dataset}, repeats=5))
    assert len(caught) == 1


def everything(**changes):
    """A study of some size, as its parts, with some of them changed."""
    parts = {
        "data": {"first": rows(seed=1), "second": rows(seed=2)},
        "learners": {
            "bayes": GaussianNB(),
            "sampled": Prepared(GaussianNB(), sampler=SMOTE(k_neighbors=3)),
            "bagged": BaggingClassifier(GaussianNB()),
            "tuned": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3),
        },
        "conditions": (CLEAN, NOISE),
    }
    return plan_study(study(**(parts | changes)))


def keys_by_name(planned):
    """Every key by what the study calls the parts of the trial."""
    found = {}
    for data, of in enumerate(planned.data):
        keys = planned.get_keys(data)
        for (s, c, a), key in np.ndenumerate(keys):
            condition = planned.conditions[c]
            place = (of.name, of.splits.numbers[s], (condition.name, condition.level), planned.learners[a].name)
            found[place] = key.tobytes()
    return found


BASE = everything()
KEYS = keys_by_name(BASE)
LEARNERS = {each.name: each.estimator for each in BASE.learners}
DATA = {each.name: each.dataset for each in BASE.data}


def test_each_trial_has_a_key_of_its_own():
    assert len(KEYS) == BASE.n_trials == 2 * 6 * 2 * 4
    assert len(set(KEYS.values())) == BASE.n_trials
    assert {len(key) for key in KEYS.values()} == {16}


def test_a_key_is_that_of_the_hashes_of_its_parts():
    of, condition, learner = BASE.data[1], BASE.conditions[1], BASE.learners[2]
    rows = of.splits[4]
    split_hash = hash_split(rows.train, rows.test, rows.repeat, rows.fold)
    condition_hash = compute_condition_identity(NOISE[2]).hash
    key = compute_digest("trial", PROTOCOL, 1, DATA["second"].content_hash, split_hash, condition_hash, learner.hash)
    assert BASE.get_keys(1)[4, 1, 2].tobytes() == key
    assert condition.hash == condition_hash
    assert of.split_hashes[4] == split_hash


ADDED = {
    "a learner": {"learners": LEARNERS | {"another": KNeighborsClassifier()}},
    "a data set": {"data": {"another": rows(seed=3)} | DATA},
    "a level": {"conditions": (CLEAN, NOISE, ("class-noise", 0.2, ClassNoise(level=0.2)))},
    "repeats": {"repeats": 4},
}


@pytest.mark.parametrize("added", ADDED.values(), ids=ADDED)
def test_what_is_added_leaves_all_old_keys(added):
    found = keys_by_name(everything(**added))
    assert len(found) > len(KEYS)
    assert {place: found[place] for place in KEYS} == KEYS
    assert len(set(found.values())) == len(found)


def test_what_is_added_computes_only_the_new_trials():
    more = everything(learners=LEARNERS | {"another": KNeighborsClassifier()})
    left = list(more.iter_missing(set(KEYS.values())))
    assert {block.learners for block in left} == {(4,)}
    assert len(left) == 2 * 6 * 2


def test_order_and_names_leave_all_keys():
    turned = {f"new {name}": each for name, each in reversed(LEARNERS.items())}
    data = {f"new {name}": each for name, each in reversed(DATA.items())}
    other = everything(learners=turned, data=data, conditions=(("noisy", 0.1, NOISE[2]), CLEAN))
    assert set(keys_by_name(other).values()) == set(KEYS.values())


def one_cell_other(dataset):
    X = dataset.X
    X.iloc[3, 1] += 1e-9
    return Dataset.from_table(X, dataset.y, name=dataset.name)


CHANGED = {
    "a parameter": ({"learners": LEARNERS | {"bayes": GaussianNB(var_smoothing=1e-8)}}, {"bayes"}),
    "a nested one": ({"learners": LEARNERS | {"bagged": BaggingClassifier(GaussianNB(var_smoothing=1e-8))}}, {"bagged"}),
    "one of a sampler": (
        {"learners": LEARNERS | {"sampled": Prepared(GaussianNB(), sampler=SMOTE(k_neighbors=4))}},
        {"sampled"},
    ),
    "a value of a grid": (
        {"learners": LEARNERS | {"tuned": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=3)}},
        {"tuned"},
    ),
    "a cell": ({"data": DATA | {"first": one_cell_other(DATA["first"])}}, {"first"}),
    "a level": ({"conditions": (CLEAN, ("class-noise", 0.1, ClassNoise(level=0.11)))}, {("class-noise", 0.1)}),
    "a part": ({"conditions": (CLEAN, ("class-noise", 0.1, ClassNoise(level=0.1, part="all")))}, {("class-noise", 0.1)}),
    "the seed": ({"seed": 2}, {"first", "second"}),
    "the folds": ({"folds": 5}, {"first", "second"}),
}


@pytest.mark.parametrize(("changes", "concerned"), CHANGED.values(), ids=CHANGED)
def test_what_is_changed_changes_exactly_the_keys_concerned(changes, concerned):
    found = keys_by_name(everything(**changes))
    for place, key in KEYS.items():
        changed = bool(concerned & {place[0], place[2], place[3]})
        assert (found[place] != key) is changed
        assert not changed or key not in found.values()


def given_folds(tests):
    parts = [Split(np.setdiff1d(np.arange(30), test), np.array(test), 0, fold) for fold, test in enumerate(tests)]
    data = (NamedData("first", rows(), Splits(30, tuple(parts))),)
    schemes = (NamedScheme("given", build_scheme({"scheme": "given"})),)
    return keys_by_name(plan_study(replace(study(), data=data, schemes=schemes)))


def test_moving_one_row_between_folds_changes_those_folds_only():
    tests = [list(range(10)), list(range(10, 20)), list(range(20, 30))]
    before = given_folds(tests)
    after = given_folds([tests[0], [*tests[1], 20], tests[2][1:]])
    assert [before[place] != after[place] for place in before] == [False, True, True]


def test_all_learners_and_conditions_share_the_splits_which_do_not_depend_on_what_else_there_is():
    alone = everything(data={"other name": DATA["second"]}, learners={"bayes": GaussianNB()}, conditions=(CLEAN,))
    for one, other in zip(alone.data[0].splits, BASE.data[1].splits, strict=True):
        assert (one.repeat, one.fold) == (other.repeat, other.fold)
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
    assert BASE.data[1].split_hashes[:3] != BASE.data[1].split_hashes[3:]


def trials(blocks):
    return [(block.data, block.split, block.condition, each) for block in blocks for each in block.learners]


def test_nothing_is_missing_of_a_finished_study():
    assert list(BASE.iter_missing(set(KEYS.values()))) == []


def test_exactly_the_rest_is_missing_of_a_study_that_is_partly_done():
    everyone = list(product(range(2), range(6), range(2), range(4)))
    done = {place for place in everyone if np.random.default_rng(place).random() < 0.6}
    keys = {BASE.get_keys(d)[s, c, a].tobytes() for d, s, c, a in done}
    left = list(BASE.iter_missing(keys))
    assert trials(left) == [place for place in everyone if place not in done]
    assert len({block[:3] for block in left}) == len(left)
    expected = np.zeros((2, 4), dtype=int)
    for d, _, _, a in trials(left):
        expected[d, a] += 1
    np.testing.assert_array_equal(BASE.count(left), expected)


def test_keys_with_zeros_at_the_end_are_found():
    some = everything(learners={f"nn{k}": KNeighborsClassifier(k) for k in range(1, 60)}, data={"first": rows()}, repeats=4)
    flat = some.get_keys(0).tobytes()
    ends = [flat[i : i + 16] for i in range(0, len(flat), 16) if flat[i + 15] == 0]
    assert ends  # about one of 256 keys
    assert some.n_trials - len(trials(some.iter_missing(set(ends)))) == len(ends)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_shards_are_disjoint_and_make_up_everything(parts):
    together = [place for part in range(1, parts + 1) for place in trials(BASE.iter_missing(shard=(part, parts)))]
    assert sorted(together) == sorted(trials(BASE.iter_missing()))


@pytest.mark.parametrize("parts", [2, 3, 4, 7])
def test_shards_have_equal_work(parts):
    """Data sets of 12 to 1,200 rows. Work is the number of rows, which a trial must read at least once."""
    sizes = {str(n): n for n in (12, 24, 60, 150, 400, 1200)}
    planned = everything(data={name: rows(n, seed=n) for name, n in sizes.items()}, repeats=4)
    work = np.zeros(parts)
    by_cell = np.zeros((parts, len(sizes), len(planned.conditions), len(planned.learners)), dtype=int)
    for part in range(parts):
        for data, _, condition, learner in trials(planned.iter_missing(shard=(part + 1, parts))):
            work[part] += len(planned.data[data].dataset)
            by_cell[part, data, condition, learner] += 1
    assert work.max() - work.min() <= max(sizes.values())  # at most one trial on the largest data set
    assert (by_cell.max(axis=0) - by_cell.min(axis=0)).max() <= 1


def test_shards_are_the_same_in_every_process():
    again = everything()
    for part in (1, 2, 3):
        assert trials(again.iter_missing(shard=(part, 3))) == trials(BASE.iter_missing(shard=(part, 3)))


@pytest.mark.parametrize("shard", [(0, 3), (4, 3), (1, 0), (1.0, 3)])
def test_a_shard_that_does_not_exist_is_refused_at_once(shard):
    with pytest.raises(InputError, match="shard"):
        BASE.iter_missing(shard=shard)


def test_the_header_gives_names_to_hashes():
    header = BASE.to_header()
    assert json.loads(json.dumps(header, allow_nan=False)) == header
    assert header["name"] == "small"
    assert header["seed"] == 1
    assert header["declaration"] == {"name": "small"}
    assert header["data"] == [[name, each.content_hash] for name, each in DATA.items()]
    clean, noise = (compute_condition_identity(entry[2]).hash for entry in (CLEAN, NOISE))
    assert header["conditions"] == [["clean", 0.0, clean], ["class-noise", 0.1, noise]]
    assert [name for name, _ in header["learners"]] == list(LEARNERS)
    numbers = [line[:2] for line in header["splits"][DATA["first"].content_hash]]
    assert numbers == [[repeat, fold] for repeat in range(2) for fold in range(3)]


def test_the_plan_in_a_table_and_in_words():
    frame = BASE.frame()
    assert frame["trials"].tolist() == [48, 48]
    assert frame.loc[0].tolist() == ["first", 30, 2, 6, 2, 4, 48]
    assert str(BASE) == "small: 2 data sets x 2 conditions x 4 learners x 6 splits: 96 trials"
    assert "<td>first</td>" in BASE._repr_html_()
    leaving = plan_study(study({"a": rows(4), "b": rows(6)}, scheme="leave-one-out"))
    assert str(leaving) == "small: 2 data sets x 1 condition x 1 learner x 4 to 6 splits: 10 trials"


def test_what_is_kept_of_learners():
    facts = BASE.learners[1].facts
    assert (facts.name, facts.class_name) == ("sampled", "fairtrial.learners.preparing.Prepared")  # its path in results files
    assert facts.parameters["sampler"]["parameters"]["k_neighbors"] == 3
    assert {"fairtrial", "imbalanced-learn", "scikit-learn", "numpy"} <= set(facts.versions)


def test_the_same_thing_twice_is_refused():
    with pytest.raises(InputError, match=r"learners must differ.*'one' and 'two'"):
        plan_study(study(learners={"one": GaussianNB(), "two": GaussianNB()}))
    with pytest.raises(InputError, match=r"data sets must differ.*'one' and 'two'"):
        plan_study(study(data={"one": rows(), "two": rows()}))
    with pytest.raises(InputError, match="conditions must differ"):
        plan_study(study(conditions=(CLEAN, CLEAN)))
    with pytest.raises(InputError, match="at least 1 learner, got 0"):
        plan_study(study(learners={}))


def test_a_condition_that_is_another_in_every_run_is_refused():
    class Odd(Condition):
        def describe(self):
            return {"condition": "odd", "by": repr(object())}

    with pytest.raises(InputError, match=r"odd must be .*plain values"):
        plan_study(study(conditions=(("odd", 1.0, Odd()),)))


def test_a_learner_that_cannot_be_told_is_refused_by_its_name():
    with pytest.raises(InputError, match=r"mine\.var_smoothing must .* got builtins\.object"):
        plan_study(study(learners={"mine": GaussianNB(var_smoothing=object())}))


def test_blocks_are_small():
    assert TrialBlock(0, 1, 2, (3,))._asdict() == {"data": 0, "split": 1, "condition": 2, "learners": (3,)}


# --- Plan facts ---


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


# --- Planned splits ---


@pytest.mark.parametrize("scheme", [KFold(4), Holdout(), Bootstrap(3), LeaveOneOut()], ids=repr)
def test_the_splits_are_those_that_were_frozen(scheme):
    data = rows(20)
    frozen = [scheme.freeze(data.X, data.y, random_state=seed) for seed in (1, 2)]
    kept = PlannedSplits(20, frozen)
    parts = [part for each in frozen for part in each]
    assert len(kept) == len(parts)
    for one, other in zip(kept, parts, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert one.train.dtype == one.test.dtype == np.intp
    assert kept.repeats == sum(len({part.repeat for part in each}) for each in frozen)
    assert [each.fold for each in kept] == [part.fold for part in parts]


def test_rows_in_another_order_or_twice_stay_so():
    parts = (Split(np.array([2, 0, 0]), np.array([3, 1]), 0, 0), Split(np.array([1, 0]), np.array([3, 2]), 0, 1))
    kept = PlannedSplits(4, [Splits(4, parts)])
    assert [(each.train.tolist(), each.test.tolist()) for each in kept] == [([2, 0, 0], [3, 1]), ([1, 0], [3, 2])]


def test_repeats_count_on_whether_the_splits_carry_their_number_or_not():
    inner = FiveByTwo().freeze(range(10), [0, 1] * 5, random_state=1)
    assert list(PlannedSplits(10, [inner, inner]).numbers) == [(r, f) for r in range(10) for f in range(2)]
    numbered = [
        Splits(3, (Split(np.array([0, 1]), np.array([2]), repeat, 0), Split(np.array([0]), np.array([1]), repeat, 1)))
        for repeat in range(3)
    ]
    assert PlannedSplits(3, numbered).numbers == tuple((r, f) for r in range(3) for f in range(2))


def test_places_count_from_either_end_and_by_slices():
    kept = PlannedSplits(6, [KFold(3).freeze(range(6), random_state=0)])
    assert kept[-1].fold == 2
    assert [each.fold for each in kept[1:]] == [1, 2]
    with pytest.raises(IndexError):
        kept[3]


def test_leaving_one_out_of_many_rows_is_kept_small():
    n = 400
    kept = PlannedSplits(n, [LeaveOneOut().freeze(range(n))])
    assert sum(test.nbytes + (0 if train is None else train.nbytes) for train, test in kept._splits) == 4 * n


def test_two_splits_of_one_number_are_refused():
    twice = Splits(3, (Split(np.array([0, 1]), np.array([2])), Split(np.array([0]), np.array([1]))))
    with pytest.raises(InputError, match=r"splits must .* got repeat 0, fold 0 twice"):
        PlannedSplits(3, [twice])


# --- Places ---


def test_each_trial_is_found_where_the_plan_has_its_key():
    planned = plan_study(small_study())
    places, chunker, keys = PendingTrials(planned), Chunker(planned), []
    while (chunk := chunker.take_chunk()) is not None:
        places.mark_sent(chunk)
        keys += [task.key for task in chunk.tasks]
    assert len(keys) == planned.n_trials == 24
    found = [places.mark_done(key) for key in reversed(keys)]
    with pytest.raises(KeyError):
        places.mark_done(keys[0])
    for key, place in zip(reversed(keys), found, strict=True):
        assert planned.get_keys(place.data)[place.split, place.condition, place.learner].tobytes() == key
    assert set(found) == {TrialIndex(d, s, c, a) for d in range(2) for s in range(3) for c in range(2) for a in range(2)}


# --- Pickling ---


def constant(n):
    return ["a"] * n


class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, answer=constant):
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answer(len(X))


class Meddling(Constant):
    def __init__(self, answer=constant):
        self.answer = partial(answer)


def test_what_was_learnt_stays_behind():
    fitted = RandomForestClassifier(5).fit([[0.0], [1.0]], [0, 1])
    arrived = pickle.loads(dump_estimator(fitted))
    assert arrived.n_estimators == 5
    assert not hasattr(arrived, "estimators_")
    assert hasattr(fitted, "estimators_")


_ELSEWHERE = """
import pickle, sys
for _ in range(2):
    learner = pickle.load(sys.stdin.buffer)
    print(learner.fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0]])[0])
assert not [name for name in sys.modules if name.startswith("tests")]
"""


def test_local_code_arrives_where_its_module_does_not_exist(tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    sent = dump_estimator(Constant()) + dump_estimator(Prepared(Constant()))
    ran = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE], input=sent, capture_output=True, cwd=tmp_path, env=clean, check=True
    )
    assert ran.stdout.split() == [b"a", b"a"]


def test_a_learner_that_scikit_learn_would_not_clone_travels_all_the_same():
    assert pickle.loads(dump_estimator(Meddling())).predict([1, 2]) == ["a", "a"]


def test_what_cannot_travel_is_refused_by_name():
    with pytest.raises(InputError, match=r"mine cannot be sent to another process \(.*lock.*\)"):
        dump_estimator(GaussianNB(priors=threading.Lock()), "mine")


def test_nothing_stays_registered():
    import cloudpickle

    before = set(cloudpickle.list_registry_pickle_by_value())
    dump_estimator(Constant())
    assert set(cloudpickle.list_registry_pickle_by_value()) == before


# --- Unfitted ---
# Nothing that was learnt before reaches a trial, however little an estimator keeps to scikit-learn's rules.


X, Y = [[0.0], [1.0]], ["a", "b"]


class MeddlingUnfitted(ClassifierMixin, BaseEstimator):
    """Changes its parameter in `__init__`, which scikit-learn refuses, and learns only once."""

    def __init__(self, factors=(1,)):
        self.factors = 2 * np.array(factors)

    def fit(self, X, y):
        if not hasattr(self, "memory"):
            self.memory = list(zip(X, y, strict=True))
        self.classes_ = np.unique(y)
        return self


class Plain:
    """Without parameters."""

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        return self


class Narrow(MeddlingUnfitted):
    """Its `__init__` does not take what it calls its parameters."""

    def __init__(self):
        super().__init__([1])

    def get_params(self, deep=True):
        return {"factors": self.factors}


def test_one_that_scikit_learn_would_not_clone_is_made_anew_with_its_parameters_as_they_stand():
    fitted = MeddlingUnfitted([1, 3]).fit(X, Y)
    found = clone_unfitted(fitted)
    assert vars(found).keys() == {"factors"}
    assert found.factors.tolist() == [2, 6]
    assert found.factors is not fitted.factors
    assert fitted.memory


@pytest.mark.parametrize(
    "outer",
    [
        PreparedUnfitted,
        lambda inner: make_pipeline(StandardScaler(), inner),
        lambda inner: VotingClassifier([("one", inner), ("two", GaussianNB())]),
    ],
    ids=["prepared", "pipeline", "voting"],
)
def test_also_within_others(outer):
    found = clone_unfitted(outer(MeddlingUnfitted([1]).fit(X, Y)))
    inner = [each for each in found.get_params(deep=True).values() if isinstance(each, MeddlingUnfitted)]
    assert inner
    assert all(vars(each).keys() == {"factors"} and each.factors.tolist() == [2] for each in inner)


def test_both_ends_of_the_way_to_a_trial_send_nothing_that_was_learnt():
    fitted = MeddlingUnfitted([1]).fit(X, Y)
    assert not hasattr(pickle.loads(dump_estimator(fitted)), "memory")
    fresh = TrialLearner(pickle.dumps(fitted)).make_estimator(1)
    assert vars(fresh).keys() == {"factors"}
    assert fresh.factors.tolist() == [2]


def test_one_without_parameters_is_copied_unless_it_has_learnt():
    assert isinstance(clone_unfitted(Plain()), Plain)
    for learner in (Plain().fit(X, Y), PreparedUnfitted(Plain().fit(X, Y))):
        with pytest.raises(InputError, match=r"mine must not be fitted, got Plain with classes_"):
            clone_unfitted(learner, "mine")


def test_one_that_cannot_be_made_anew_is_refused():
    with pytest.raises(InputError, match=r"mine must .*Narrow\(\*\*get_params\(\)\) raises TypeError"):
        clone_unfitted(Narrow(), "mine")


def test_one_that_says_itself_that_it_stays_fitted_does():
    found = clone_unfitted(FrozenEstimator(GaussianNB().fit(X, Y)))
    assert found.predict([[0.1]]).tolist() == ["a"]


def test_what_cannot_be_copied_and_is_no_learner_stays():
    lock = threading.Lock()
    assert clone_unfitted(GaussianNB(priors=lock)).priors is lock
