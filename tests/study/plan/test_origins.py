import importlib
import importlib.metadata
import subprocess
import sys

import pytest

from fairtrial.study.identity import find_origin, get_versions


@pytest.mark.parametrize(
    ("module", "packages"),
    [
        ("sklearn.svm._classes", ("scikit-learn",)),
        ("imblearn.base", ("imbalanced-learn",)),
        ("hypothesis.core", ("hypothesis",)),
    ],
)
def test_modules_belong_to_the_packages_that_installed_them(module, packages):
    importlib.import_module(module)
    found = find_origin(module)
    assert (found.packages, found.local) == (packages, False)


def test_a_module_is_not_that_of_a_package_with_a_folder_of_the_same_name():
    # some packages install a folder called tests
    found = find_origin(__name__)
    assert (found.packages, found.local) == ((), True)


def _edited(tmp_path, editable):
    """A package whose code lies in `tmp_path/code`, installed there by a note in `tmp_path/site`."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "edited_package.py").write_text("class Learner:\n    pass\n")
    notes = tmp_path / "site" / "edited_package-1.5.dist-info"
    notes.mkdir(parents=True)
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: edited-package\nVersion: 1.5\n")
    (notes / "RECORD").write_text("")
    if editable:
        (notes / "direct_url.json").write_text(f'{{"url": "{(tmp_path / "code").as_uri()}", "dir_info": {{"editable": true}}}}')
    script = "import edited_package; from fairtrial.study.identity import *; found = find_origin('edited_package')\n"
    script += "print(found.packages, found.local, get_versions(found.packages))"
    path = f"import sys; sys.path[:0] = [{str(tmp_path / 'code')!r}, {str(tmp_path / 'site')!r}]\n"
    return subprocess.run([sys.executable, "-c", path + script], capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_being_edited_is_local_and_has_a_version(tmp_path):
    assert _edited(tmp_path, editable=True) == "('edited_package',) True {'edited_package': '1.5'}"


def test_a_file_that_only_has_the_name_of_a_package_is_not_that_package(tmp_path):
    assert _edited(tmp_path, editable=False) == "() True {}"


def test_versions_are_those_installed():
    assert get_versions(["pandas"]) == {"pandas": importlib.metadata.version("pandas")}
    assert get_versions(["pandas"], python=True)["python"] == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.parametrize(("package", "beside"), [("scikit-learn", ("numpy", "scipy")), ("fairtrial", ("numpy", "numba"))])
def test_what_does_the_arithmetic_counts_too(package, beside):
    assert get_versions([package]) == {name: importlib.metadata.version(name) for name in (package, *beside)}


def test_a_module_that_nobody_has_imported_is_not_imported_to_be_found(tmp_path, monkeypatch):
    (tmp_path / "never_imported_here.py").write_text("raise SystemError")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_origin("never_imported_here").local
    assert not find_origin("_pytest_no_such_module_").packages
    assert "never_imported_here" not in sys.modules
