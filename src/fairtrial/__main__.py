"""Entry point of `python -m fairtrial`, which runs the command line."""

from fairtrial.cli import app

app(prog_name="fairtrial")
