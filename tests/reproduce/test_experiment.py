"""Experiments: registry, requests, runs, and comparison with published tables."""

import time
import tomllib
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

from fairtrial._registry import Registry
from fairtrial.errors import InputError
from fairtrial.reproduce import Experiment, Reproduction, ResultTable, experiment as module, load_experiments, reproduce
from fairtrial.reproduce.experiment import (
    Request,
    compare_with_published,
    load_datasets,
    log_duration,
    read_durations,
    read_published,
    read_study_file,
)
from fairtrial.reproduce.papers import Paper

PAPER = Paper("Somebody", "A paper", "A journal", 2001)
NAMES = ["dobscv", "drift", "ela", "estimates", "ranking-real", "ranking-synthetic", "tutorial"]
STUDY_FILES = [
    (folder.name, file.name.removesuffix(".toml"))
    for folder in resources.files("fairtrial.reproduce").iterdir()
    if folder.is_dir()
    for file in folder.iterdir()
    if file.name.endswith(".toml")
]
PUBLISHED_TABLES = sorted(
    Path(file.name).stem
    for file in (resources.files("fairtrial.reproduce") / "published").iterdir()
    if file.name.endswith(".csv")
)
COPIED_HERE = {"drift_flu_tables", "drift_flu_averages"}  # compared with each other by the tests of drift
OURS = pd.DataFrame({"set": ["a", "a", "b"], "learner": ["x", "y", "x"], "value": [0.5, 0.6, 0.7], "low": 0.4, "high": 0.9})
PUBLISHED = pd.DataFrame({"set": ["a", "a", "c"], "learner": ["y", "x", "x"], "value": [0.65, 0.5, 0.1]})


@pytest.fixture
def requests(monkeypatch, tmp_path_factory):
    """The requests that an experiment called `recording` received."""
    seen = []
    template = tmp_path_factory.mktemp("template") / "page.md.j2"
    template.write_text('{% extends "page.md.j2" %}{% block text %}Half of it is {{ half }}.{% endblock %}')

    def run(request):
        seen.append(request)
        return Reproduction({"half": 0.75}, (ResultTable("one", "One", pd.DataFrame({"a": [1.5]})),))

    load_experiments()  # registers the published experiments in their own registry
    registry = Registry("experiment", group="fairtrial.no-experiments")
    registry.add("recording", Experiment("recording", "A title", PAPER, run, template))
    monkeypatch.setattr(module, "experiments", registry)
    return seen


def test_all_experiments_are_registered_with_a_template():
    registered = load_experiments()
    assert sorted(registered) == NAMES
    for experiment in registered.values():
        assert 'extends "page.md.j2"' in experiment.template.read_text(encoding="utf-8")


@pytest.mark.parametrize(("scale", "repeats"), [("smoke", 1), ("quick", 5), ("full", 100)])
def test_a_request_picks_the_value_of_its_scale(scale, repeats):
    assert Request(scale, Path()).pick(smoke=1, quick=5, full=100) == repeats


def test_a_reproduction_returns_a_frame_by_name():
    frame = pd.DataFrame({"a": [1]})
    assert Reproduction({}, (ResultTable("other", "O", frame * 2), ResultTable("mine", "M", frame))).frame("mine") is frame


def test_settings_reach_the_experiment(requests, tmp_path):
    reproduce("recording", scale="full", out=tmp_path / "a" / "b", jobs=3, seed=7)
    assert requests == [Request("full", tmp_path / "a" / "b", 3, None, (), 7)]
    assert "Half of it is 0.75." in (tmp_path / "a" / "b" / "index.md").read_text()


