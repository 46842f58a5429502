"""Methodology checks: numbered questions to results that a reviewer would ask."""

from fairtrial.report.checks import data, failures, learners, measures, resampling, robustness, tests  # noqa: F401  they register
from fairtrial.report.checks.check import (
    Check as Check,
    Examined as Examined,
    Finding as Finding,
    check as check,
    examine as examine,
    not_applicable as not_applicable,
    passed as passed,
    raised as raised,
    registry as registry,
)
