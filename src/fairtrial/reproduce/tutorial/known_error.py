"""What the tutorial says of resampling schemes, judged where the true error is known: simulated data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table

if TYPE_CHECKING:
    import pandas as pd

_ROWS, _TEST_ROWS = 40, 2000
_FLIPPED = {"small error": 0.0, "large error": 0.3}


def known_error(request: Request) -> Reproduction:
    """Bias, spread and root mean squared error of five estimates, over fresh samples."""
    replicates, samples = request.pick(smoke=(3, 20), quick=(100, 50), full=(500, 100))
    errors = _errors(replicates, samples, request.seed)
    frame = _frame(errors)
    table = Table("known_error", "Estimates of the error where it is known", frame, _note(frame, replicates), digits=4)
    return Reproduction((), (table,), _claims(errors))


Rule = Callable[[Any, Any, Any], Any]


def _naive_bayes(X: Any, y: Any, new: Any) -> Any:
    """Normal densities by class and attribute; the sums of their logarithms decide."""
    told = []
    for label in (0, 1):
        own = X[y == label]
        mean, variance = own.mean(axis=0), own.var(axis=0) + 1e-9
        told.append(np.log(len(own)) - 0.5 * ((new - mean) ** 2 / variance + np.log(variance)).sum(axis=1))
    return (told[1] > told[0]).astype(int)


def _nearest(X: Any, y: Any, new: Any) -> Any:
    """The class of the nearest row."""
    return y[((X**2).sum(axis=1) - 2 * new @ X.T).argmin(axis=1)]


_RULES: dict[str, Rule] = {"NB": _naive_bayes, "1NN": _nearest}


def _errors(replicates: int, samples: int, seed: int) -> pd.DataFrame:
    """Estimate less truth: a line for each problem, learner and replicate, a column for each scheme."""
    import pandas as pd

    rows = []
    for problem, flipped in _FLIPPED.items():
        for replicate in range(replicates):
            X, y = _drawn(_ROWS, flipped, [seed, replicate, 0])
            fresh = _drawn(_TEST_ROWS, flipped, [seed, replicate, 1])
            for name, rule in _RULES.items():
                truth = float(np.mean(rule(X, y, fresh[0]) != fresh[1]))
                estimates = _estimates(rule, X, y, samples, seed + replicate)
                rows.append(
                    {"problem": problem, "learner": name, "truth": truth, **{k: v - truth for k, v in estimates.items()}}
                )
    return pd.DataFrame(rows)


def _drawn(n: int, flipped: float, seed: list[int]) -> tuple[Any, Any]:
    """Breiman's twonorm, with a share of the labels flipped."""
    from fairtrial.data.simulate import Twonorm

    rng = np.random.default_rng(seed)
    X, y = Twonorm().sample(n, rng)
    codes = (y == "2").to_numpy().astype(int)
    return X.to_numpy(), np.where(rng.random(n) < flipped, 1 - codes, codes)


def _estimates(rule: Rule, X: Any, y: Any, samples: int, seed: int) -> dict[str, float]:
    from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, out_of_bag_estimates
    from fairtrial.resampling.out_of_bag import NoInformation

    found = {
        name: float(np.mean(np.concatenate([rule(X[a], y[a], X[b]) != y[b] for a, b in splitter.split(X, y)])))
        for name, splitter in (("10-fold", KFold(10, random_state=seed)), ("leave-one-out", LeaveOneOut()))
    }
    draws = list(Bootstrap(samples, stratify=True, random_state=seed).freeze(X, y))
    counts = np.array([np.bincount(part.train, minlength=len(y)) for part in draws])
    losses = np.array([rule(X[part.train], y[part.train], X) != y for part in draws], dtype=float)
    own = rule(X, y, X)
    drawn = out_of_bag_estimates(losses, counts, (own != y).astype(float), NoInformation.of_labels(y, own))
    return found | {"E0": drawn["e0"].value, "e632": drawn["632-e0"].value, ".632+": drawn["632+"].value}


SCHEMES = ("10-fold", "leave-one-out", "E0", "e632", ".632+")


