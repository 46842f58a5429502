"""What was asked, what was found, and how pairs of learners are compared, whatever the design."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.errors import InputError
from fairtrial.significance.bayes import Posterior
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import PostHoc
from fairtrial.significance.table import Better
from fairtrial.significance.verdict import Step

# Bergmann and Hommel's procedure takes a hundredth of a second with 12 learners, a second with 16.
MOST_BERGMANN = 12
WHICH_TEST = "Which test?"
HOW_PAIRS = "How are the pairs compared?"
WHICH_ROPE = "Is there a region of practical equivalence?"
_REASONS = {
    "bergmann": (
        f"Bergmann and Hommel's procedure adjusts the p values of all pairs: more powerful than Holm's and Shaffer's, "
        f"valid whatever the dependence, and quick up to {MOST_BERGMANN} learners."
    ),
    "shaffer": (
        f"Shaffer's procedure adjusts the p values of all pairs: it holds whatever the dependence and is never worse than "
        f"Holm's; Bergmann and Hommel's would be slow with more than {MOST_BERGMANN} learners."
    ),
    "holm": (
        "Holm's procedure adjusts the p values of the comparisons with the control, which holds whatever the dependence; "
        "Finner's is a little more powerful where the comparisons are positively dependent."
    ),
    "tukey": "Tukey's comparisons follow an analysis of variance.",
    "dunnett": "Dunnett's comparisons with a control follow an analysis of variance.",
}


@dataclass(frozen=True)
class Wishes:
    """What the user asked for."""

    better: Better = "max"
    control: str | None = None
    alpha: float = 0.05
    rope: float | None = None
    posthoc: str | None = None
    test_fraction: float | None = None
    parametric: bool = False


@dataclass(frozen=True)
class Judged:
    """A test that was chosen, and what it gave."""

    choice: str
    p_value: float
    outcome: Outcome
    steps: tuple[Step, ...]
    posthoc: PostHoc | None = None
    posterior: Posterior | None = None
    notes: tuple[str, ...] = ()


def method_for(wishes: Wishes, k: int, parametric: bool) -> tuple[str, str]:
    """The post-hoc procedure, and why."""
    versus = "all pairs" if wishes.control is None else f"each learner with the control {wishes.control}"
    by_default = default_method(wishes.control, k, parametric)
    if wishes.posthoc in ("tukey", "dunnett") and not parametric:
        if not wishes.parametric:
            raise InputError(
                f"posthoc must fit ranks, got {wishes.posthoc!r}, which follows an analysis of variance: pass parametric=True, "
                f"or use {by_default!r}"
            )
        return by_default, f"{wishes.posthoc} was asked for but needs an analysis of variance. {_REASONS[by_default]}"
    if wishes.posthoc is None:
        gate = " The pairs are judged by these p values alone, whatever the test above says: the procedure needs no gate."
        return by_default, _REASONS[by_default] + gate
    if wishes.posthoc == "none":
        return "none", f"The p values of {versus} are not adjusted, as was asked: some will be small by chance alone."
    return wishes.posthoc, f"The p values of {versus} are adjusted by {wishes.posthoc}, as was asked."


def default_method(control: str | None, k: int, parametric: bool) -> str:
    """The post-hoc procedure where none is asked for."""
    if parametric:
        return "tukey" if control is None else "dunnett"
    if control is not None:
        return "holm"
    return "bergmann" if k <= MOST_BERGMANN else "shaffer"


def unused_posthoc(wishes: Wishes) -> list[Step]:
    """What is said of a post-hoc procedure where there is one comparison."""
    if wishes.posthoc is None:
        return []
    return [
        (HOW_PAIRS, "not needed", f"The post-hoc procedure {wishes.posthoc} is not needed: two learners are one comparison.")
    ]


def unused_rope(wishes: Wishes, k: int) -> list[Step]:
    """What is said of a rope where there are several comparisons."""
    if wishes.rope is None:
        return []
    reason = f"The Bayesian tests compare two learners, and there are {k}: keep two of them to use the rope of {wishes.rope:g}."
    return [(WHICH_ROPE, "not used", reason)]
