"""The Bayes robustness measure (BRM) on simulated populations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import brm, ela, rla
from fairtrial.reproduce.claim import Claim, IntervalEstimate, combine_estimates, estimate_mean, judge_datasets
from fairtrial.reproduce.experiment import Request, ResultTable, read_study_file

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data.simulate import Population
    from fairtrial.study import Results

N_TRAIN = 300
N_DRAWS = {"smoke": 1, "quick": 3, "full": 20}
JUDGED_LEVEL = 0.1
_SMOKE_POPULATIONS = ("two Gaussians", "twonorm")
_SMOKE_LEARNERS = ("c45", "naive-bayes", "1-nn")
_NOTE = (
    f"The table shows means over independent draws of {N_TRAIN} training and 2,000 test rows, with 95 % t intervals over the "
    "draws. Errors are in percent. BRM is (error under noise - Bayes error) / Bayes error. The ranks are computed at 10 % "
    "noise, and rank 1 is the smallest loss. Learners are sorted by BRM."
)


def build_populations() -> dict[str, Population]:
    """Return the simulated populations, whose exact Bayes errors are known, keyed by name."""
    from fairtrial.data.simulate import GaussianMixture, Ringnorm, Twonorm, Waveform

    return {
        "two Gaussians": GaussianMixture(means=[[0, 0], [2, 0]]),
        "twonorm": Twonorm(),
        "ringnorm": Ringnorm(),
        "waveform": Waveform(),
    }


def run_simulated(request: Request) -> Results:
    """Run the learners on independent draws from each population."""
    from fairtrial import Study

    declared = {key: value for key, value in read_study_file("ela", "brm").items() if key not in ("name", "seed")}
    populations = build_populations()
    if request.scale == "smoke":
        populations = {name: populations[name] for name in _SMOKE_POPULATIONS}
        declared["learners"] = {name: declared["learners"][name] for name in _SMOKE_LEARNERS}
    n_rows = N_TRAIN + declared["resampling"]["test_size"]
    data = {
        f"{name} {draw + 1}": population.dataset(n_rows, seed=100_000 * request.seed + 1_000 * index + draw)
        for index, (name, population) in enumerate(populations.items())
        for draw in range(N_DRAWS[request.scale])
    }
    study = Study(data=data, seed=request.seed, name="brm", **declared)
    results: Results = study.run(request.out / "brm.fairtrial", jobs=request.jobs, progress=request.progress)
    return results


def compute_draws(results: Results) -> pd.DataFrame:
    """Compute BRM, RLA and ELA of each learner on each draw and noise level.

    Returns
    -------
    pandas.DataFrame
        Columns population, draw, learner, level, clean and noisy (accuracies), brm, rla and ela.
    """
    scores = results.scores("accuracy").astype({"dataset": object, "learner": object})
    scores = scores[scores["value"].notna()]
    clean = scores[scores["condition"] == "clean"].set_index(["dataset", "learner"])["value"]
    noisy = scores[scores["condition"] != "clean"]
    keys = list(zip(noisy["dataset"], noisy["learner"], strict=True))
    frame = noisy[["learner", "level"]].assign(
        population=[name.rpartition(" ")[0] for name in noisy["dataset"]],
        draw=[int(name.rpartition(" ")[2]) for name in noisy["dataset"]],
        clean=clean.reindex(keys).to_numpy(),
        noisy=noisy["value"].to_numpy(),
    )
    return add_losses(frame.dropna().reset_index(drop=True))


def add_losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Add BRM, RLA and ELA to a frame of accuracies.

    The column `population` contains names from `build_populations`.
    """
    bayes = frame["population"].map({name: population.bayes_error for name, population in build_populations().items()})
    return frame.assign(
        bayes=bayes,
        brm=brm(1 - frame["noisy"].to_numpy(), bayes.to_numpy()),
        rla=rla(frame["clean"].to_numpy(), frame["noisy"].to_numpy(), scale=1),
        ela=ela(frame["clean"].to_numpy(), frame["noisy"].to_numpy(), scale=1),
    )


