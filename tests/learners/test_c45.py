"""C4.5 against WEKA's J48: printed trees, counts, probabilities, accuracies; and bad input."""

import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairtrial.data import read_arff, read_keel
from fairtrial.errors import InputError
from fairtrial.learners.c45 import C45
from fairtrial.resampling.weka import WekaFolds
from tests.reference.trees import drawn
from tests.reference.weka.asking import SETS, built_in
from tests.reference.weka.make_c45 import EXAMPLES, OPTIONS, RENAMED, SEEDS, fingerprint

ANSWERS = Path(__file__).parents[1] / "reference" / "weka" / "c45"
TREES = json.loads((ANSWERS / "trees.json").read_text())
REAL = json.loads((ANSWERS / "real.json").read_text())
PARAMETERS = {
    "": {},
    "-U": {"unpruned": True},
    "-S -C 0.1": {"subtree_raising": False, "confidence": 0.1},
    "-M 5 -A": {"min_cases": 5, "laplace": True},
    "-B": {"binary_splits": True},
}


@parametrize_with_checks([C45(), C45(binary_splits=True, laplace=True), C45(class_weight="balanced")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def table(name):
    """The frame that WEKA saw, and weights."""
    if name.startswith("drawn"):
        return drawn(int(name.split()[1]))
    frame = built_in(name)
    return frame, np.ones(len(frame))


def same_tree(ours, theirs):
    """The same lines; counts that lie half way between two printed decimals may be rounded otherwise."""
    shape = [re.sub(r"\([\d./E]+\)$", "", re.sub(r"(<=|>) (\S+?)(:|$)", _number, line)) for line in ours.splitlines()]
    other = [re.sub(r"\([\d./E]+\)$", "", re.sub(r"(<=|>) (\S+?)(:|$)", _number, line)) for line in theirs.splitlines()]
    assert shape == other
    assert counts(ours) == pytest.approx(counts(theirs), abs=0.0101)


def _number(found):
    return f"{found[1]} {float(found[2]) + 0.0:.6f}{found[3]}"


def counts(text):
    return [float(each) for pair in re.findall(r"\(([\d./E]+)\)", text) for each in pair.split("/")]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", [*SETS, *(f"drawn {seed}" for seed in SEEDS)])
def test_tree_and_probabilities_are_those_of_j48(name, options):
    frame, weights = table(name)
    X, y = frame.iloc[:, :-1], frame["class"]
    answer = TREES[f"{name} {options}".strip()]
    tree = C45(**PARAMETERS[options]).fit(X, y, sample_weight=weights)
    same_tree(tree.export_text().strip(), answer["tree"])
    if answer["probabilities"]:
        declared = [tree.classes_.tolist().index(label) for label in y.cat.categories]
        found = tree.predict_proba(X.iloc[:12])[:, declared]
        assert found == pytest.approx(np.array(answer["probabilities"]), abs=1e-9)


def test_most_trees_are_printed_alike_to_the_letter():
    names = [*SETS, *(f"drawn {seed}" for seed in SEEDS)]
    alike = 0
    for name in names:
        frame, weights = table(name)
        alike += C45().fit(frame.iloc[:, :-1], frame["class"], weights).export_text().strip() == TREES[name]["tree"]
    assert alike >= len(names) - 1


@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("ela")])
def test_tree_of_j48_on_the_ela_papers_sets(shared_data, name):
    short = name.split()[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read_keel(shared_data / "keel-standard" / f"{RENAMED.get(short, short)}.dat")
    check_real(data, REAL[name])


@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("weka")])
def test_tree_of_j48_on_wekas_examples(name):
    check_real(example(name.removeprefix("weka ")), REAL[name])


def example(name):
    path = EXAMPLES / f"{name}.arff"
    if not path.is_file():
        pytest.skip("WEKA's example files are not here")
    return read_arff(path)


def check_real(data, answer):
    tree = C45().fit(data.X, data.y)
    assert (tree.n_leaves_, tree.size_) == (answer["leaves"], answer["size"])
    assert fingerprint(tree.export_text().strip()) == answer["sha256"]


@pytest.mark.parametrize(
    ("name", "percent"), [("iris", 96.0), ("diabetes", 73.8281), ("ionosphere", 91.453), ("vote", 96.3218), ("credit-g", 70.5)]
)
def test_accuracy_over_wekas_ten_folds(name, percent):
    data = example(name)
    right = 0
    for train, test in WekaFolds(10).split(data.X, data.y):
        part = data.take(train)
        right += (C45().fit(part.X, part.y).predict(data.X.iloc[test]) == data.y.iloc[test].to_numpy()).sum()
    assert 100 * right / len(data) == pytest.approx(percent, abs=5e-5)


