"""Other copies of some sets."""

import warnings

import pytest

from fairtrial.data import read
from fairtrial.errors import SuspectInputWarning
from fairtrial.reproduce.ela.copies import compared_copies, other_copies
from fairtrial.reproduce.ela.sets import Sets


def test_copies_are_found_and_dermatology_becomes_nominal(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    names = ("heart", "hayes-roth", "dermatology")
    with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
        data = {name: read(shared_data / "keel-standard" / f"{name}.dat") for name in names}
    copies = other_copies(Sets(data, {}, {}))
    assert set(copies) == set(names)
    assert copies["hayes-roth"][1].summary().rows == 132
    nominal = copies["dermatology"][1].summary()
    assert (nominal.numeric, nominal.nominal, nominal.rows) == (1, 33, 358)
    assert copies["dermatology"][1].X["Age"].dtype == "float64"


def test_a_copy_stands_beside_the_file_and_the_paper(shared_data, monkeypatch, request_here, printed):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    data = {"hayes-roth": read(shared_data / "keel-standard" / "hayes-roth.dat")}
    found = compared_copies(request_here, Sets(data, {}, {}), printed, 1).frame
    assert found["learner"].tolist() == ["c45", "puk-svc-logistic"]
    assert found["paper"].tolist() == [81.67, 77.87]
    assert found["KEEL's file"].tolist() == found["paper"].tolist()
    assert (found["nearer"] == "KEEL's file").all()
    assert found["the copy"].between(50, 95).all()


def test_without_copies_there_is_no_table(request_here, printed):
    assert compared_copies(request_here, Sets({}, {}, {}), printed, 1) is None


@pytest.mark.parametrize("name", ["iris", "car"])
def test_sets_without_another_copy_have_none(name):
    assert name not in other_copies(Sets({name: None}, {}, {}))
