"""The folder of downloads."""

import sys
from pathlib import Path

import pytest

from fairtrial.data.openml import cache_folder, write_atomically
from fairtrial.errors import InputError


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/fairtrial"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/fairtrial"),
        ("darwin", {}, "home/Library/Caches/fairtrial"),
        ("linux", {"FAIRTRIAL_CACHE": "mine", "XDG_CACHE_HOME": "xdg"}, "mine"),
    ],
)
def test_the_folder_of_each_platform(monkeypatch, platform, variables, expected):
    for variable in ("FAIRTRIAL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert cache_folder() == Path(expected)


def test_files_are_kept_whole(tmp_path):
    path = write_atomically(tmp_path / "a" / "b.txt", b"one")
    assert write_atomically(path, b"two").read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["b.txt"]
    with pytest.raises(InputError, match="FAIRTRIAL_CACHE"):
        write_atomically(path / "below a file", b"")