@pytest.mark.parametrize(("name", "percent", "leaves"), [("diabetes", 78.9, 13), ("ionosphere", 89.7, 13)])
def test_accuracy_on_every_third_row(name, percent, leaves):
    data = example(name)
    test = np.arange(len(data)) % 3 == 2
    part, rest = data.take(~test), data.take(test)
    tree = C45().fit(part.X, part.y)
    assert tree.n_leaves_ == leaves
    assert 100 * (tree.predict(rest.X) == rest.y.to_numpy()).mean() == pytest.approx(percent, abs=0.05)


def test_accuracy_on_segment_test():
    train, test = example("segment-challenge"), example("segment-test")
    tree = C45().fit(train.X, train.y)
    assert tree.n_leaves_ == 34
    assert 100 * (tree.predict(test.X) == test.y.to_numpy()).mean() == pytest.approx(96.2, abs=0.05)


def mixed():
    return drawn(4)[0]


def test_weights_count_as_copies():
    frame = mixed()
    times = np.random.default_rng(3).integers(1, 4, len(frame))
    copied = frame.loc[frame.index.repeat(times)]
    weighed = C45(mdl_correction=False).fit(frame.iloc[:, :-1], frame["class"], times)
    repeated = C45(mdl_correction=False).fit(copied.iloc[:, :-1], copied["class"])
    same_tree(weighed.export_text(), repeated.export_text())


def test_rows_of_weight_zero_are_absent():
    frame = mixed()
    weights = (np.arange(len(frame)) % 2).astype(float)
    half = frame[1::2]
    some = C45().fit(frame.iloc[:, :-1], frame["class"], weights)
    assert some.export_text() == C45().fit(half.iloc[:, :-1], half["class"]).export_text()


def test_order_of_rows_does_not_matter():
    frame = mixed()
    shuffled = frame.sample(frac=1, random_state=0)
    same_tree(
        C45().fit(frame.iloc[:, :-1], frame["class"]).export_text(),
        C45().fit(shuffled.iloc[:, :-1], shuffled["class"]).export_text(),
    )


def test_the_correction_only_ever_loses_numeric_splits():
    frame = built_in("breast_cancer")
    X, y = frame.iloc[:, :-1], frame["class"]
    assert C45(unpruned=True, mdl_correction=False).fit(X, y).size_ >= C45(unpruned=True).fit(X, y).size_


def test_without_collapsing_the_tree_is_no_smaller():
    frame = mixed()
    X, y = frame.iloc[:, :-1], frame["class"]
    assert C45(unpruned=True, collapse=False).fit(X, y).size_ >= C45(unpruned=True).fit(X, y).size_


def test_nominal_by_number_and_by_type_agree():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    y = (X[:, 0] == 1).astype(int)
    frame = pd.DataFrame(X, columns=["x0", "x1"]).astype("category")
    assert C45(nominal=[0, 1]).fit(X, y).size_ == C45().fit(frame, y).size_ == 4


def test_a_value_unseen_in_training_is_missing():
    frame = mixed()
    tree = C45(unpruned=True).fit(frame.iloc[:, :-1], frame["class"])
    row = frame.iloc[:1, :-1].astype({name: object for name in frame.columns if name.startswith("word")})
    unseen, missing = row.copy(), row.copy()
    for name in [name for name in row if name.startswith("word")]:
        unseen[name], missing[name] = "never", None
    assert tree.predict_proba(unseen).tolist() == tree.predict_proba(missing).tolist()


def test_a_row_of_missing_values_gets_the_frequencies_of_the_classes():
    frame, _ = drawn(2)
    tree = C45(unpruned=True, collapse=False).fit(frame.iloc[:, :-1], frame["class"])
    nothing = frame.iloc[:1, :-1].copy()
    nothing.loc[:, :] = np.nan
    expected = frame["class"].astype(str).value_counts(normalize=True).sort_index().to_numpy()
    assert tree.predict_proba(nothing)[0] == pytest.approx(expected, abs=1e-5)


def test_a_column_without_values_is_never_asked():
    X = pd.DataFrame({"nothing": [np.nan] * 8, "word": pd.Series([None] * 8, dtype=object), "number": range(8)})
    tree = C45().fit(X, [0] * 4 + [1] * 4)
    assert tree.export_text().startswith("number <= 3: 0 (4.0)\nnumber > 3: 1 (4.0)\n")


def test_only_columns_without_values_make_a_leaf():
    assert C45().fit([[np.nan]] * 4, [0, 0, 0, 1]).export_text().startswith(": 0 (4.0/1.0)")


def test_one_class_makes_a_leaf():
    tree = C45().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert tree.n_leaves_ == tree.size_ == 1
    assert tree.predict([[9.0]]).tolist() == ["a"]
    assert tree.predict_proba([[9.0]]).tolist() == [[1.0]]


def test_of_equal_classes_the_first_declared_is_predicted():
    y = pd.Series(pd.Categorical(["a", "b", "a", "b"], categories=["b", "a"]))
    assert C45().fit([[1.0]] * 4, y).predict([[1.0]]).tolist() == ["b"]
    assert C45().fit([[1.0]] * 4, list(y)).predict([[1.0]]).tolist() == ["a"]


