"""What a learner can take, and so what has to be prepared for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairtrial.learners.learner import Reader
from fairtrial.learners.numbers import Scale

_STANDARD = ("linear_model", "svm", "neighbors", "neural_network", "gaussian_process", "semi_supervised")
_POSITIVE = ("MultinomialNB", "ComplementNB")
_OWN_PREPARATION = ("Pipeline", "Prepared")
_TYPED = ("HistGradientBoostingClassifier", "LGBMClassifier")


@dataclass(frozen=True)
class Facts:
    """Whether a learner takes nominal and missing values as they are, and the scale that it needs.

    `prepares` says that it prepares for itself: nothing is done for it. `numbered` says that it takes classes as numbers from
    0 on only.
    """

    nominal: bool
    missing: bool
    scale: Scale = None
    prepares: bool = False
    numbered: bool = False

    def words(self) -> str:
        """What is prepared for it, in a few words."""
        told = ["nominal to binary"] if not self.nominal else []
        told += ["gaps filled"] if not self.missing else []
        told += [f"{self.scale} scale"] if self.scale else []
        told += ["classes numbered"] if self.numbered else []
        return ", ".join(told) or "nothing"


def facts_of(learner: Any) -> Facts:
    """The facts of a learner: its own `fairtrial_facts` if it declares them, else by its kind and by scikit-learn's tags.

    >>> from sklearn.linear_model import LogisticRegression
    >>> facts_of(LogisticRegression())
    Facts(nominal=False, missing=False, scale='standard', prepares=False, numbered=False)
    """
    declared = getattr(learner, "fairtrial_facts", None)
    if isinstance(declared, Facts):
        return declared
    name, module = type(learner).__name__, type(learner).__module__
    if name in _OWN_PREPARATION:
        return Facts(nominal=True, missing=True, prepares=True)
    within = _learners_within(learner)
    if within:
        return _common([facts_of(each) for each in within])
    if isinstance(learner, Reader):
        return Facts(nominal=True, missing=True)
    numbered = module.split(".")[0] == "xgboost"
    return Facts(nominal=name in _TYPED, missing=_takes_gaps(learner), scale=_scale(name, module), numbered=numbered)


def _learners_within(learner: Any) -> list[Any]:
    """The learners that a learner of learners wraps: one, or several by name."""
    several = getattr(learner, "estimators", None)
    found = [each[1] if isinstance(each, tuple) else each for each in several] if isinstance(several, list) else []
    single = getattr(learner, "estimator", None)
    return [each for each in [*found, single] if hasattr(each, "fit")]


def _common(facts: list[Facts]) -> Facts:
    """What all of them can take, and the scale that any of them needs."""
    scales = [each.scale for each in facts if each.scale]
    return Facts(
        nominal=all(each.nominal for each in facts),
        missing=all(each.missing for each in facts),
        scale=scales[0] if scales else None,
        prepares=all(each.prepares for each in facts),
        numbered=any(each.numbered for each in facts),
    )


def _takes_gaps(learner: Any) -> bool:
    from sklearn.utils import get_tags

    try:
        return bool(get_tags(learner).input_tags.allow_nan)
    except (AttributeError, TypeError):
        return type(learner).__module__.split(".")[0] in ("xgboost", "lightgbm", "catboost")


def _scale(name: str, module: str) -> Scale:
    if name in _POSITIVE:
        return "min-max"
    return "standard" if module.startswith("sklearn.") and module.split(".")[1] in _STANDARD else None
