"""Methodology checks: numbered questions to results that a reviewer would ask."""

from fairtrial.report.checks import data, failures, learners, measures, resampling, tests  # noqa: F401  they register
from fairtrial.report.checks.check import (
    Check as Check,
    CheckFinding as CheckFinding,
    CheckResult as CheckResult,
    check as check,
    registry as registry,
    report_not_applicable as report_not_applicable,
    report_passed as report_passed,
    report_raised as report_raised,
    run_checks as run_checks,
)
