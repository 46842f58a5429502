"""The command line: parse, call, print. Each module registers a group of commands."""

from fairtrial.cli import data, judge, reproduce, study  # noqa: F401
from fairtrial.cli.application import app as app
