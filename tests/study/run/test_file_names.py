import sys

from fairtrial.study.run.meter import strip_import_paths


def test_the_longest_folder_goes_first(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", "/", "/home/me", "/home/me/lib/", "/home/me/library"])
    text = (
        'File "/home/me/lib/pack/a.py", line 1\n  File "/home/me/b.py", line 2\n  '
        'File "/home/me/library/c.py"\n  File "/etc/d.py"'
    )
    assert strip_import_paths(text) == ('File "pack/a.py", line 1\n  File "b.py", line 2\n  File "c.py"\n  File "/etc/d.py"')