def test_declared_classes_affect_the_minimal_weight_beside_a_cut():
    x = np.arange(40, dtype=float).reshape(-1, 1)
    y = pd.Series(["a"] * 3 + ["b"] * 37)
    assert C45(unpruned=True).fit(x, y.astype("category")).size_ == 3  # 0.1 * 40 / 2 = 2 cases a side
    alone = pd.Series(["a"] * 3 + ["b"] * 57)
    x = np.arange(60, dtype=float).reshape(-1, 1)
    many = alone.astype(pd.CategoricalDtype(["a", "b", "c"]))
    cut = [C45(unpruned=True, mdl_correction=False, min_cases=1).fit(x, each).tree_.counts[1].sum() for each in (alone, many)]
    assert cut == [3, 3]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.empty((0, 2)), [], "0 sample"),
        ([[1.0], [2.0]], [0, np.nan], "NaN"),
        ([[1.0], [2.0]], [0], "X and y"),
        ([[np.inf], [2.0]], [0, 1], "infinity"),
    ],
)
def test_bad_tables_are_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        C45().fit(X, y)


def test_other_columns_at_prediction_are_refused():
    with pytest.raises(InputError, match="features"):
        C45().fit([[1.0], [2.0]], [0, 1]).predict([[1.0, 2.0]])


@pytest.mark.parametrize(
    "parameters", [{"confidence": 0}, {"confidence": 0.6}, {"confidence": "a"}, {"min_cases": 0}, {"min_cases": 1.5}]
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        C45(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_pickle_and_clone():
    frame = mixed()
    X, y = frame.iloc[:, :-1], frame["class"]
    tree = C45(confidence=0.1).fit(X, y)
    again = pickle.loads(pickle.dumps(tree))
    assert again.export_text() == tree.export_text() == clone(tree).fit(X, y).export_text()
    assert again.predict_proba(X).tolist() == tree.predict_proba(X).tolist()


def rare_class(seed=0):
    """A class of one row in ten that overlaps with the other."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(300) % 10 == 0, "rare", "usual")
    return rng.normal(size=(300, 3)) + (y == "rare")[:, None], y


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 300)], ids=["plain", "weighted"])
def test_class_weights_are_row_weights_that_keep_their_sum(weights):
    """Ting 2002: the weight of a row of class j is C(j) N / sum of C(i) N(i)."""
    X, y = rare_class()
    row_weights = np.ones(300) if weights is None else weights
    counts = {label: row_weights[y == label].sum() for label in ("rare", "usual")}
    for class_weight, costs in [
        ("balanced", {label: 1 / count for label, count in counts.items()}),
        ({"rare": 7}, {"rare": 7, "usual": 1}),
        ({"rare": 700, "usual": 100}, {"rare": 7, "usual": 1}),
    ]:
        scale = sum(counts.values()) / sum(costs[label] * count for label, count in counts.items())
        expected = C45().fit(X, y, sample_weight=row_weights * np.array([costs[label] * scale for label in y]))
        found = C45(class_weight=class_weight).fit(X, y, sample_weight=weights)
        assert found.export_text() == expected.export_text()
        assert found.tree_.count_cases(0) == pytest.approx(row_weights.sum())


def test_balanced_weights_are_scikit_learns():
    X, y = rare_class(1)
    expected = C45().fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    np.testing.assert_allclose(C45(class_weight="balanced").fit(X, y).predict_proba(X), expected.predict_proba(X))


def test_a_higher_cost_finds_more_of_a_rare_class():
    X, y = rare_class(2)
    found = [(C45(class_weight=cost).fit(X[::2], y[::2]).predict(X[1::2]) == "rare").sum() for cost in (None, "balanced")]
    assert found[0] < found[1]


def test_keys_of_class_weights_may_be_the_text_of_classes():
    X, y = rare_class()
    codes = (y == "rare").astype(int)
    texts = [C45(class_weight=costs).fit(X, codes).export_text() for costs in ({1: 9}, {"1": 9})]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("balance", "class_weight.*'balanced'.*'balance'"),
        ({"rrare": 5}, "class_weight.*'rrare'.*'rare'"),
        ({"rare": 0}, r"class_weight\['rare'\].*0"),
        ({"rare": "high"}, r"class_weight\['rare'\].*'high'"),
        (5, "class_weight.*5"),
    ],
)
def test_class_weights_that_mean_nothing_are_refused(class_weight, message):
    with pytest.raises(InputError, match=message):
        C45(class_weight=class_weight).fit(*rare_class())


def test_class_weights_may_name_classes_that_do_not_occur_in_these_rows():
    X, y = rare_class()
    declared = pd.Series(pd.Categorical(y, ["rare", "usual", "absent"]))
    assert C45(class_weight={"absent": 9}).fit(X, declared).export_text() == C45().fit(X, declared).export_text()
    costs = {"rare": 5, "usual": 1, "absent": 9}
    assert C45(class_weight=costs).fit(X, y).export_text() == C45(class_weight={"rare": 5}).fit(X, y).export_text()
