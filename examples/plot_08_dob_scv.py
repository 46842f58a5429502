"""
Use DOB-SCV in scikit-learn
===========================

Pass any splitter of fairtrial as ``cv=`` to scikit-learn. This example compares the scores of DOB-SCV folds with the
scores of stratified folds.
"""

import altair as alt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from fairtrial.resampling import DOBSCV, StratifiedKFold

X, y = load_wine(return_X_y=True)
splitters = {"DOB-SCV": DOBSCV(5, random_state=0), "stratified": StratifiedKFold(5, random_state=0)}
accuracies = {
    name: cross_val_score(DecisionTreeClassifier(random_state=0), X, y, cv=splitter) for name, splitter in splitters.items()
}

# %%
# DOB-SCV puts near neighbours into different folds. Its estimate is therefore optimistic; see :doc:`/explanation/dob-scv`.

table = pd.DataFrame(accuracies).melt(var_name="splitter", value_name="accuracy")
print(table.groupby("splitter")["accuracy"].agg(["mean", "std"]).round(3))

# %%
# The figure shows one mark per fold.

alt.Chart(table, width=400, height=100).mark_tick(thickness=2).encode(
    x=alt.X("accuracy", scale=alt.Scale(zero=False)), y=alt.Y("splitter", title=None)
)
