import os
import signal
import threading

import pytest

from fairtrial.study.run.coordinator import Interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_does_what_it_always_does(number):
    insisted = []
    usual = lambda *_: insisted.append(number)  # noqa: E731
    former = signal.signal(number, usual)
    try:
        with Interruption() as interruption:
            assert not interruption.requested
            os.kill(os.getpid(), number)
            assert interruption.requested
            assert insisted == []
            os.kill(os.getpid(), number)
            assert insisted == [number]
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, former)


def test_handlers_come_back_where_nothing_was_signalled():
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone():
    found = []
    stop = threading.Event()

    def enter():
        with Interruption(stop) as interruption:
            found.append((signal.getsignal(signal.SIGINT), interruption.requested))
            stop.set()
            found.append(interruption.requested)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [(signal.getsignal(signal.SIGINT), False), True]
