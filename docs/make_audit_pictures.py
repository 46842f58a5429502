"""Draw a fold audit of DOB-SCV as published, on the Wisconsin breast-cancer data.

`python docs/make_audit_pictures.py` writes an SVG file into `docs/pictures`; a folder and a suffix may follow.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer

from fairtrial.report import draw_audit, save
from fairtrial.resampling import DOBSCV, audit


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    bunch = load_breast_cancer(as_frame=True)
    data = bunch.data, bunch.target_names[bunch.target]
    return {"audit": draw_audit(audit(DOBSCV(5, assign="literal", random_state=0), data))}


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figure."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
