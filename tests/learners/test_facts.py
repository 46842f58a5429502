import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairtrial.learners.ensembles import Bagging
from fairtrial.learners.naive_bayes import NaiveBayes
from fairtrial.learners.prepared import Facts, facts_of


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (NaiveBayes(), (True, True, None)),
        (Bagging(), (True, True, None)),
        (Bagging(LogisticRegression()), (False, False, "standard")),
        (LogisticRegression(), (False, False, "standard")),
        (KNeighborsClassifier(), (False, False, "standard")),
        (RandomForestClassifier(), (False, True, None)),
        (HistGradientBoostingClassifier(), (True, True, None)),
        (GridSearchCV(SVC(), {}), (False, False, "standard")),
        (OneVsRestClassifier(SVC()), (False, False, "standard")),
        (VotingClassifier([("a", SVC()), ("b", NaiveBayes())]), (False, False, "standard")),
        (GridSearchCV(NaiveBayes(), {}), (True, True, None)),
        (GridSearchCV(make_pipeline(StandardScaler(), SVC()), {}), (True, True, None)),
        (MultinomialNB(), (False, False, "min-max")),
        (make_pipeline(StandardScaler(), LogisticRegression()), (True, True, None)),
    ],
)
def test_accepted_input_and_scale(learner, expected):
    facts = facts_of(learner)
    assert (facts.nominal, facts.missing, facts.scale) == expected


def test_a_learner_may_declare_its_own():
    class Mine(LogisticRegression):
        fairtrial_facts = Facts(nominal=False, missing=True)

    assert facts_of(Mine()) == Facts(nominal=False, missing=True)
