"""Learners that do what a learner should not. Each deed is done while fitting."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class UntellableError(Exception):
    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


class EndlessError(Exception):
    def __str__(self):
        while True:
            if self.args == ("never",):
                return "never"


def close_everything(_):
    os.closerange(3, 4096)


def close_everything_and_go_on(owner):
    os.closerange(3, 4096)
    for number in range(200):
        os.open(os.path.join(owner.folder, f"{number}"), os.O_CREAT | os.O_RDWR)
    time.sleep(1)


def write_everywhere(_):
    for descriptor in range(3, 4096):
        with suppress(OSError):
            os.write(descriptor, b"rubbish" * 20)


def write_half(_):
    """Too little to be seen as rubbish before the evidence comes."""
    for descriptor in range(3, 4096):
        with suppress(OSError):
            os.write(descriptor, b"r")


def print_much(_):
    line = b"x" * 65535 + b"\n"
    for _ in range(800):
        os.write(1, line)


def fork_and_return(_):
    os.fork()


def leave_process(owner):
    """A process that leaves our group, as daemons do, and writes down who it is."""
    code = (
        "import os, sys, time; os.setsid(); open(sys.argv[1], 'w').write(str(os.getpid())); print(flush=True); time.sleep(600)"
    )
    started = subprocess.Popen([sys.executable, "-S", "-c", code, owner.note], stdout=subprocess.PIPE)
    started.stdout.readline()
    started.stdout.close()


def leave_process_and_die(owner):
    leave_process(owner)
    os._exit(0)


def leave_thread(_):
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def leave_alarm(_):
    signal.signal(signal.SIGALRM, lambda *_: os._exit(9))
    signal.setitimer(signal.ITIMER_REAL, 0.3)


def linger(_):
    time.sleep(0.6)


def overflow(_):
    sys.setrecursionlimit(10**9)

    def deeper(value):
        return [deeper(sorted([value], key=deeper))]

    deeper(0)


def eat(_):
    kept = []
    while True:
        kept.append(np.ones(1_000_000))


def eat_in_c(_):
    """A library that gives up when it gets no memory, and says so."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    while library.malloc(1 << 24):
        pass
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def kill_warden(_):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def stop_oneself(_):
    os.kill(os.getpid(), signal.SIGSTOP)


def chdir(_):
    os.chdir("/")
    sys.setrecursionlimit(50_000)
    sys.stdout = None


def close_output(_):
    for descriptor in (1, 2):
        with suppress(OSError):
            os.close(descriptor)


def tell(owner):
    """Who and where we are, whole or not at all."""
    threads = [len(os.listdir(f"/proc/{process}/task")) for process in (os.getppid(), os.getpid())]
    facts = {
        "pid": os.getpid(),
        "warden": os.getppid(),
        "group": os.getpgrp(),
        "threads": threads,
        "environment": dict(os.environ),
    }
    facts |= {
        "descriptors": [int(each) for each in os.listdir("/proc/self/fd")],
        "input": sys.stdin.read(),
        "folder": os.getcwd(),
    }
    facts |= {"recursion": sys.getrecursionlimit(), "output": sys.stdout is not None}
    facts["alarm"] = str(signal.getsignal(signal.SIGALRM))
    with open(owner.note + ".part", "w") as file:
        json.dump(facts, file)
    os.replace(owner.note + ".part", owner.note)


def tell_and_sleep(owner):
    tell(owner)
    time.sleep(600)


def tell_and_wait(owner):
    """Until the file `folder` is there."""
    tell(owner)
    while not os.path.exists(owner.folder):
        time.sleep(0.02)


def tell_and_sleep_once(owner):
    if not os.path.exists(owner.note):
        tell_and_sleep(owner)


def reserve(owner):
    """Address space that is never touched."""
    owner.kept_ = np.empty(50_000_000)


def raise_(error):
    raise error


def talk_and_raise(_):
    print("I began", flush=True)
    os.write(2, b"and I complained\n")
    raise ValueError("too few rows")


DEEDS = {
    "nothing": lambda _: None,
    "raise": lambda _: raise_(ValueError("too few rows")),
    "talk and raise": talk_and_raise,
    "talk": lambda _: print("hello"),
    "interrupt": lambda _: raise_(KeyboardInterrupt("stop")),
    "sys.exit": lambda _: sys.exit(5),
    "untellable": lambda _: raise_(UntellableError()),
    "endless error": lambda _: raise_(EndlessError()),
    "os._exit": lambda _: os._exit(3),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "killpg": lambda _: os.killpg(os.getpgrp(), signal.SIGKILL),
    "terminate": lambda _: os.kill(os.getpid(), signal.SIGTERM),
    "abort": lambda _: os.abort(),
    "null pointer": lambda _: ctypes.string_at(0),
    "loop": lambda _: raise_(ValueError(sum(1 for _ in iter(int, 1)))),
    "loop in C": lambda _: pow(7, 10**10),
    "sleep": lambda _: time.sleep(600),
    "close everything": close_everything,
    "close everything and go on": close_everything_and_go_on,
    "write everywhere": write_everywhere,
    "write half": write_half,
    "print much": print_much,
    "fork and return": fork_and_return,
    "leave process": leave_process,
    "leave process and die": leave_process_and_die,
    "leave thread": leave_thread,
    "leave alarm": leave_alarm,
    "linger": linger,
    "overflow": overflow,
    "eat": eat,
    "eat in C": eat_in_c,
    "kill warden": kill_warden,
    "stop oneself": stop_oneself,
    "tell": tell,
    "tell and sleep": tell_and_sleep,
    "tell and sleep once": tell_and_sleep_once,
    "tell and wait": tell_and_wait,
    "reserve": reserve,
    "chdir": chdir,
    "close output": close_output,
}


class Trouble(ClassifierMixin, BaseEstimator):
    """Does a deed, then predicts the class that is most common. `folder` and `note` are for what a deed writes."""

    def __init__(self, deed="nothing", folder="", note=""):
        self.deed = deed
        self.folder = folder
        self.note = note

    def fit(self, X, y):
        DEEDS[self.deed](self)
        self.classes_, counts = np.unique(np.asarray(y), return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.shares_.argmax()])

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))
