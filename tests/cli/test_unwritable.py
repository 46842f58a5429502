"""Commands that write into a folder that is read-only, or on a disk that is full."""

import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.study.small_store import without_privileges

PREDICTIONS = pd.DataFrame({"y_true": [0, 1] * 20, "tree": [0.2, 0.7] * 20, "bayes": [0.6, 0.9, 0.1, 0.8] * 10})
SCORES = pd.DataFrame({"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.9, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]})
COMMANDS = [
    ["run", "STUDY", "--store", "FOLDER/new.fairtrial", "--quiet"],
    ["merge", "STORE", "--store", "FOLDER/new.fairtrial"],
    ["export", "STORE", "--csv", "FOLDER/new.csv"],
    ["export", "STORE", "--parquet", "FOLDER/new.parquet"],
    ["report", "STORE", "--out", "FOLDER/new.html"],
    ["judge", "PREDICTIONS", "--resamples", "100", "--report", "FOLDER/new.html"],
    ["judge", "PREDICTIONS", "--resamples", "100", "--tables", "FOLDER", "--measure", "auc"],
    ["compare", "SCORES", "--rows", "datasets", "--out", "FOLDER"],
    ["compare", "SCORES", "--rows", "datasets", "--report", "FOLDER/new.html"],
]


@contextmanager
def full_disk():
    """Let no file of this process grow beyond 40 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def fill(finished, study_file, tmp_path):
    """The words of a command, with the paths of its input."""
    PREDICTIONS.to_csv(tmp_path / "predictions.csv", index=False)
    SCORES.to_csv(tmp_path / "scores.csv", index=False)
    paths = {"STUDY": study_file, "STORE": finished[0]}
    paths |= {"PREDICTIONS": tmp_path / "predictions.csv", "SCORES": tmp_path / "scores.csv"}
    return lambda words, folder: [str(paths.get(word, word)).replace("FOLDER", str(folder)) for word in words]


@pytest.mark.parametrize("words", [words for words in COMMANDS if words[0] != "report"], ids=" ".join)
def test_a_full_disk_is_reported_in_one_sentence_and_leaves_no_file(run, fill, tmp_path, words):
    folder = tmp_path / "full"
    folder.mkdir()
    with full_disk():
        result = run(*fill(words, folder))
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "cannot be" in result.stderr
    assert os.listdir(folder) == []


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_read_only_folder_is_reported_in_one_sentence(run, fill, words):
    command = fill(words, "FOLDER")
    contents = {word: Path(word).read_bytes() for word in command[1:2]}
    with without_privileges() as folder:
        for word, content in contents.items():
            (folder / Path(word).name).write_bytes(content)
            command[1] = str(folder / Path(word).name)
        target = folder / "target"
        target.mkdir(mode=0o555)
        result = run(*(word.replace("FOLDER", str(target)) for word in command))
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
        assert os.listdir(target) == []
