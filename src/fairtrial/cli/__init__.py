"""The command line: parse, call, print; no logic."""

from fairtrial.cli import data, judge, reproduce, study  # noqa: F401  each adds its commands
from fairtrial.cli.application import app as app
