"""Draw figures of a study: two learners on two data sets, with class noise.

`python docs/make_report_pictures.py` runs the study (some seconds) and writes SVG files into `docs/pictures`; a folder and a
suffix may follow.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from fairtrial import Study, draw
from fairtrial.report import save
from fairtrial.study import Results


def pictures(results: Results) -> dict[str, Any]:
    """Draw each figure, by name."""
    return {
        "report-roc": draw(results, "roc", dataset="breast_cancer"),
        "report-cost-curve": draw(results, "cost-curve", dataset="breast_cancer"),
        "report-noise": draw(results, "noise"),
        "report-loss-surface": draw(results, "loss-surface"),
    }


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Run the study and write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    study = Study(
        name="wear",
        data=["iris", "breast_cancer"],
        learners=["gaussian-nb", "decision-tree"],
        conditions={"class-noise": [0, 0.1, 0.2, 0.3]},
        resampling={"folds": 5},
        seed=1,
    )
    with tempfile.TemporaryDirectory() as scratch:
        results = study.run(Path(scratch) / "wear.fairtrial", progress=False)
        for name, chart in pictures(results).items():
            save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
