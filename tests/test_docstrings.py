"""Every public function and class has a docstring in numpydoc form: parameters, returns and an example.

Run `python tests/test_docstrings.py measures` to list what one package lacks.
"""

import importlib
import inspect
import pkgutil
import sys
from itertools import chain

import pytest
from numpydoc.docscrape import NumpyDocString

import fairtrial

MAX_SUMMARY = 90


def list_public_objects():
    """Yield (qualified name, object) of functions and classes in `__all__` of the public packages."""
    names = [name for _, name, is_package in pkgutil.iter_modules(fairtrial.__path__, "fairtrial.") if is_package]
    names += [name for _, name, is_package in pkgutil.iter_modules(importlib.import_module("fairtrial.data").__path__, "fairtrial.data.") if is_package]
    seen = set()
    for module_name in ["fairtrial", *names]:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if id(value) not in seen and (callable(value) or inspect.isclass(value)) and (value.__module__ or "").startswith("fairtrial"):
                seen.add(id(value))
                yield f"{module_name}.{name}", value


def list_public_methods(qualified_name, cls):
    """Yield the public methods that a class of fairtrial defines itself."""
    for name, member in vars(cls).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if not name.startswith("_") and inspect.isfunction(function):
            yield f"{qualified_name}.{name}", function


def list_problems(qualified_name, value, *, is_method=False):
    """List what the docstring of a public object lacks."""
    text = inspect.getdoc(value) or ""
    if not text:
        return ["has no docstring"]
    problems = []
    summary = text.partition("\n\n")[0]
    if "\n" in summary or len(summary) > MAX_SUMMARY:
        problems.append(f"first line must be one sentence of at most {MAX_SUMMARY} characters")
    sections = NumpyDocString(text)
    documented = {name.lstrip("*") for part in ("Parameters", "Other Parameters", "Attributes") for entry in sections[part] for name in entry.name.replace("`", "").split(", ")}
    parameters = list_parameters(value)
    missing = [name for name in parameters if name not in documented]
    if missing and not (is_method and len(parameters) <= 1):
        problems.append(f"does not document {', '.join(missing)}")
    if is_method:
        return problems
    if not inspect.isclass(value) and not (sections["Returns"] or sections["Yields"]) and returns_something(value):
        problems.append("has no Returns section")
    if ">>>" not in text:
        problems.append("has no example")
    return problems


def list_parameters(value):
    """List the parameters of a function, or of the constructor of a class."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    skipped = {"self", "cls"}
    return [name for name, parameter in signature.parameters.items() if name not in skipped and not name.startswith("_")]


def returns_something(value):
    try:
        annotation = inspect.signature(value).return_annotation
    except (TypeError, ValueError):
        return False
    return annotation not in (None, "None", inspect.Signature.empty)


def list_all_problems(prefix=""):
    objects = [(name, value) for name, value in list_public_objects() if name.startswith(prefix)]
    found = {name: list_problems(name, value) for name, value in objects}
    for name, value in objects:
        if inspect.isclass(value) and not issubclass(value, (BaseException,)):
            found |= {method: list_problems(method, function, is_method=True) for method, function in list_public_methods(name, value)}
    return {name: problems for name, problems in found.items() if problems}


@pytest.mark.parametrize(("name", "value"), [pytest.param(name, value, id=name) for name, value in list_public_objects()])
def test_public_docstring_is_complete(name, value):
    methods = list_public_methods(name, value) if inspect.isclass(value) and not issubclass(value, BaseException) else ()
    problems = {name: list_problems(name, value)} | {method: list_problems(method, function, is_method=True) for method, function in methods}
    assert not list(chain.from_iterable(problems.values())), {name: found for name, found in problems.items() if found}


if __name__ == "__main__":
    prefix = "fairtrial." + sys.argv[1] if len(sys.argv) > 1 else ""
    for name, problems in list_all_problems(prefix).items():
        print(f"{name}: {'; '.join(problems)}")
