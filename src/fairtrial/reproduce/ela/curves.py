"""More than the paper: accuracy, RLA and ELA up to half of all labels wrong, for a dozen other learners beside the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ela.running import run_study
from fairtrial.reproduce.ela.sets import CURVES, Sets, declared
from fairtrial.reproduce.reproduction import Request, Table

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_QUICK = ("iris", "newthyroid", "wine")
_SMOKE = ("c45", "naive-bayes")


def noise_curves(request: Request, sets: Sets) -> Results:
    """The study of all levels and learners, on small undamaged sets of all kinds; a part of each at the smaller scales."""
    names = request.pick(smoke=tuple(sets.data)[:2], quick=_QUICK, full=CURVES)
    levels = request.pick(smoke=[0, 0.3], quick=[0, 0.1, 0.3, 0.5], full=declared("curves")["conditions"]["class-noise"])
    learners = declared("curves")["learners"]
    kept = {name: each for name, each in learners.items() if request.scale != "smoke" or name in _SMOKE}
    return run_study(request, "curves", sets.only(names) or sets.data, learners=kept, conditions={"class-noise": levels})


def table(results: Results) -> Table:
    """A line for each learner, in the order of mean ELA: mean accuracies, ELA and RLA at the highest level with intervals."""
    note = (
        "Means over data sets, accuracy in per cent. 'mean ELA' is over all levels above 0, 'mean rank' that of this mean "
        "among the learners of each data set, 1 being the least; ELA and RLA at the highest level stand with Student's "
        "intervals over data sets. Learners are compared on the data sets on which none failed."
    )
    return Table("curves", "More learners under class noise", ranked(results), note, digits=3)


def ranked(results: Results) -> pd.DataFrame:
    """The frame of that table."""
    found = results.robustness("class-noise", by="all")
    highest = found["level"].max()
    last = found[found["level"] == highest].set_index("learner")
    ranks = mean_ranks(results)
    lines = []
    for learner, own in found.groupby("learner", sort=False, observed=True):
        shares: dict[str, Any] = {"learner": str(learner), "0 %": 100 * own["clean"].iloc[0]}
        shares |= {
            f"{level:.0%}".replace("%", " %"): 100 * noisy for level, noisy in zip(own["level"], own["noisy"], strict=True)
        }
        end = last.loc[learner]
        shares |= {"mean ELA": own["ela"].mean(), "mean rank": ranks[str(learner)]}
        for name in ("ela", "rla"):
            shares[f"{name.upper()} at {highest:.0%}".replace("%", " %")] = _told(end, name)
        lines.append(shares | {"data sets": int(own["datasets"].min())})
    import pandas as pd

    return pd.DataFrame(lines).sort_values("mean ELA", kind="stable", ignore_index=True)


def mean_ranks(results: Results) -> dict[str, float]:
    """Each learner's place by ELA over all levels, mean over the data sets on which none failed: no single set moves it far."""
    lines = results.robustness("class-noise").astype({"dataset": object, "learner": object})
    wide = lines.pivot_table(index="dataset", columns="learner", values="ela", aggfunc=lambda values: values.mean(skipna=False))
    found = wide.dropna().rank(axis=1).mean()
    return {str(learner): float(rank) for learner, rank in found.items()}


def _told(line: Any, name: str) -> str:
    return f"{line[name]:.3f} ({line[f'{name}_low']:.3f} to {line[f'{name}_high']:.3f})"


def words(frame: pd.DataFrame, levels: int, folds: int) -> str:
    """Who loses least, and where the two of the paper stand."""
    order = frame["learner"].tolist()
    first, last = frame.iloc[0], frame.iloc[-1]
    by_rank = frame.sort_values("mean rank")
    best, worst = by_rank.iloc[0], by_rank.iloc[-1]
    places = ", ".join(f"{name} {order.index(name) + 1}." for name in ("c45", "puk-svc", "puk-svc-logistic") if name in order)
    return (
        f"**Beyond the paper.** {len(order)} learners at {levels} levels of class noise on {int(frame['data sets'].max())} "
        f"small sets, one round of {folds} folds. By mean ELA over the levels {first['learner']} behaves best "
        f"({first['mean ELA']:.3f}) and {last['learner']} worst ({last['mean ELA']:.3f}). Places in that order: {places} Means "
        f"are moved by single sets; by mean rank {best['learner']} comes first ({best['mean rank']:.1f}) and "
        f"{worst['learner']} last ({worst['mean rank']:.1f})."
    )
