import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.conditions import ClassNoise, Condition
from fairtrial.data import Dataset
from fairtrial.errors import InputError
from fairtrial.learners.prepared import Prepared
from fairtrial.resampling import Split, Splits
from fairtrial.study.identity import PROTOCOL, compute_condition_identity, compute_digest, hash_split
from fairtrial.study.plan.plan import TrialBlock, plan_study
from fairtrial.study.spec.resolve import NamedData
from fairtrial.study.spec.schemes import build_scheme
from tests.study.small_studies import CLEAN, rows, study

NOISE = ("class-noise", 0.1, ClassNoise(level=0.1))


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
    return keys_by_name(plan_study(replace(study(), data=data, resampling=build_scheme({"scheme": "given"}))))


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


def test_shards_are_of_about_the_same_size():
    large = everything(data={str(seed): rows(seed=seed) for seed in range(10)}, repeats=10)
    sizes = [sum(1 for _ in large.iter_missing(shard=(part, 4))) for part in range(1, 5)]
    assert sum(sizes) == 600
    assert min(sizes) > 600 / 4 - 5 * (600 * 3 / 16) ** 0.5  # five standard deviations of the binomial


@pytest.mark.parametrize("added", ADDED.values(), ids=ADDED)
def test_no_trial_moves_to_another_shard_when_the_study_grows(added):
    def shards(planned):
        keys = [
            {planned.get_keys(d)[s, c, a].tobytes() for d, s, c, a in trials(planned.iter_missing(shard=(part, 3)))}
            for part in (1, 2, 3)
        ]
        return {key: part for part, those in enumerate(keys) for key in those}

    before, after = shards(BASE), shards(everything(**added))
    assert {key: after[key] for key in before} == before


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