def estimate_agreement(draws: pd.DataFrame, measure: str, level: float = JUDGED_LEVEL) -> dict[str, list[float]]:
    """Compute Kendall's tau between BRM and another loss over the learners, for each draw.

    Tau is NaN if all learners have the same loss.
    """
    from scipy.stats import kendalltau

    selected = draws[np.isclose(draws["level"], level)]
    taus: dict[str, list[float]] = {}
    for (population, _), rows in selected.groupby(["population", "draw"], sort=False):
        taus.setdefault(str(population), []).append(float(kendalltau(rows["brm"], rows[measure]).statistic))
    return taus


def compare_agreement(draws: pd.DataFrame, level: float = JUDGED_LEVEL) -> dict[str, IntervalEstimate]:
    """Estimate how much better ELA agrees with BRM than RLA does, by population."""
    by_ela, by_rla = (estimate_agreement(draws, measure, level) for measure in ("ela", "rla"))
    differences = {population: np.subtract(by_ela[population], by_rla[population]) for population in by_ela}
    return {population: estimate_mean(values[np.isfinite(values)]) for population, values in differences.items()}


def judge_agreement(draws: pd.DataFrame) -> Claim:
    """Judge our claim that ELA agrees better than RLA with BRM on the order of the learners."""
    differences = compare_agreement(draws)
    means = [_average_tau(estimate_agreement(draws, measure)) for measure in ("ela", "rla")]
    by_population = "; ".join(f"{name} {estimate.format('{:+.2f}')}" for name, estimate in differences.items())
    return Claim(
        "ELA orders learners more like BRM than RLA does, on simulated data with known Bayes error",
        judge_datasets(differences.values()),
        f"Kendall's tau with BRM at 10 % noise: ELA {means[0]:.2f}, RLA {means[1]:.2f}; difference "
        f"{combine_estimates(differences.values()).format('{:+.2f}')} ({by_population})",
        kind="own",
    )


def _average_tau(taus: Mapping[str, list[float]]) -> float:
    return float(np.mean([np.nanmean(values) for values in taus.values()]))


def rank_learners(draws: pd.DataFrame) -> pd.DataFrame:
    """Rank the learners of each population by their mean BRM, RLA and ELA at 10 % noise.

    The smallest loss has rank 1.
    """
    judged = draws[np.isclose(draws["level"], JUDGED_LEVEL)]
    means = judged.groupby(["population", "learner"], sort=False)[["brm", "rla", "ela"]].mean()
    return means.groupby(level="population", sort=False).rank(method="min").astype(int)


def find_rank_example(draws: pd.DataFrame) -> dict[str, Any]:
    """Find the learner whose rank by RLA differs most from its rank by BRM."""
    rows = rank_learners(draws).reset_index().to_dict("records")
    example = max(rows, key=lambda row: abs(row["brm"] - row["rla"]))
    return {str(name): value for name, value in example.items()} | {"n": draws["learner"].nunique()}


def tabulate_losses(draws: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the errors and BRM of the learners, and their ranks by three losses."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    ranks = rank_learners(draws)
    for population, by_learner in ranks.groupby(level="population", sort=False):
        for row_ranks in by_learner.sort_values("brm").reset_index().to_dict("records"):
            learner = row_ranks["learner"]
            own = draws[(draws["population"] == population) & (draws["learner"] == learner)]
            row: dict[str, Any] = {
                "population": population,
                "Bayes error": f"{100 * own['bayes'].iloc[0]:.2f}",
                "learner": learner,
                "error, 0 %": f"{100 * (1 - own['clean'].mean()):.1f}",
            }
            for level in sorted(set(own["level"])):
                at_level = own[own["level"] == level]
                row[f"error, {100 * level:.0f} %"] = f"{100 * (1 - at_level['noisy'].mean()):.1f}"
                row[f"BRM, {100 * level:.0f} %"] = estimate_mean(at_level["brm"]).format("{:.2f}")
            rows.append(row | {f"rank, {name.upper()}": row_ranks[name] for name in ("brm", "rla", "ela")})
    return pd.DataFrame(rows)


def build_table(draws: pd.DataFrame) -> ResultTable:
    """Build the table of BRM by population and learner."""
    return ResultTable("brm", "BRM on populations with known Bayes error", tabulate_losses(draws), _NOTE)
