"""Assertions for the test suites of projects that release models."""

from __future__ import annotations

from typing import Any

from fairtrial.predictions.gate import GateResult, gate


def assert_non_inferior(source: Any, **options: Any) -> GateResult:
    """Assert that a new model is not worse than an old one by more than a margin.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        Predictions of both models, in any form that `fairtrial.gate` accepts.
    **options
        Options of `fairtrial.gate`: candidate, baseline, margin, measure, equivalent, cluster and others.

    Returns
    -------
    GateResult
        The result, if the candidate passes.

    Raises
    ------
    AssertionError
        If the candidate does not pass. The message states the decision, the difference and its interval.

    Examples
    --------
    >>> y_true = [0, 1] * 300
    >>> table = {"y_true": y_true, "old": y_true, "new": [1, 0] * 30 + y_true[60:]}
    >>> assert_non_inferior(table, candidate="new", baseline="old", measure="accuracy", margin=0.02)
    Traceback (most recent call last):
    AssertionError: new is inferior to old (margin 0.02): accuracy -0.1, 95 % CI -0.13 to -0.078
    The loss is significant (McNemar test, 600 rows, p < 0.001)
    """
    result = gate(source, **options)
    if not result.passed:
        raise AssertionError("\n".join(text for texts in result.list_texts() for text in texts))
    return result
