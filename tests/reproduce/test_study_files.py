"""Study files: each declares something, and is read anew."""

import tomllib
from importlib import resources

import pytest

from fairtrial.reproduce.study_files import study_file

PLACES = [
    (folder.name, file.name.removesuffix(".toml"))
    for folder in resources.files("fairtrial.reproduce").iterdir()
    if folder.is_dir()
    for file in folder.iterdir()
    if file.name.endswith(".toml")
]


def test_all_files_are_found():
    assert {("ela", "study"), ("dobscv", "study"), ("drift", "drift"), ("estimates", "estimates")} <= set(PLACES)


@pytest.mark.parametrize(("experiment", "name"), PLACES)
def test_a_file_is_what_stands_in_it(experiment, name):
    path = resources.files("fairtrial.reproduce") / experiment / f"{name}.toml"
    found = study_file(experiment, name)
    assert found == tomllib.loads(path.read_bytes().decode("utf-8"))
    found.clear()
    assert study_file(experiment, name)
