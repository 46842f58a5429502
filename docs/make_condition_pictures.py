"""Draw three classes in two dimensions, without noise and under each noise scheme.

`python docs/make_condition_pictures.py` writes SVG files into `docs/pictures`; a folder and a suffix may follow.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from fairtrial.conditions import AttributeNoise, ClassNoise, Clean
from fairtrial.report import build_case_frame, draw_changes, save

LEVEL = 0.15
CLASS_NOISE = {
    "symmetric uniform": {"scheme": "symmetric-uniform"},
    "completely uniform": {"scheme": "symmetric-completely-uniform"},
    "transition matrix (a to b or c)": {"scheme": "transition-matrix", "transition": {"a": {"b": 0.8, "c": 0.2}}},
    "next class": {"scheme": "next-class"},
    "pairwise (b to c)": {"scheme": "pairwise", "pairs": ("b", "c")},
    "majority to second": {"scheme": "majority-to-second"},
    "minority-driven": {"scheme": "minority-driven", "minority_share": 0.5},
    "neighbourwise borderline": {"scheme": "neighbourwise-borderline"},
    "margin borderline": {"scheme": "margin-borderline"},
}


def cases() -> tuple[Any, Any]:
    """Draw 60 cases of class a, 40 of b and 20 of c in three overlapping clusters."""
    rng = np.random.default_rng(4)
    sizes, centres = [60, 40, 20], [[0.0, 0.0], [2.2, 0.6], [1.0, 2.2]]
    points = [rng.normal(centre, 0.7, size=(size, 2)) for size, centre in zip(sizes, centres, strict=True)]
    return np.vstack(points), np.repeat(["a", "b", "c"], sizes)


def pictures() -> dict[str, Any]:
    """Draw each figure, by name."""
    X, y = cases()

    def panel(noise: Any) -> Any:
        return build_case_frame(X, y, noise.apply(X, y, 1))

    labels = {"clean": panel(Clean())} | {name: panel(ClassNoise(LEVEL, **more)) for name, more in CLASS_NOISE.items()}
    values = {
        name: panel(AttributeNoise(LEVEL, scheme))
        for name, scheme in [
            ("symmetric uniform", "symmetric-uniform"),
            ("permutation", "permutation"),
            ("Gaussian, k = 0.2", "gaussian"),
            ("unconditional Gaussian", "unconditional-gaussian"),
        ]
    }
    values["uniform, the same rows"] = panel(AttributeNoise(LEVEL, same_rows=True))
    return {
        "class-noise": draw_changes(labels, columns=4, title="15 % class noise, by scheme", side=180),
        "attribute-noise": draw_changes(
            {"clean": panel(Clean()), **values}, title="15 % attribute noise, by scheme; lines start at the original position"
        ),
    }


def main(folder: str = str(Path(__file__).parent / "pictures"), suffix: str = ".svg") -> None:
    """Write the figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, chart in pictures().items():
        save(chart, Path(folder) / f"{name}{suffix}")


if __name__ == "__main__":
    main(*sys.argv[1:])
