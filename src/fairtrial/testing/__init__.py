"""Contracts as tests: run them on engines of your own."""

from fairtrial.testing.engines import check_engine as check_engine
