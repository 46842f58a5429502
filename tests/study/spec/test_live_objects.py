"""Objects are told by declarations that give them back, or not at all."""

import pytest
import tomli_w
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairtrial.conditions import AttributeNoise, ClassNoise, Clean, ConceptChange, MissingValues, PriorShift, Sequence
from fairtrial.data import GivenFolds, load
from fairtrial.learners import C45, AdaBoostM1, Bagging, Prepared, get_sampler
from fairtrial.resampling import DOBSCV, Bootstrap, Given, Holdout, KFold, LeaveOneOut, Repeated, StratifiedKFold, WekaFolds
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec.learners import ensure_prepared, resolve_learners
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.objects import serialize_conditions, serialize_data, serialize_learner, serialize_splitter
from fairtrial.study.spec.resolve import resolve_conditions
from fairtrial.study.spec.schemes import build_scheme, build_scheme_from_splitter
from fairtrial.study.spec.tuning import Tuned

ESTIMATORS = [
    C45(confidence=0.1),
    Bagging(C45(), 5, random_state=3),
    AdaBoostM1(),
    RandomForestClassifier(30, max_features=None),
    Prepared(SVC(C=2.0), sampler=get_sampler("smote", k_neighbors=3)),
    Prepared(SVC(), preparation="none"),
    make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"),
    Tuned(Prepared(SVC()), {"C": [1, 10], "gamma": ["scale", 0.1]}, StratifiedKFold(3), "auc"),
    Tuned(C45(), {"confidence": [0.1]}, Repeated(KFold(2), 3)),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_the_declaration_of_an_estimator_gives_it_back(estimator):
    told = serialize_learner(estimator)
    assert "object" not in told
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": {"it": told}})
    tomli_w.dumps(declared.to_short_form())
    [found], mistakes = resolve_learners(declared.learners, CodePolicy(), {})
    assert mistakes == []
    assert compute_learner_identity(found.estimator).hash == compute_learner_identity(ensure_prepared(estimator)).hash


def test_short_names_and_public_paths():
    assert serialize_learner(Prepared(SVC())) == {"learner": "svc"}
    assert serialize_learner(make_pipeline(StandardScaler(), SVC())) == {
        "learner": "sklearn.pipeline.Pipeline",
        "parameters": {
            "steps": [["standardscaler", {"transformer": "sklearn.preprocessing.StandardScaler"}], ["svc", {"learner": "svc"}]]
        },
    }
    assert serialize_learner(MLPClassifier((5, 3)))["parameters"] == {"hidden_layer_sizes": [5, 3]}


class Odd:
    """Not an estimator of scikit-learn."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X


@pytest.mark.parametrize(
    "estimator", [Odd(), LogisticRegression(class_weight={0: 1.0, 1: 2.0}), SVC(kernel=lambda a, b: a @ b.T)]
)
def test_what_cannot_be_told_is_marked(estimator):
    assert list(serialize_learner(estimator)) == ["object"]


@pytest.mark.parametrize(
    "conditions",
    [
        (Clean(),),
        (ClassNoise(0.1), ClassNoise(0.3)),
        (ClassNoise(0.2, "pairwise", pairs=("a", "b")),),
        (ClassNoise(None, "transition-matrix", transition=[[0.9, 0.1], [0.2, 0.8]]),),
        (AttributeNoise(0.1, part="all"), AttributeNoise(0.2, part="all")),
        (MissingValues(0.1, "mnar", tail="low"),),
        (PriorShift(priors={"a": 0.3, "b": 0.7}),),
        (Sequence([ClassNoise(0.1), MissingValues(0.2)]),),
    ],
    ids=lambda each: str(each[0]),
)
def test_the_declaration_of_conditions_gives_them_back(conditions):
    told = serialize_conditions(conditions)
    assert "object" not in told
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "conditions": {"it": told}})
    tomli_w.dumps(declared.to_short_form())
    found, mistakes = resolve_conditions(declared.conditions, {})
    assert mistakes == []
    assert tuple(each.condition for each in found) == conditions


def test_conditions_that_cannot_be_told_are_marked():
    assert list(serialize_conditions((ConceptChange(labels=lambda _, y: y),))) == ["object"]
    assert list(serialize_conditions((ClassNoise(0.1), ClassNoise(0.1, "next-class")))) == ["object"]


@pytest.mark.parametrize(
    "splitter",
    [KFold(3), DOBSCV(4, assign="keel"), Holdout(0.2), Bootstrap(7), LeaveOneOut(), WekaFolds(3, random_state=9)],
    ids=repr,
)
def test_the_declaration_of_a_splitter_gives_it_back(splitter):
    assert build_scheme(serialize_splitter(splitter)).text == build_scheme_from_splitter(splitter).text


def test_repeats_and_other_splitters():
    assert serialize_splitter(Repeated(StratifiedKFold(5), 3)) == {"scheme": "stratified", "n_splits": 5, "repeats": 3}
    assert "object" in serialize_splitter(Given([([0], [1])]))


def test_data_are_marked_by_their_contents():
    iris = load("iris")
    told = serialize_data("mine", iris)["object"]
    assert told == f"mine: 150 rows, {iris.content_hash[:16]}"
    assert "2 given folds" in serialize_data("mine", GivenFolds(iris, (((0,), (1,)), ((1,), (0,)))))["object"]


def test_preparation_is_told_where_it_is_not_as_usual():
    assert serialize_learner(Prepared(SVC(), preparation="none")) == {"learner": "svc", "preparation": "none"}
    assert serialize_learner(Prepared(SVC())) == {"learner": "svc"}
    inner = {"learner": "svc", "preparation": "standard"}
    assert serialize_learner(Bagging(Prepared(SVC()))) == {"learner": "bagging", "parameters": {"estimator": inner}}
    assert "object" in serialize_learner(Prepared(SVC(), preparation=StandardScaler()))
