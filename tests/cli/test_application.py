"""The command line: application."""

from fairtrial import __version__


def test_version(run):
    assert run("--version").output == f"fairtrial {__version__}\n"
