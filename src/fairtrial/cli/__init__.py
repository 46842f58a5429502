"""The command line: parse, call, print; no logic."""

from fairtrial.cli import auditing, comparing, data, judging, listings, reporting, reproducing, stores, studies  # noqa: F401  each adds its commands
from fairtrial.cli.application import app as app
