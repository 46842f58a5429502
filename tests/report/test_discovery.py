"""Modules of a package register what they define; nothing else lists them."""

import sys
from importlib import import_module
from importlib.resources import files

import pytest

from fairtrial.errors import UnknownNameError
from fairtrial.report.check import registry as checks
from fairtrial.report.figures.registry import figures
from fairtrial.report.section import builders


def test_a_module_in_the_package_is_enough(tmp_path, monkeypatch):
    package = tmp_path / "shapes"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "registry.py").write_text(
        "from fairtrial._registry import Registry\nshapes = Registry('shape', group='example.shapes', package='shapes')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = import_module("shapes.registry").shapes
    (package / "square.py").write_text("from shapes.registry import shapes\nshapes.add('square', 4)\n")
    try:
        assert registry["square"] == 4
        assert list(registry) == ["square"]
        with pytest.raises(UnknownNameError, match="no shape is called 'sqare': did you mean 'square'"):
            registry["sqare"]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("registry", "folder", "decorator"),
    [(builders, "sections", "@section("), (figures, "figures", "@register_figure("), (checks, "checks", "@check(")],
)
def test_every_module_with_a_decorator_is_found(registry, folder, decorator):
    texts = {
        path.name[:-3]: path.read_text(encoding="utf-8")
        for path in files("fairtrial.report").joinpath(folder).iterdir()
        if path.name.endswith(".py")
    }
    expected = {f"fairtrial.report.{folder}.{name}" for name, text in texts.items() if f"\n{decorator}" in text}
    assert {item.__module__ for item in registry.values()} >= expected
    assert expected
