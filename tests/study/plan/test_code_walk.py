"""Code is told by what it does: another key for whatever would give other predictions, the same for the same in any process."""

import os
import subprocess
import sys
import textwrap
from functools import cached_property, lru_cache

import pytest
from hypothesis import given, strategies as st

from fairtrial.study.identity import Encoder, to_canonical


def told(value):
    return to_canonical(Encoder().encode(value))


def module_of(text, name="mine"):
    """The names of a module with this text, which is in no file."""
    known = {"__name__": f"not_installed_{name}"}
    exec(textwrap.dedent(text), known)
    return known


def of(text, what="use"):
    return told(module_of(text)[what])


CHANGES = {
    "a constant": ("K = 1\ndef use(x): return x * K", "1", "2"),
    "a constant in a list": ("K = [0, [1, 2]]\ndef use(x): return x * K[0]", "2", "3"),
    "an array": ("import numpy as np\nK = np.array([1.0])\ndef use(x): return K", "1.0", "2.0"),
    "a helper": ("def help(x): return x\ndef use(x): return help(x)", "return x\n", "return -x\n"),
    "a helper of a helper": ("K = 1\ndef more(x): return K\ndef help(x): return more(x)\ndef use(x): return help(x)", "1", "2"),
    "a helper in a table": ("def help(x): return 1\nTABLE = {'a': help}\ndef use(x): return TABLE[x](x)", "1", "2"),
    "a class": ("class Help:\n    def run(self): return 1\ndef use(x): return Help().run()", "1", "2"),
    "a class attribute": ("class use:\n    k = 1\n    def run(self): return self.k", "1", "2"),
    "a property": ("class use:\n    @property\n    def k(self): return 1", "1", "2"),
    "a static method": ("class use:\n    @staticmethod\n    def k(): return 1", "1", "2"),
    "a class method": ("class use:\n    @classmethod\n    def k(cls): return 1", "1", "2"),
    "a remembered property": (
        "from functools import cached_property\nclass use:\n    @cached_property\n    def k(self): return 1",
        "1",
        "2",
    ),
    "a base": ("class Base:\n    k = 1\nclass use(Base): pass", "1", "2"),
    "an inner function": ("K = 1\ndef use(x):\n    def inner(): return K\n    return inner", "1", "2"),
    "a default": ("def use(x, k=1): return k", "1", "2"),
    "what is caught": ("def use(x):\n    try: return f()\n    except ValueError: return 1", "ValueError", "KeyError"),
    "a member of a set": ("def use(x): return x in {'a', 'b'}", "'a'", "'c'"),
    "a pattern": ("import re\nP = re.compile('a')\ndef use(x): return P.match(x)", "'a'", "'b'"),
    "an enumeration": ("import enum\nclass E(enum.Enum):\n    A = 1\ndef use(x): return E.A.value", "1", "2"),
    "what is remembered": ("from functools import lru_cache\n@lru_cache\ndef use(x): return 1", "1", "2"),
    "a decorator": (
        "from functools import update_wrapper\nclass D:\n    def __init__(self, f): update_wrapper(self, f)\n"
        "    def __call__(self, x): return 1\n@D\ndef use(x: list[int]): return x",
        "1",
        "2",
    ),
    "an object of a local class": ("class C:\n    def __init__(self): self.k = 1\nC = C()\ndef use(x): return C.k", "1", "2"),
    "the class of what cannot be told": (
        "class C:\n    def __init__(self): self.me = self\n    def k(self): return 1\nC = C()\ndef use(x): return C.k()",
        "1",
        "2",
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_whatever_the_code_uses_is_seen(change):
    text, before, after = change
    assert of(text) != of(text.replace(before, after))
    assert of(text) == of(text)


@pytest.mark.parametrize(
    "after", ["# a comment\nK = 1\n\ndef use(x):\n    return x * K  # so", "K = 1\nL = 2\ndef use(x): return x * K"]
)
def test_comments_lines_and_what_is_not_used_do_not_count(after):
    assert of("K = 1\ndef use(x): return x * K") == of(after)


def test_what_cannot_be_told_counts_by_its_class():
    lock = "import threading, logging\nL = threading.{}()\nG = logging.getLogger('a')\ndef use(x): return L, G"
    assert of(lock.format("Lock")) == of(lock.format("Lock")) != of(lock.format("Event"))


def test_circles_do_no_harm():
    text = "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
    text += "def use(x): return even(x) or use(x)"
    assert of(text) == of(text) != of(text.replace("n != 0", "n > 0"))


def test_two_functions_of_one_line_are_two():
    one, other = [lambda x: x, lambda x: x**2]
    assert told(one) != told(other)
    assert told([one, other, one]) != told([one, other, other])


def test_what_is_set_later_counts():
    known = module_of("class use:\n    k = 1\n    def run(self): return self.k")
    kind = known["use"]
    before = told(kind())
    kind.k = 2
    between = told(kind())
    kind.run = repr
    assert len({before, between, told(kind())}) == 3


def test_use_leaves_no_trace():
    class Busy:
        def __init__(self, n):
            self.n = n

        @lru_cache  # noqa: B019
        def total(self):
            return sum(i * self.n for i in range(50))

        @cached_property
        def once(self):
            return self.n

    import copy
    import pickle

    before = told(Busy(1))
    for each in [Busy(1) for _ in range(100)]:
        assert each.total() == 1225 * each.once
        copy.copy(each).__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    assert told(Busy(1)) == before


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


IMPORTS = (
    "import walk_helper\ndef use(x): return walk_helper.help(x)",
    "from walk_helper import help\ndef use(x): return help(x)",
    "def use(x):\n    import walk_helper\n    return walk_helper.help(x)",
    "def use(x):\n    from walk_helper import help\n    return help(x)",
)


@pytest.mark.parametrize("text", IMPORTS)
def test_a_helper_of_another_local_module_is_followed(folder, text):
    found = []
    for k in (1, 1, 2):
        (folder / "walk_helper.py").write_text(f"K = {k}\ndef help(x): return K\n")
        sys.modules.pop("walk_helper", None)
        sys.path_importer_cache.clear()
        sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
        found.append(of(text))
        sys.dont_write_bytecode = kept
    assert found[0] == found[1] != found[2]


def test_a_file_that_is_edited_after_it_was_loaded_changes_nothing(folder):
    import importlib

    (folder / "walk_edited.py").write_text("class Learner:\n    def predict(self): return 1\n")
    loaded = importlib.import_module("walk_edited").Learner()
    before = told(loaded)
    (folder / "walk_edited.py").write_text("class Learner:\n    def predict(self): return 2\n")
    assert told(loaded) == before


def test_installed_modules_count_by_their_version_and_are_not_imported():
    teller = Encoder()
    known = module_of(
        "import pandas as pd\ndef use(x):\n    import sklearn.isotonic\n    import not_there_at_all\n    return pd.NA"
    )
    teller.encode(known["use"])
    assert {"pandas", "scikit-learn"} <= teller.packages
    assert teller.holds_code


_ELSEWHERE = """
import enum, functools
from dataclasses import dataclass
import numpy as np
from sklearn.base import BaseEstimator
from fairtrial.study.identity import Encoder, to_canonical
NAMES = {"alpha", "beta", "gamma", "delta"}
class Kind(enum.Enum):
    A = 1
@dataclass(frozen=True)
class Point:
    x: int = 1
def help(x): return x in {"one", "two", "three", "four"} and NAMES
class Learner(BaseEstimator):
    "Some words."
    point = Point()
    def __init__(self, kind=Kind.A): self.kind = kind
    def fit(self, X, y): return [help(each) for each in np.asarray(X)]
    @functools.lru_cache
    def slow(self): return lambda: self.fit(1, 2)
print(to_canonical(Encoder().encode(Learner())))
"""


def test_the_same_code_is_told_alike_in_every_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", _ELSEWHERE], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "4711")
    ]
    assert runs[0] == runs[1] != b""
    assert b" at 0x" not in runs[0]


@given(st.lists(st.one_of(st.integers(), st.text(max_size=3), st.floats(allow_nan=False)), min_size=1, max_size=3))
def test_constants_are_told_apart_as_python_tells_them(values):
    one, other = (of(f"def use(): return {each!r}") for each in (values, values[::-1]))
    assert (one == other) is (repr(values) == repr(values[::-1]))
