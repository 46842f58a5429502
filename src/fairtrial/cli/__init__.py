"""The command-line interface of fairtrial. Each module of this package registers a group of commands."""

from importlib import import_module
from pkgutil import iter_modules

from fairtrial.cli.application import app

__all__ = ["app"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