@pytest.mark.usefixtures("requests")
def test_files_go_to_a_folder_with_the_name_of_the_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reproduce("recording")
    assert (tmp_path / "reproduced" / "recording" / "one.csv").read_text() == "a\n1.5\n"


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("rankingreal", {}, "'ranking-real'"),
        ("ela", {"scale": "huge"}, "scale"),
        ("ela", {"jobs": 0}, "jobs"),
        ("ela", {"seed": 1.5}, "seed"),
        ("ranking-real", {"measures": ["no.such_measure"]}, "'no.such_measure'"),
        ("ela", {"measures": ["a.b"]}, "ela"),
    ],
)
def test_wrong_settings_raise_an_error_before_anything_is_written(name, options, named, tmp_path):
    with pytest.raises(InputError, match=named):
        reproduce(name, out=tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("requests")
def test_the_page_of_something_else_is_not_overwritten(tmp_path):
    reproduce("recording", out=tmp_path)
    reproduce("recording", out=tmp_path)  # its own page is written again
    (tmp_path / "index.md").write_text("# My notes\n")
    with pytest.raises(InputError, match="recording"):
        reproduce("recording", out=tmp_path)
    assert (tmp_path / "index.md").read_text() == "# My notes\n"


def test_every_run_of_a_command_is_logged_even_if_interrupted(tmp_path):
    with log_duration(tmp_path, "one --seed 1"):
        time.sleep(0.2)
    with pytest.raises(KeyboardInterrupt), log_duration(tmp_path, "one --seed 1"):
        raise KeyboardInterrupt
    with log_duration(tmp_path, "other"):
        pass
    first, second = read_durations(tmp_path, "one --seed 1")
    assert first >= 0.2
    assert second < 0.2
    assert len(read_durations(tmp_path, "other")) == 1


def test_the_first_data_set_that_exists_is_loaded():
    datasets, missing = load_datasets({"Wdbc": ["no-such-set", "breast_cancer"], "Wine": "wine"})
    assert {name: len(data) for name, data in datasets.items()} == {"Wdbc": 569, "Wine": 178}
    assert missing == {}


def test_a_missing_data_set_is_named_with_the_reason():
    datasets, missing = load_datasets({"Lost": ["no-such-set", "nor-this-one"]})
    assert datasets == {}
    assert "no-such-set" in missing["Lost"]


def test_data_sets_are_searched_in_the_users_folders(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    datasets, _ = load_datasets({"balance": "keel-standard/balance"})
    assert len(datasets["balance"]) == 625


@pytest.mark.parametrize(("folder", "name"), STUDY_FILES)
def test_a_study_file_is_read_again_each_time(folder, name):
    path = resources.files("fairtrial.reproduce") / folder / f"{name}.toml"
    sections = read_study_file(folder, name)
    assert sections == tomllib.loads(path.read_bytes().decode("utf-8"))
    sections.clear()
    assert read_study_file(folder, name)


def test_rows_are_joined_by_their_keys():
    table = compare_with_published(OURS, PUBLISHED, ["set", "learner"]).set_index(["set", "learner"])
    assert table.loc[("a", "y"), "difference"] == pytest.approx(-0.05)
    assert table.loc[("a", "y"), ["low", "high"]].tolist() == pytest.approx([-0.25, 0.25])
    assert table.loc[("a", "x"), "difference"] == 0


def test_rows_of_one_table_only_have_missing_values():
    table = compare_with_published(OURS, PUBLISHED, ["set", "learner"]).set_index("set")
    assert table.loc["b"].drop(["learner", "ours"]).isna().all()
    assert table.loc["c", "published"] == 0.1
    assert pd.isna(table.loc["c", "ours"])


def test_comparison_without_intervals():
    table = compare_with_published(OURS.drop(columns=["low", "high"]), PUBLISHED, ["set", "learner"], interval=False)
    assert list(table) == ["set", "learner", "ours", "published", "difference"]


def test_rows_keep_our_order_and_published_ones_come_last():
    table = compare_with_published(OURS.iloc[::-1], PUBLISHED, ["set", "learner"])
    assert table[["set", "learner"]].agg("".join, axis=1).tolist() == ["bx", "ay", "ax", "cx"]


def test_published_tables_agree_with_other_numbers_of_the_papers():
    means = read_published("ela_table3").drop(columns="dataset").mean()
    assert means.round(2).tolist()[:4] == [81.28, 82.24, 80.37, 78.50]  # the averages that the paper prints
    assert means.round(4).tolist()[4:] == [0.2777, 0.3117, 0.0115, 0.0457]
    wilcoxon = read_published("dobscv_table5_wilcoxon")
    assert (wilcoxon["r_plus"] + wilcoxon["r_minus"]).isin([66 * 67 / 2, 65 * 66 / 2]).all()  # 66 sets, 65 if one is tied
    assert read_published("berrar_table1").groupby("experiment").size().tolist() == [10, 10, 10, 10]
    averages, rows = read_published("drift_flu_averages"), read_published("drift_flu_tables")
    assert averages.groupby("table").size().to_dict() == {"definitions": 4, "missing": 4, "populations": 4}
    assert rows.groupby("table").size().to_dict() == {"definitions": 6 * 4, "missing": 10 * 4}
    assert set(rows["learner"]) == set(averages["learner"])


@pytest.mark.parametrize("name", [name for name in PUBLISHED_TABLES if name not in COPIED_HERE])
def test_published_tables_equal_the_copies_from_the_papers(name):
    path = Path(__file__).resolve().parents[3] / "shared" / "oracles" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"../shared/oracles/{name}.csv is missing")
    pd.testing.assert_frame_equal(read_published(name), pd.read_csv(path))
