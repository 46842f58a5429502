"""Draw curves of two learners on the breast-cancer data, one hold-out split with a fixed seed.

`python docs/make_pictures.py` writes SVG files into `docs/pictures`; a folder and a suffix may follow: `pictures .png`.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fairtrial import measures, report


def get_predicted_probabilities() -> tuple[Any, dict[str, Any]]:
    """Return the true labels of the test set and the predicted probability of a malignant tumour by learner."""
    data = load_breast_cancer()
    # The first attribute group alone: with all thirty, every curve hugs its corner and shows little.
    X, malignant = data.data[:, :10], 1 - data.target
    X_train, X_test, y_train, y_test = train_test_split(X, malignant, test_size=0.6, stratify=malignant, random_state=1)
    learners = {"naive Bayes": GaussianNB(), "decision tree": DecisionTreeClassifier(min_samples_leaf=8, random_state=1)}
    return y_test, {name: learner.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, learner in learners.items()}


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    y_true, probabilities = get_predicted_probabilities()

    def compute(curve: Any, **options: Any) -> dict[str, Any]:
        return {name: curve(y_true, probability, **options) for name, probability in probabilities.items()}

    return {
        "roc": report.draw_roc(compute(measures.roc_curve), compute(measures.roc_hull)),
        "precision-recall": report.draw_precision_recall(compute(measures.precision_recall_curve)),
        "cost": report.draw_cost(
            compute(measures.cost_curve), {"decision tree": compute(measures.cost_lines)["decision tree"]}
        ),
        "brier": report.draw_brier(compute(measures.brier_curve)),
        "gain": report.draw_gain(compute(measures.gain_curve)),
        "ks": report.draw_tpr_fpr(compute(measures.tpr_fpr_curve)),
        "calibration": report.draw_calibration(compute(measures.calibration_curve, bins=5)),
    }


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        report.save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
