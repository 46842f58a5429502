"""Draw the figures of the pages on shift and on simulated populations.

`python docs/make_shift_pictures.py` writes SVG files into `docs/pictures`; a folder and a suffix may follow: `pictures .png`.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairtrial.data.simulate import flu_environments
from fairtrial.report import draw_environments, save
from fairtrial.study import run_environments


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    learners = {
        "one split": DecisionTreeClassifier(max_depth=1),
        "tree": DecisionTreeClassifier(min_samples_leaf=20),
        "straight line": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    size: dict[str, Any] = {"n_train": 1000, "n_test": 1000, "replicates": 30, "seed": 1}
    populations = run_environments(learners, flu_environments(coding="numbers"), train_on=["NGP", "DP", "P+DW"], **size)
    definitions = run_environments(learners, flu_environments("definitions", coding="numbers"), **size)
    frame = populations.frame()
    return {
        "environments": draw_environments(
            frame[frame["trained_on"].isin(["NGP", "DP", "P+DW"])],
            columns=1,
            title="Flu: trained in one population, tested in another",
        ),
        "definitions": draw_environments(definitions, columns=3, title="Flu: the class definition changes"),
    }


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
