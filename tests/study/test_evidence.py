"""Columns come back as they went in, bit for bit; damaged bytes are refused."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zstandard
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from fairtrial.errors import StoreError
from fairtrial.study.records import CODES, INDICES, NUMBERS, pack, unpack


@given(arrays.arrays(np.float64, st.integers(0, 60), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_numbers_keep_every_bit(values):
    assert unpack(pack(values, NUMBERS), NUMBERS).tobytes() == values.tobytes()


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=60))
def test_codes_come_back(codes):
    assert unpack(pack(codes, CODES), CODES).tolist() == codes


@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=60))
def test_places_come_back(places):
    assert unpack(pack(places, INDICES), INDICES).tolist() == places


def test_neighbouring_scores_stay_apart():
    close = np.array([1.0, np.nextafter(1.0, 0), np.nextafter(np.nextafter(1.0, 0), 0)])
    assert len(set(unpack(pack(close, NUMBERS), NUMBERS).tolist())) == 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_are_kept_row_after_row(order):
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], order=order)
    assert unpack(pack(table, NUMBERS), NUMBERS).tolist() == [1, 2, 3, 4, 5, 6]
    assert unpack(pack(table[::2], NUMBERS), NUMBERS).tolist() == [1, 2, 5, 6]


def test_bytes_are_little_endian_whatever_came():
    raw = zstandard.ZstdDecompressor().decompress(pack(np.array([1, 256], dtype=">i8"), INDICES))
    assert raw == b"\x01\x00\x00\x00\x00\x01\x00\x00"


def test_equal_columns_have_equal_bytes_in_every_thread():
    values = np.linspace(0, 1, 500)
    with ThreadPoolExecutor(4) as pool:
        barrier = threading.Barrier(4)

        def packed(_):
            barrier.wait(30)
            return pack(values, NUMBERS)

        assert set(pool.map(packed, range(4))) == {pack(values, NUMBERS)}


def test_what_was_kept_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        unpack(pack([1.0], NUMBERS), NUMBERS)[0] = 2.0


@given(st.binary(max_size=40))
def test_foreign_bytes_are_refused(damaged):
    with pytest.raises(StoreError, match="corrupted"):
        unpack(damaged, NUMBERS)


@given(st.integers(0, 60))
def test_cut_off_bytes_are_refused(kept):
    whole = pack(np.random.default_rng(1).random(20), NUMBERS)
    with pytest.raises(StoreError, match="corrupted"):
        unpack(whole[: min(kept, len(whole) - 1)], NUMBERS)


def test_bytes_of_another_type_are_refused():
    with pytest.raises(StoreError, match="corrupted"):
        unpack(pack([1, 2, 3], CODES), NUMBERS)


def test_a_single_bit_that_fell_over_is_found():
    whole = pack(np.random.default_rng(1).random(20), NUMBERS)
    values = unpack(whole, NUMBERS).tolist()
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        try:
            assert unpack(bytes(damaged), NUMBERS).tolist() == values, place
        except StoreError:
            continue
