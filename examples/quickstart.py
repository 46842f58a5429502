"""The quick start: which of two classifiers is better on scikit-learn's breast-cancer set, and how sure are we?"""

from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from fairtrial.measures import Interval, differences, evaluate, roc_curve
from fairtrial.report.curves import draw_roc
from fairtrial.report.saving import save

OUT = Path("demo")


SHOWN = ("accuracy", "kappa", "g_mean", "auc", "h_measure", "taks", "brier", "information_score")


def shown(found: Interval) -> str:
    """Estimate and limits."""
    return f"{found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})"


def main() -> None:
    """Train, judge, compare, write."""
    data = load_breast_cancer()
    malignant = (data.target == 0).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(data.data, malignant, test_size=0.5, stratify=malignant, random_state=0)
    learners = {"naive Bayes": GaussianNB(), "random forest": RandomForestClassifier(random_state=0)}
    probabilities = {name: learner.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, learner in learners.items()}
    tables = {name: evaluate(y_test, y_score=scores) for name, scores in probabilities.items()}

    print(f"breast-cancer, {len(y_test)} rows held out, positive class: malignant\n")
    print(f"{'':18}" + "".join(f"{name:>28}" for name in tables))
    for measure in SHOWN:
        print(f"{measure:18}" + "".join(f"{shown(table[measure]):>28}" for table in tables.values()))
    for measure in ("auc", "brier"):
        print(f"\n{differences(measure, y_test, probabilities)}")

    OUT.mkdir(exist_ok=True)
    pd.concat({name: table.frame() for name, table in tables.items()}, names=["learner"]).to_csv(OUT / "measures.csv")
    rocs = {name: roc_curve(y_test, scores) for name, scores in probabilities.items()}
    save(draw_roc(rocs), OUT / "roc.svg")
    print(f"\nall {len(tables['naive Bayes'].intervals)} measures: {OUT / 'measures.csv'}; picture: {OUT / 'roc.svg'}")


if __name__ == "__main__":
    main()
