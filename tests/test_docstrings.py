"""Every public function and class has a docstring in numpydoc form: a summary, parameters, returns and an example.

Run `python tests/test_docstrings.py measures` to list what the docstrings of one package lack.
"""

import inspect
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest
from numpydoc.docscrape import NumpyDocString

import fairtrial

MAX_SUMMARY = 90
SECTIONS_OF_PARAMETERS = ("Parameters", "Other Parameters", "Attributes")


def list_packages():
    """List fairtrial and all its packages; those without `__all__` are internal and have no public objects."""
    return ["fairtrial", *(module.name for module in walk_packages(fairtrial.__path__, "fairtrial.") if module.ispkg)]


def list_public_objects():
    """Yield the qualified name and the object of each function, class and measure in `__all__`, once."""
    listed = set()
    for package in list_packages():
        module = import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            is_own = callable(value) and (value.__module__ or "").startswith("fairtrial")
            if is_own and id(value) not in listed:
                listed.add(id(value))
                yield f"{package}.{name}", value


def list_public_methods(name, value):
    """Yield the qualified name and the function of each public method that a class defines itself."""
    if not inspect.isclass(value) or issubclass(value, BaseException):
        return
    for method, member in vars(value).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if not method.startswith("_") and inspect.isfunction(function):
            yield f"{name}.{method}", function


def list_problems(value, *, is_method=False):
    """List what the docstring of a function, class or method lacks."""
    text = inspect.getdoc(value) or ""
    if not text:
        return ["has no docstring"]
    problems = []
    summary = text.partition("\n\n")[0]
    if "\n" in summary or len(summary) > MAX_SUMMARY:
        problems.append(f"first line must be one sentence of at most {MAX_SUMMARY} characters")
    sections = NumpyDocString(text)
    missing = list_undocumented_parameters(value, sections)
    if missing and not (is_method and len(list_parameters(value)) <= 1):
        problems.append(f"does not document {', '.join(missing)}")
    if is_method:
        return problems
    if returns_value(value) and not sections["Returns"] and not sections["Yields"]:
        problems.append("has no Returns section")
    if ">>>" not in text:
        problems.append("has no example")
    return problems


def list_undocumented_parameters(value, sections):
    """List the parameters that no section of the docstring describes."""
    entries = [entry.name.replace("`", "") for section in SECTIONS_OF_PARAMETERS for entry in sections[section]]
    documented = {name.lstrip("*") for entry in entries for name in entry.split(", ")}
    return [name for name in list_parameters(value) if name not in documented]


def list_parameters(value):
    """List the public parameters of a function, or of the constructor of a class."""
    signature = find_signature(value)
    return [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]


def returns_value(value):
    """Whether a function is annotated to return something; a class is not a function."""
    return not inspect.isclass(value) and find_signature(value).return_annotation not in (
        None,
        "None",
        inspect.Signature.empty,
    )


def find_signature(value):
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):  # for example a class that is written in C
        return inspect.Signature()


def list_all_problems(name, value):
    """List the problems of a public object and of its methods, by qualified name."""
    problems = {name: list_problems(value)}
    problems |= {method: list_problems(function, is_method=True) for method, function in list_public_methods(name, value)}
    return {qualified_name: lacking for qualified_name, lacking in problems.items() if lacking}


@pytest.mark.parametrize(("name", "value"), [pytest.param(name, value, id=name) for name, value in list_public_objects()])
def test_public_docstring_is_complete(name, value):
    assert list_all_problems(name, value) == {}


if __name__ == "__main__":
    prefix = f"fairtrial.{sys.argv[1]}" if len(sys.argv) > 1 else "fairtrial"
    for public_name, public_object in list_public_objects():
        if public_name.startswith(prefix):
            for qualified_name, lacking in list_all_problems(public_name, public_object).items():
                print(f"{qualified_name}: {'; '.join(lacking)}")
