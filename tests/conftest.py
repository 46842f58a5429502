"""Shared by all tests: temporary files in memory, kernels that are compiled once, and published tables."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

# Tests run in parallel, so threads of OpenMP and BLAS would compete for the cores. This must precede the import of NumPy.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import pytest
from hypothesis import settings

import fairtrial

pytest.register_assert_rewrite("tests.snapshots")  # shows what differs

ORACLES = Path(__file__).with_name("oracles")
PUBLISHED = Path(fairtrial.__file__).parent / "reproduce" / "published"
MEMORY, MIN_FREE_BYTES = Path("/dev/shm"), 4 << 30

# No test has a time limit, because kernels may have to be compiled first. Examples are the same in every run, so that an
# unchanged commit does not fail; `pytest --hypothesis-profile random` draws new ones.
settings.register_profile("fairtrial", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("random", deadline=None)
settings.load_profile("fairtrial")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the folder of temporary files, and compile kernels before the workers start: numba caches them."""
    use_memory_for_temporary_files()
    if not hasattr(config, "workerinput"):
        from fairtrial.learners import C45
        from fairtrial.measures import evaluate

        evaluate([0, 1, 0, 1, 1], y_score=[0.1, 0.6, 0.4, 0.8, 0.3], resamples=2, stratified=True)
        C45().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[1.5]])


def pytest_unconfigure() -> None:
    """Remove the temporary files of this run. Set TMPDIR to keep them."""
    shutil.rmtree(get_memory_folder(os.getpid()), ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup() -> None:
    forget_name_of_test()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call() -> None:
    forget_name_of_test()


def forget_name_of_test() -> None:
    """Remove pytest's variable: studies start a new fork server, which takes a second, whenever the environment changes."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)


def use_memory_for_temporary_files() -> None:
    """Put temporary files into memory, also those of subprocesses, unless TMPDIR is set or memory is scarce.

    A results file is flushed to disk after every trial. On a busy disk the tests of stores wait for that most of the time.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < MIN_FREE_BYTES:
        return
    for folder in MEMORY.glob(get_memory_folder("*").name):  # of runs that were killed
        if not Path("/proc", folder.name.rpartition("-")[2]).exists():
            shutil.rmtree(folder, ignore_errors=True)
    folder = get_memory_folder(os.getpid())
    folder.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # find it again


def get_memory_folder(process: int | str) -> Path:
    return MEMORY / f"fairtrial-tests-{process}"


@pytest.fixture(scope="session")
def find_published() -> Callable[[str], Path]:
    """Return a function that finds the file of a published table, in the package or in tests/oracles."""

    def find_file(name: str) -> Path:
        folder = PUBLISHED if (PUBLISHED / f"{name}.csv").is_file() else ORACLES
        return folder / f"{name}.csv"

    return find_file


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data sets beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (folder / "index.csv").is_file():
        pytest.skip("the real data sets (../shared/data) are not available")
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Handle SIGINT even if the tests were started in the background, where it is ignored."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
