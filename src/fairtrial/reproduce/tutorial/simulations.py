"""Judge the tutorial's advice on resampling and tests by simulations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial.reproduce.claim import (
    Claim,
    IntervalEstimate,
    build_claim,
    estimate_mean,
    judge_direction,
    judge_equivalence,
    mark_inconclusive,
)
from fairtrial.reproduce.experiment import Request, ResultTable
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import PageSection

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance import Outcome

FloatArray = npt.NDArray[np.float64]
Classifier = Callable[[Any, Any, Any], Any]  # training rows, their classes, new rows -> classes

SCHEMES = ("10-fold", "leave-one-out", "E0", "e632", ".632+")
PROBLEMS = {"small error": 0.0, "large error": 0.3}  # the proportion of flipped labels
_N_TRAIN, _N_TEST = 40, 2000
_MIN_SAMPLES = 20  # minimum number for an interval of a standard deviation or of a root mean squared error
_NEGLIGIBLE_BIAS = 0.01

_N_ROWS = 100
_SHIFTS = {"equal": 1.0, "different": 0.4}  # distance between the class means in the second learner's attribute
_MIN_REPLICATES = 100  # with fewer data sets, there are hardly any rejections at 0.05
FOLD_T, FIVE_T, FIVE_F = "10-fold, paired t", "5x2, t (Dietterich)", "5x2, F (Alpaydin)"
ALL_FOLDS_T, CALIBRATED = "10x10, paired t of all folds", "10x10, calibrated (Bouckaert)"
AVERAGED_FOLDS, SORTED_RUNS = "10x10, averaged folds (Bouckaert)", "10x10, sorted runs (Bouckaert)"
BOUCKAERT = (CALIBRATED, AVERAGED_FOLDS, SORTED_RUNS)


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Run both simulations, which need no data sets."""
    yield build_known_error(inputs.request)
    yield build_repeated_tests(inputs.request)


def _require_replicates(claims: tuple[Claim, ...], n: int, minimum: int, unit: str) -> tuple[Claim, ...]:
    return (
        claims if n >= minimum else mark_inconclusive(claims, f"inconclusive with {n} {unit} (at least {minimum} are needed)")
    )


# Estimates of a known error


def build_known_error(request: Request) -> PageSection:
    """Measure the bias and the error of five estimates of a known error."""
    n_samples, n_resamples = request.pick(smoke=(3, 40), quick=(100, 50), full=(500, 100))
    errors = simulate_estimation_errors(n_samples, n_resamples, request.seed)
    frame = _summarize_errors(errors)
    best = frame.loc[frame.groupby(["problem", "learner"], sort=False)["root mean squared error"].idxmin()]
    values = {
        "n_samples": n_samples,
        "n_train": _N_TRAIN,
        "n_test": _N_TEST,
        "best": best[["scheme", "learner", "problem"]].to_dict("records"),
    }
    claims = _require_replicates(judge_known_error(errors), n_samples, _MIN_SAMPLES, "samples")
    table = ResultTable("known_error", "Estimates of a known error", frame, digits=4)
    return PageSection("known_error", values, (table,), claims)


def classify_naive_bayes(X: Any, y: Any, X_new: Any) -> Any:
    """Classify rows by Gaussian naive Bayes."""
    scores = []
    for label in (0, 1):
        rows = X[y == label]
        mean, variance = rows.mean(axis=0), rows.var(axis=0) + 1e-9
        scores.append(np.log(len(rows)) - 0.5 * ((X_new - mean) ** 2 / variance + np.log(variance)).sum(axis=1))
    return (scores[1] > scores[0]).astype(int)


def classify_nearest(X: Any, y: Any, X_new: Any) -> Any:
    """Classify rows by their nearest training row."""
    return y[((X**2).sum(axis=1) - 2 * X_new @ X.T).argmin(axis=1)]


_CLASSIFIERS: dict[str, Classifier] = {"NB": classify_naive_bayes, "1NN": classify_nearest}


def draw_twonorm(n: int, flipped: float, seed: list[int]) -> tuple[Any, Any]:
    """Draw rows of Breiman's twonorm and flip a proportion of the labels."""
    from fairtrial.data.simulate import Twonorm

    rng = np.random.default_rng(seed)
    X, y = Twonorm().sample(n, rng)
    codes = (y == "2").to_numpy().astype(int)
    return X.to_numpy(), np.where(rng.random(n) < flipped, 1 - codes, codes)


