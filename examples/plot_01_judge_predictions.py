"""
Judge predictions
=================

``judge`` accepts predictions from any framework as a data frame with one row per case. One column contains the true labels, and
each model has a column of scores.
"""

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from fairtrial import draw, judge

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :10], y, test_size=0.5, stratify=y, random_state=0)
predictions = pd.DataFrame({"y_true": y_test})
for name, model in {"forest": RandomForestClassifier(random_state=0), "bayes": GaussianNB()}.items():
    predictions[f"{name}_proba"] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]

# %%
# The judgement contains each measure with its confidence interval, and paired tests of the models.

judgement = judge(predictions, measures=["auc", "brier"], resamples=200)
print(judgement)

# %%
# Draw the ROC curves.

draw(judgement, "roc")
