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
    ("learner", "words"),
    [
        (NaiveBayes(), "nothing"),
        (Bagging(), "nothing"),
        (Bagging(LogisticRegression()), "nominal to binary, missing values filled, standard scale"),
        (LogisticRegression(), "nominal to binary, missing values filled, standard scale"),
        (KNeighborsClassifier(), "nominal to binary, missing values filled, standard scale"),
        (RandomForestClassifier(), "nominal to binary"),
        (HistGradientBoostingClassifier(), "nothing"),
        (GridSearchCV(SVC(), {}), "nominal to binary, missing values filled, standard scale"),
        (OneVsRestClassifier(SVC()), "nominal to binary, missing values filled, standard scale"),
        (VotingClassifier([("a", SVC()), ("b", NaiveBayes())]), "nominal to binary, missing values filled, standard scale"),
        (GridSearchCV(NaiveBayes(), {}), "nothing"),
        (GridSearchCV(make_pipeline(StandardScaler(), SVC()), {}), "nothing"),
        (MultinomialNB(), "nominal to binary, missing values filled, min-max scale"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "nothing"),
    ],
)
def test_what_is_prepared(learner, words):
    assert facts_of(learner).describe() == words


def test_a_learner_may_declare_its_own():
    class Mine(LogisticRegression):
        fairtrial_facts = Facts(nominal=False, missing=True)

    assert facts_of(Mine()) == Facts(nominal=False, missing=True)
