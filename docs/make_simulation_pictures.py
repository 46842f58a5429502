"""Draw rows of three simulated populations in two attributes.

`python docs/make_simulation_pictures.py` writes SVG files into `docs/pictures`; a folder and a suffix may follow.
"""

import sys
from pathlib import Path

import numpy as np

from fairtrial.conditions import Clean
from fairtrial.data.simulate import GaussianMixture, Ringnorm, Twonorm
from fairtrial.report import build_case_frame, draw_changes, save

CLOUDS = GaussianMixture(means=[[-3, 0], [3, 0], [0, 0]], priors=[0.25, 0.25, 0.5], component_classes=["2", "2", "1"])
POPULATIONS = {"twonorm": Twonorm(2), "ringnorm": Ringnorm(2), "three clouds": CLOUDS}


def main() -> None:
    """Draw a panel for each population."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("pictures")
    suffix = sys.argv[2] if len(sys.argv) > 2 else ".svg"
    panels = {}
    for name, population in POPULATIONS.items():
        X, y = population.sample(150, rng=2)
        heading = f"{name}: best error {100 * population.bayes_error:.1f} %"
        panels[heading] = build_case_frame(np.asarray(X), y.astype(str).to_numpy(), Clean().apply(X, y))
    chart = draw_changes(panels, title="150 rows of three populations", subtitle="Colour and shape show the class", side=220)
    print(save(chart, folder / f"populations{suffix}"))


if __name__ == "__main__":
    main()
