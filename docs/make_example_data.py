"""Write the files of the how-to guides: python docs/make_example_data.py writes docs/data."""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "data"
REGIONS, PROPORTIONS = ["east", "north", "south", "west"], [0.2, 0.4, 0.3, 0.1]


def main() -> None:
    """Write one CSV file per table."""
    FOLDER.mkdir(exist_ok=True)
    for build in (build_churn, build_release, build_visits, build_loans, build_pilot):
        name = build.__name__.removeprefix("build_")
        build().to_csv(FOLDER / f"{name}.csv", index=False, lineterminator="\n")


def build_churn(rows: int = 4_000) -> pd.DataFrame:
    """Build calibrated probabilities of two models for customers of whom 12 % leave."""
    rng = np.random.default_rng(0)
    churned = rng.random(rows) < 0.12
    table = pd.DataFrame({"customer": np.arange(rows), "y_true": np.where(churned, "yes", "no")})
    for name, strength in (("forest", 2.0), ("logreg", 1.6)):
        score = strength * churned + rng.normal(size=rows)
        table[f"{name}_proba"] = (1 / (1 + np.exp(strength**2 / 2 - strength * score) * 0.88 / 0.12)).round(4)
    return table


def build_release(rows: int = 8_000) -> pd.DataFrame:
    """Build scores of an old and a new model that are equally good."""
    rng = np.random.default_rng(6)
    churned = rng.random(rows) < 0.12
    shared = 1.5 * churned + rng.normal(size=rows)
    table = pd.DataFrame({"customer": np.arange(rows), "y_true": churned.astype(int)})
    for name in ("old", "new"):
        table[f"{name}_score"] = (shared + 0.35 * rng.normal(size=rows)).round(3)
    return table


def build_visits(patients: int = 60, visits: int = 10) -> pd.DataFrame:
    """Build scores of two models for patients whose visits are alike."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(patients), visits)
    ill = (rng.random(patients) < 0.5)[patient]
    table = pd.DataFrame({"patient": patient, "y_true": np.where(ill, "ill", "well")})
    shared = rng.normal(size=patients)[patient]
    for name, strength in (("old", 1.0), ("new", 1.2)):
        own = rng.normal(size=patients)[patient]
        table[f"{name}_score"] = (strength * ill + 0.6 * shared + 0.7 * own + 0.4 * rng.normal(size=len(patient))).round(3)
    return table


def build_loans(rows: int = 4_000) -> pd.DataFrame:
    """Build probabilities of a model that is worse in one region."""
    rng = np.random.default_rng(1)
    region = rng.choice(REGIONS, rows, p=PROPORTIONS)
    default = rng.random(rows) < 0.3
    signal = np.where(region == "south", 1.0, 1.6) * default + rng.normal(size=rows)
    table = pd.DataFrame({"applicant": np.arange(rows), "region": region, "y_true": default.astype(int)})
    table["model_proba"] = (1 / (1 + np.exp(-1.6 * (signal - 1.3)))).round(4)
    return table


def build_pilot(rows: int = 600) -> pd.DataFrame:
    """Build probabilities of an old and a new model for a few customers."""
    rng = np.random.default_rng(1)
    churned = rng.random(rows) < 0.3
    signal = 1.5 * churned + rng.normal(size=rows)
    old, new = (1 / (1 + np.exp(1 - signal - 0.4 * rng.normal(size=(2, rows))))).round(4)
    return pd.DataFrame({"y_true": churned.astype(int), "old_proba": old, "new_proba": new})


if __name__ == "__main__":
    main()
