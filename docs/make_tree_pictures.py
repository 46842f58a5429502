"""Draw a C4.5 tree on iris.

`python docs/make_tree_pictures.py` writes an SVG file into `docs/pictures`; a folder and a suffix may follow.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.datasets import load_iris

from fairtrial.learners import C45
from fairtrial.report import draw_tree, save


def picture() -> Any:
    """Draw the tree."""
    iris = load_iris(as_frame=True)
    X = iris.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    return draw_tree(C45().fit(X, iris.target_names[iris.target]).tree_, title="C4.5 on iris")


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figure."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    save(picture(), Path(folder) / f"tree{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
