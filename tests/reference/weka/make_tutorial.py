"""Regenerate published/tutorial_weka.csv: the tutorial's nine measures as WEKA 3.6.14 prints them, on its ten folds of seed 1.

The data folder is $FAIRTRIAL_DATA, or ../shared/data. Run with `python -m tests.reference.weka.make_tutorial`.
"""

import os
import re
from pathlib import Path

import pandas as pd

from tests.reference.weka.asking import ask

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("FAIRTRIAL_DATA", ROOT.parent / "shared" / "data")) / "uci" / "breast-cancer.arff"
PUBLISHED = ROOT / "src" / "fairtrial" / "reproduce" / "published" / "tutorial_weka.csv"
POSITIVE = "recurrence-events"
CLASSES = {
    "NB": ["weka.classifiers.bayes.NaiveBayes"],
    "C4.5": ["weka.classifiers.trees.J48"],
    "1NN": ["weka.classifiers.lazy.IBk"],
    "3NN": ["weka.classifiers.lazy.IBk", "-K", "3"],
    "Ripp": ["weka.classifiers.rules.JRip"],
    "SVM": ["weka.classifiers.functions.SMO"],
    "Bagg": ["weka.classifiers.meta.Bagging"],
    "Boost": ["weka.classifiers.meta.AdaBoostM1"],
    "RanF": ["weka.classifiers.trees.RandomForest"],
}


def read_summary(text):
    """Read the nine measures from WEKA's summary of a cross-validation; rates are those of the positive class."""
    summary = text[text.index("=== Stratified cross-validation ===") :]
    accuracy = re.search(r"Correctly Classified Instances\s+\d+\s+(\S+)\s+%", summary)[1]
    rmse = re.search(r"Root mean squared error\s+(\S+)", summary)[1]
    information = re.search(r"K&B Information Score\s+(\S+)\s+bits", summary)[1]
    rates = next(line.split()[:6] for line in summary.splitlines() if line.endswith(f" {POSITIVE}") and "=" not in line)
    tpr, fpr, precision, recall, f, auc = rates
    return [accuracy, rmse, tpr, fpr, precision, recall, f, auc, information]


def main():
    columns = ["acc", "rmse", "tpr", "fpr", "precision", "recall", "f", "auc", "info_score"]
    rows = {name: read_summary(ask(*arguments, "-t", DATA, "-s", "1", "-i", "-k")) for name, arguments in CLASSES.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    frame.rename_axis("learner").to_csv(PUBLISHED)


if __name__ == "__main__":
    main()
