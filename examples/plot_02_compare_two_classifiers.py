"""
Compare two classifiers on a test set
=====================================

Estimate the AUC of two classifiers with confidence intervals, and test whether the difference is significant.
"""

import altair as alt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fairtrial.measures import interval
from fairtrial.significance import delong

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
classifiers = {"naive Bayes": GaussianNB(), "decision tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0)}
scores = {name: classifier.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, classifier in classifiers.items()}

# %%
# DeLong's test compares the two AUCs on the same rows.

print(delong(y_test, scores["naive Bayes"], scores["decision tree"]))

# %%
# Each AUC has its own 95 % confidence interval.

intervals = {name: interval("auc", y_test, score) for name, score in scores.items()}
table = pd.DataFrame(
    [{"classifier": name, "AUC": auc.estimate, "low": auc.low, "high": auc.high} for name, auc in intervals.items()]
)
base = alt.Chart(table, width=400, height=100).encode(y=alt.Y("classifier", title=None))
bars = base.mark_rule().encode(
    x=alt.X("low", title="AUC with 95 % confidence interval", scale=alt.Scale(zero=False)), x2="high"
)
bars + base.mark_point(filled=True, size=80).encode(x="AUC")