def simulate_estimation_errors(
    n_samples: int, n_resamples: int, seed: int, problems: dict[str, float] = PROBLEMS
) -> pd.DataFrame:
    """Simulate estimated minus true errors of each scheme.

    The result has one row per problem, learner and sample, and one column per scheme.

    Each problem and replicate has its own sample. Both learners share the sample and its splits.
    """
    import pandas as pd

    lines = []
    for index, (problem, flipped) in enumerate(problems.items()):
        for replicate in range(n_samples):
            key = [seed, index, replicate]
            X, y = draw_twonorm(_N_TRAIN, flipped, [*key, 0])
            X_test, y_test = draw_twonorm(_N_TEST, flipped, [*key, 1])
            split_seed = int(np.random.default_rng([*key, 2]).integers(2**31))
            for name, classify in _CLASSIFIERS.items():
                true_error = float(np.mean(classify(X, y, X_test) != y_test))
                estimates = _estimate_error(classify, X, y, n_resamples, split_seed)
                errors = {scheme: estimate - true_error for scheme, estimate in estimates.items()}
                lines.append({"problem": problem, "learner": name, "replicate": replicate, "true error": true_error, **errors})
    return pd.DataFrame(lines)


def _estimate_error(classify: Classifier, X: Any, y: Any, n_resamples: int, seed: int) -> dict[str, float]:
    from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, out_of_bag_estimates
    from fairtrial.resampling.estimate import NoInformation

    estimates = {
        name: float(np.mean(np.concatenate([classify(X[a], y[a], X[b]) != y[b] for a, b in splitter.split(X, y)])))
        for name, splitter in (("10-fold", KFold(10, random_state=seed)), ("leave-one-out", LeaveOneOut()))
    }
    samples = list(Bootstrap(n_resamples, stratify=True, random_state=seed).freeze(X, y))
    counts = np.array([np.bincount(sample.train, minlength=len(y)) for sample in samples])
    losses = np.array([classify(X[sample.train], y[sample.train], X) != y for sample in samples], dtype=float)
    predicted = classify(X, y, X)
    out_of_bag = out_of_bag_estimates(losses, counts, (predicted != y).astype(float), NoInformation.from_labels(y, predicted))
    methods = {"E0": "e0", "e632": "632-e0", ".632+": "632+"}
    return estimates | {scheme: out_of_bag[method].value for scheme, method in methods.items()}


