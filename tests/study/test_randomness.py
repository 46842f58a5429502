import subprocess
import sys

import pytest

from fairtrial.study.randomness import derive_generator, derive_seed


def test_names_and_seed_decide_and_their_order_counts():
    seeds = {
        derive_seed(0, "a", "b"),
        derive_seed(1, "a", "b"),
        derive_seed(0, "b", "a"),
        derive_seed(0, "ab"),
        derive_seed(0, "a", "b", 0),
    }
    assert len(seeds) == 5
    assert derive_seed(0, "a", 1) == derive_seed(0, "a", "1")


def test_parts_of_names_cannot_be_confused():
    assert derive_seed(0, "a', 'b") != derive_seed(0, "a", "b")


def test_another_process_has_the_same_numbers():
    code = "from fairtrial.study.randomness import derive_seed; print(derive_seed(3, 'flu', 'train', 7))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(told) == derive_seed(3, "flu", "train", 7)


def test_generators_are_uniform():
    assert derive_generator(5, "x").random(100_000).mean() == pytest.approx(0.5, abs=0.005)
