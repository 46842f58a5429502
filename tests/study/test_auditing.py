"""Audits of files."""

import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.resampling.splitters import StratifiedKFold
from fairtrial.study.audit import audit_file


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.4f},{b:.4f},{'uv'[i % 2]}" for i, (a, b) in enumerate(rng.normal(size=(80, 2)))]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,kind", *lines]))
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(("scheme", "name"), [("stratified", "StratifiedKFold"), ("kfold", "KFold"), ("dob-scv", "DOBSCV")])
def test_schemes_are_drawn(file, scheme, name):
    found = audit_file(file, scheme=scheme, n_splits=4, seed=1, n_permutations=19)
    assert found.scheme.startswith(f"{name}(n_splits=4")
    assert found.n_rows == 80


def test_assign_goes_to_dob_scv(file):
    assert "literal" in audit_file(file, scheme="dob-scv", assign="literal", n_permutations=19).scheme


def test_splits_are_read(file):
    y = np.arange(80) % 2
    StratifiedKFold(5, random_state=0).freeze(y, y).frame().to_csv(file.with_name("splits.csv"), index=False)
    found = audit_file(file, splits=file.with_name("splits.csv"), n_permutations=19)
    assert found.ok
    assert len(found.table()) == 5


def test_names_of_the_catalogue_are_loaded():
    assert audit_file("iris", scheme="stratified", n_permutations=19).n_rows == 150


def test_keels_folds_are_read(shared_data):
    found = audit_file(shared_data / "keel-imbalanced-5fold" / "iris0-5-fold.zip", n_permutations=19)
    assert found.ok
    assert found.n_rows == 150


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_keels_leak_is_found(shared_data):
    found = audit_file(shared_data / "keel-imbalanced-5fold" / "abalone9-18-5-fold.zip", n_permutations=19)
    assert "fold 1 (117 of 147 test rows)." in found.faults[0].text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "kfold", "splits": "x.csv"}, "splits and scheme"),
        ({"scheme": "kfold", "assign": "literal"}, "assign must"),
        ({"scheme": "stratfied"}, "'stratified'"),
    ],
)
def test_bad_options_are_refused(file, options, message):
    with pytest.raises(InputError, match=message):
        audit_file(file, **options)