def _summarize_errors(errors: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    lines = []
    for (problem, learner), rows in errors.groupby(["problem", "learner"], sort=False):
        for scheme in SCHEMES:
            bias = estimate_mean(rows[scheme])
            lines.append(
                {
                    "problem": problem,
                    "learner": learner,
                    "true error": float(rows["true error"].mean()),
                    "scheme": scheme,
                    "bias": bias.value,
                    "low": bias.low,
                    "high": bias.high,
                    "standard deviation": float((rows[scheme] + rows["true error"]).std(ddof=1)),
                    "root mean squared error": float(np.sqrt(np.mean(rows[scheme] ** 2))),
                }
            )
    return pd.DataFrame(lines)


# Functions of an array (columns: errors of scheme 0, errors of scheme 1, true error) and of the index of a scheme.
STATISTICS: dict[str, Callable[[Any, int], float]] = {
    "absolute bias": lambda rows, scheme: abs(float(rows[:, scheme].mean())),
    "standard deviation": lambda rows, scheme: float((rows[:, scheme] + rows[:, 2]).std(ddof=1)),
    "root mean squared error": lambda rows, scheme: float(np.sqrt(np.mean(rows[:, scheme] ** 2))),
}


def judge_known_error(errors: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge nine claims about estimates of a known error.

    Two claims about a bias are judged by its mean over all learners and problems. Each of the other claims must be true for
    every learner and problem that the slides do not exempt.
    """
    nb, nn = (errors[errors["learner"] == name] for name in ("NB", "1NN"))
    small, large = (errors[errors["problem"] == name] for name in PROBLEMS)
    e0_bias, loo_bias = (estimate_bias(errors, scheme) for scheme in ("E0", "leave-one-out"))
    lower = "judged as: {} has a smaller standard deviation than leave-one-out for each learner and problem"
    deviation, root = "standard deviation", "root mean squared error"
    return (
        Claim(
            "The E0 bootstrap is pessimistic (judged as: mean bias above 0)",
            judge_direction([e0_bias]),
            f"bias {e0_bias.format()}",
        ),
        judge_smaller(
            "e632 attempts to correct for this (judged as: smaller absolute bias than E0 on both problems, naive Bayes)",
            nb,
            "e632",
            "E0",
            "absolute bias",
        ),
        Claim(
            f"Leave-one-out is practically unbiased (judged as: mean bias equivalent to 0, margin {_NEGLIGIBLE_BIAS:g})",
            judge_equivalence([loo_bias], _NEGLIGIBLE_BIAS),
            f"bias {loo_bias.format()}",
        ),
        judge_smaller(
            f"Bootstrapping has a low variance on small data ({lower.format('e632')})",
            errors,
            "e632",
            "leave-one-out",
            deviation,
        ),
        judge_smaller(
            f"Leave-one-out has a high variance ({lower.format('10-fold')})",
            errors,
            "10-fold",
            "leave-one-out",
            deviation,
        ),
        judge_smaller(
            f"e632 is better than 10-fold on small data (judged as: smaller {root} with {_N_TRAIN} rows, naive Bayes, each "
            "problem)",
            nb,
            "e632",
            "10-fold",
            root,
            exempt=nn,
        ),
        judge_smaller(
            f"E0 is good if the true error is large (judged as: smaller {root} than e632 for both learners)",
            large,
            "E0",
            "e632",
            root,
        ),
        judge_smaller(
            f"e632 is good if the true error is small (judged as: smaller {root} than E0 for both learners)",
            small,
            "e632",
            "E0",
            root,
        ),
        _judge_nearest(nn, root),
    )


def _judge_nearest(errors: pd.DataFrame, statistic: str) -> Claim:
    """Judge by e632, with E0 as a variant, whether bootstrapping is poor for nearest neighbours."""
    gaps = {scheme: estimate_gaps(errors, "10-fold", scheme, statistic) for scheme in ("e632", "E0")}
    return build_claim(
        f"Bootstrapping is poor for nearest neighbours (judged as: larger {statistic} than 10-fold on both problems, e632)",
        lambda variant: judge_direction(gaps[variant or "e632"].values()),
        f"{statistic}: {'; '.join([*gaps['e632'], *gaps['E0']])}",
        variants=["E0"],
    )


def estimate_bias(errors: pd.DataFrame, scheme: str) -> IntervalEstimate:
    """Estimate the mean bias over all problems and learners.

    Errors are first averaged within each replicate.
    """
    return estimate_mean(errors.groupby("replicate")[scheme].mean())


def judge_smaller(
    text: str, errors: pd.DataFrame, first: str, second: str, statistic: str, exempt: pd.DataFrame | None = None
) -> Claim:
    """Judge whether a statistic of the first scheme is smaller for every problem and learner.

    The statistics of the rows in `exempt` are only reported.
    """
    gaps = estimate_gaps(errors, first, second, statistic)
    details = f"{statistic}: {'; '.join(gaps)}"
    if exempt is not None:
        details += f"; exempted by the slides: {'; '.join(estimate_gaps(exempt, first, second, statistic))}"
    return Claim(text, judge_direction(gaps.values()), details)


def estimate_gaps(errors: pd.DataFrame, first: str, second: str, statistic: str) -> dict[str, IntervalEstimate]:
    """Estimate the statistic of the second scheme minus that of the first.

    The keys of the result state the problem, the learner, both values and the difference.
    """
    compute = STATISTICS[statistic]
    gaps = {}
    for (problem, learner), group in errors.groupby(["problem", "learner"], sort=False):
        rows = group.sort_values("replicate")[[first, second, "true error"]].to_numpy(dtype=float)
        gap = estimate_by_jackknife(lambda rows: compute(rows, 1) - compute(rows, 0), rows)
        numbers = f"{compute(rows, 0):.4f} ({first}), {compute(rows, 1):.4f} ({second})"
        gaps[f"{learner}, {problem}: {numbers}, difference {gap.format()}"] = gap
    return gaps


def estimate_by_jackknife(compute: Callable[[Any], float], rows: Any) -> IntervalEstimate:
    """Estimate a statistic of the rows with a t interval from its jackknife pseudo-values.

    The limits are NaN for few rows, because the pseudo-values are then far from normal.
    """
    n, value = len(rows), compute(rows)
    if n < _MIN_SAMPLES:
        return IntervalEstimate(value, float("nan"), float("nan"))
    mean = estimate_mean([n * value - (n - 1) * compute(np.delete(rows, row, axis=0)) for row in range(n)])
    return mean.subtract(mean.value - value)


# Tests of cross-validated accuracies


def build_repeated_tests(request: Request) -> PageSection:
    """Measure the type I error and the power of eight tests of cross-validated accuracies."""
    n_replicates = request.pick(smoke=20, quick=500, full=4000)
    rejected = {name: _simulate_rejections(n_replicates, shift, request.seed) for name, shift in _SHIFTS.items()}
    frame = _summarize_rejections(rejected)
    worst = frame.iloc[int(frame["type I error"].to_numpy().argmax())]
    values = {
        "n_replicates": n_replicates,
        "n_rows": _N_ROWS,
        "controlling": frame.loc[frame["type I error, low"] <= 0.05, "test"].tolist(),
        "worst": worst["test"],
        "worst_rate": 100 * worst["type I error"],
        "worst_is_repeated": _list_tests()[worst["test"]][0] == "10x10" and worst["test"] != FOLD_T,
    }
    claims = _require_replicates(judge_repeated_tests(rejected), n_replicates, _MIN_REPLICATES, "simulated data sets")
    title = "5 x 2 and 10 x 10 cross-validation: type I error and power of the tests"
    return PageSection("repeated_tests", values, (ResultTable("repeated_tests", title, frame, digits=3),), claims)


def _list_tests() -> dict[str, tuple[str, Callable[[FloatArray, FloatArray], Outcome]]]:
    """List the tests with the resampling scheme that each requires."""
    from fairtrial.significance import corrected_resampled_t, five_by_two_f, five_by_two_t, paired_t, ten_by_ten

    return {
        FOLD_T: ("10x10", lambda a, b: paired_t(a[0], b[0])),
        FIVE_T: ("5x2", five_by_two_t),
        FIVE_F: ("5x2", five_by_two_f),
        ALL_FOLDS_T: ("10x10", lambda a, b: paired_t(a.ravel(), b.ravel())),
        CALIBRATED: ("10x10", ten_by_ten),
        AVERAGED_FOLDS: ("10x10", partial(ten_by_ten, variant="averaged-folds")),
        SORTED_RUNS: ("10x10", partial(ten_by_ten, variant="sorted-runs")),
        "10x10, corrected t (Nadeau, Bengio)": (
            "10x10",
            lambda a, b: corrected_resampled_t(a.ravel(), b.ravel(), test_fraction=0.1),
        ),
    }


def _simulate_rejections(n_replicates: int, shift: float, seed: int) -> pd.DataFrame:
    """Return whether each test rejects at 0.05 in each replicate.

    An undefined p-value counts as no rejection.
    """
    import pandas as pd

    from fairtrial.errors import UndefinedMeasureWarning

    accuracies = {scheme: simulate_accuracies(scheme, n_replicates, shift, seed) for scheme in ("10x10", "5x2")}
    rejected: dict[str, list[bool]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        for name, (scheme, test) in _list_tests().items():
            first, second = accuracies[scheme]
            rejected[name] = [bool(test(first[i], second[i]).p_value < 0.05) for i in range(n_replicates)]
    return pd.DataFrame(rejected)


def simulate_accuracies(scheme: str, n_replicates: int, shift: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Simulate cross-validated accuracies of two learners that use one attribute each.

    Each attribute is normally distributed with variance 1, and its mean is +s/2 in one class and -s/2 in the other. A learner
    uses the threshold halfway between the class means of the training set. If both attributes have the same s, the learners are
    equal by symmetry. All replicates have the same splits.
    """
    from fairtrial.resampling import FiveByTwo, TenByTen

    y = np.repeat([0, 1], _N_ROWS // 2)
    splitter: Any = {"10x10": TenByTen, "5x2": FiveByTwo}[scheme](random_state=seed)
    splits = list(splitter.freeze(np.zeros((_N_ROWS, 1)), y))
    rng = np.random.default_rng([seed, 7])
    attributes = [rng.normal(size=(n_replicates, _N_ROWS)) + s * (y - 0.5) for s in (_SHIFTS["equal"], shift)]
    shape = (10, 10) if scheme == "10x10" else (5, 2)
    first, second = (
        np.stack([score_threshold(attribute, y, split.train, split.test) for split in splits], axis=1).reshape(
            n_replicates, *shape
        )
        for attribute in attributes
    )
    return first, second


def score_threshold(attribute: FloatArray, y: Any, train: Any, test: Any) -> FloatArray:
    """Compute the test accuracy of the threshold between the training class means."""
    means = [attribute[:, train[y[train] == label]].mean(axis=1, keepdims=True) for label in (0, 1)]
    above = attribute[:, test] > (means[0] + means[1]) / 2
    return np.asarray((above == ((y[test] == 1) == (means[1] >= means[0]))).mean(axis=1))


def _summarize_rejections(rejected: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    lines = []
    for name in rejected["equal"]:
        line: dict[str, Any] = {"test": name}
        for column, case in (("type I error", "equal"), ("power", "different")):
            rejections = rejected[case][name]
            low, high = compute_clopper_pearson_limits(int(rejections.sum()), len(rejections), 0.95)
            line |= {column: float(rejections.mean()), f"{column}, low": float(low), f"{column}, high": float(high)}
        lines.append(line)
    return pd.DataFrame(lines)


def judge_repeated_tests(rejected: dict[str, pd.DataFrame]) -> tuple[Claim, ...]:
    """Judge six claims about tests of cross-validated accuracies.

    The last two claims are judged by Bouckaert's tests, which the slide cites. The paired t test over all folds is a variant.
    """
    schemes = "Bouckaert's variations of 10x10 cross-validation"
    stated = [
        ("The 5x2 t test has a lower type I error than the t test over 10 folds", "equal", FOLD_T, FIVE_T),
        ("The 5x2 t test has less power than the t test over 10 folds", "different", FOLD_T, FIVE_T),
        ("The 5x2 F test has a lower type I error than the 5x2 t test", "equal", FIVE_T, FIVE_F),
        ("The 5x2 F test has more power than the 5x2 t test", "different", FIVE_F, FIVE_T),
    ]
    repeated = [
        (f"{schemes} have a higher type I error than the t test over 10 folds (judged as: all three)", "equal"),
        (f"{schemes} have more power than the t test over 10 folds (judged as: all three)", "different"),
    ]
    return (
        *(judge_more_rejections(text, rejected[case], larger, smaller) for text, case, larger, smaller in stated),
        *(judge_ten_by_ten(text, rejected[case]) for text, case in repeated),
    )


def judge_ten_by_ten(text: str, rejected: pd.DataFrame) -> Claim:
    """Judge whether all of Bouckaert's tests reject more often than the t test over 10 folds."""
    names = (*BOUCKAERT, ALL_FOLDS_T)
    gaps = {name: estimate_mean(rejected[name].astype(float) - rejected[FOLD_T].astype(float)) for name in names}
    rates = "; ".join(f"{name} {rejected[name].mean():.3f}, difference {gaps[name].format('{:+.3f}')}" for name in names)
    return build_claim(
        text,
        lambda variant: judge_direction([gaps[name] for name in ([variant] if variant else BOUCKAERT)]),
        f"{FOLD_T} {rejected[FOLD_T].mean():.3f}; {rates}",
        variants=[ALL_FOLDS_T],
    )


def judge_more_rejections(text: str, rejected: pd.DataFrame, larger: str, smaller: str) -> Claim:
    """Judge whether the first test rejects more often, by the paired difference."""
    gap = estimate_mean(rejected[larger].astype(float) - rejected[smaller].astype(float))
    rates = f"{rejected[larger].mean():.3f} ({larger}) minus {rejected[smaller].mean():.3f} ({smaller})"
    return Claim(text, judge_direction([gap]), f"{rates}: {gap.format('{:+.3f}')}")
