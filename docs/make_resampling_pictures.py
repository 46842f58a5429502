"""Draw the test rows of each split for several schemes on 36 rows.

`python docs/make_resampling_pictures.py` writes into `docs/pictures`; a folder and a suffix may follow: `pictures .png`.
"""

import sys
from pathlib import Path
from typing import Any

from fairtrial import resampling
from fairtrial.report import draw_splits, save


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    kind = ["common"] * 28 + ["rare"] * 8
    patient = [row // 3 for row in range(36)]
    schemes = {
        "KFold(4): class proportions vary": resampling.KFold(4, random_state=2),
        "StratifiedKFold(4): equal class proportions in each fold": resampling.StratifiedKFold(4, random_state=2),
        "GroupKFold(4): the three rows of a patient stay together": resampling.GroupKFold(4, random_state=2),
        "Holdout(1/3): one split, stratified": resampling.Holdout(random_state=2),
        "RandomSubsampling(4): some rows are tested often, some never": resampling.RandomSubsampling(4, random_state=2),
        "Bootstrap(4): drawn with replacement; the rest is tested": resampling.Bootstrap(4, random_state=2),
    }
    frozen = {name: splitter.freeze(kind, kind, patient) for name, splitter in schemes.items()}
    return {"splits": draw_splits(frozen, kind, title="Six schemes on 36 rows")}


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
