"""A way to call a command."""

import pytest
from typer.testing import CliRunner

from fairtrial.cli import app


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, list(words))
