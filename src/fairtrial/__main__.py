"""`python -m fairtrial` runs the command line."""

from fairtrial.cli import app

app(prog_name="fairtrial")
