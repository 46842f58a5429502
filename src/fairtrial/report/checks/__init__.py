"""Methodology checks, which answer questions that a reviewer would ask. Each module registers its own checks."""

from fairtrial.report.check import (
    Check,
    CheckFinding,
    CheckResult,
    check,
    registry as registry,
    report_not_applicable,
    report_passed,
    report_raised,
    run_checks,
)

__all__ = [
    "Check",
    "CheckFinding",
    "CheckResult",
    "check",
    "report_not_applicable",
    "report_passed",
    "report_raised",
    "run_checks",
]
