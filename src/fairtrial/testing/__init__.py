"""Contracts as tests: run them on your own engines."""

from fairtrial.testing.engines import check_engine

__all__ = ["check_engine"]