def _frame(errors: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for (problem, learner), own in errors.groupby(["problem", "learner"], sort=False):
        for scheme in SCHEMES:
            bias, error = _mean(own[scheme])
            rows.append(
                {
                    "problem": problem,
                    "learner": learner,
                    "true error": float(own["truth"].mean()),
                    "scheme": scheme,
                    "bias": bias,
                    "low": bias - 1.96 * error,
                    "high": bias + 1.96 * error,
                    "spread": float((own[scheme] + own["truth"]).std(ddof=1)),
                    "root mean squared error": float(np.sqrt(np.mean(own[scheme] ** 2))),
                }
            )
    return pd.DataFrame(rows)


def _mean(values: pd.Series[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _note(frame: pd.DataFrame, replicates: int) -> str:
    best = frame.loc[frame.groupby(["problem", "learner"], sort=False)["root mean squared error"].idxmin()]
    told = "; ".join(f"{row['scheme']} for {row['learner']}, {row['problem']}" for row in best.to_dict("records"))
    return (
        f"*Asked:* which scheme comes nearest to the error of the learner on new rows? {replicates} samples of {_ROWS} rows "
        "of Breiman's twonorm, as it "
        f"is and with 30 % of the labels flipped; the truth is the error on {_TEST_ROWS} fresh rows. *Answer:* least root "
        f"mean squared error: {told}. "
        "The experiment `estimates` looks at more schemes, sizes and problems."
    )


def _claims(errors: pd.DataFrame) -> tuple[Claim, ...]:
    nb, nn = (errors[errors["learner"] == name] for name in ("NB", "1NN"))
    small, large = (errors[errors["problem"] == name] for name in _FLIPPED)
    return (
        _above_zero("The E0 bootstrap is pessimistic", errors["E0"]),
        _smaller("e632 corrects for it: its bias is smaller than that of E0 (naive Bayes)", nb, "e632", "E0", _absolute_bias),
        _above_zero("Leave-one-out is practically unbiased", errors["leave-one-out"], none=True),
        _smaller("The bootstrap (e632) varies less than leave-one-out", errors, "e632", "leave-one-out", _spread),
        _smaller("Leave-one-out varies more than 10-fold cross-validation", errors, "10-fold", "leave-one-out", _spread),
        _smaller("e632 estimates better than 10-fold on small data", errors, "e632", "10-fold", _root),
        _smaller("E0 is good where the true error is high: better than e632 there", large, "E0", "e632", _root),
        _smaller("e632 is good where the true error is small: better than E0 there", small, "e632", "E0", _root),
        _smaller("The bootstrap (e632) is poor for nearest neighbours: worse than 10-fold", nn, "10-fold", "e632", _root),
    )


def _above_zero(text: str, values: pd.Series[float], *, none: bool = False) -> Claim:
    mean, error = _mean(values)
    low, high = mean - 1.96 * error, mean + 1.96 * error
    holds = (low <= 0.01 and high >= -0.01) if none else True if low > 0 else False if high < 0 else None
    return Claim(text, holds, f"bias {mean:+.4f}, {low:.4f} to {high:.4f}" + ("; within 0.01 counts as none" if none else ""))


def _smaller(text: str, own: pd.DataFrame, first: str, second: str, what: Any) -> Claim:
    """Whether a figure of the first scheme is smaller, by a bootstrap interval of the difference over replicates."""
    groups = [part[[first, second, "truth"]].to_numpy() for _, part in own.groupby(["problem", "learner"])]
    rng = np.random.default_rng(0)
    draws = [
        float(np.mean([what(g[rows], 1) - what(g[rows], 0) for g in groups for rows in [rng.integers(len(g), size=len(g))]]))
        for _ in range(500)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    holds = True if low > 0 else False if high < 0 else None
    values = [float(np.mean([what(g, place) for g in groups])) for place in (0, 1)]
    word = what.__doc__
    return Claim(
        text, holds, f"{word} {values[0]:.4f} ({first}), {values[1]:.4f} ({second}); difference {low:.4f} to {high:.4f}"
    )


def _absolute_bias(rows: Any, place: int) -> float:
    """absolute bias"""
    return abs(float(rows[:, place].mean()))


def _spread(rows: Any, place: int) -> float:
    """standard deviation"""
    return float((rows[:, place] + rows[:, 2]).std(ddof=1))


def _root(rows: Any, place: int) -> float:
    """root mean squared error"""
    return float(np.sqrt(np.mean(rows[:, place] ** 2)))
