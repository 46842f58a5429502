"""`python -m fairtrial`."""

import subprocess
import sys

from fairtrial import __version__


def test_the_package_is_the_command():
    told = subprocess.run([sys.executable, "-m", "fairtrial", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"fairtrial {__version__}\n"
