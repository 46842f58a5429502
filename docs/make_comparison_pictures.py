"""Draw a comparison of five learners on thirty data sets (Garcia & Herrera 2008), and a Bayesian one of two of them.

`python docs/make_comparison_pictures.py` writes SVG files into `docs/pictures`; a folder and a suffix may follow.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

from fairtrial import compare
from fairtrial.report import list_comparison_figures, save

TABLE = Path(__file__).parents[1] / "tests" / "oracles" / "garcia_herrera_2008_accuracy.csv"


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    scores = pd.read_csv(TABLE, index_col=0)
    many = list_comparison_figures(compare(scores, measure="accuracy"))
    # A percent more or less of accuracy is taken to make no difference in practice.
    two = list_comparison_figures(compare(scores[["C4.5", "NaiveBayes"]], measure="accuracy", rope=0.01))
    return {name: draw() for name, draw in {**many, "simplex": two["simplex"]}.items()}


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
