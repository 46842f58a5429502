from fairtrial.kernels.randomness import JavaRandom


def test_java_documents_its_generator():
    # System.out.println(new java.util.Random(42).nextInt(10)), five times, and with a bound that is a power of two
    source = JavaRandom(42)
    assert [source.draw_below(10) for _ in range(5)] == [0, 3, 8, 4, 0]
    source = JavaRandom(42)
    assert [source.draw_below(16) for _ in range(5)] == [11, 0, 10, 0, 4]


def test_a_shuffle_keeps_what_it_shuffles():
    rows = list("abcdefgh")
    JavaRandom(3).shuffle(rows)
    assert sorted(rows) == list("abcdefgh")
    assert rows != list("abcdefgh")


def test_whole_numbers_have_a_sign():
    # System.out.println(new java.util.Random(42).nextInt()), three times
    source = JavaRandom(42)
    assert [source.draw_int32() for _ in range(3)] == [-1170105035, 234785527, -1360544799]
