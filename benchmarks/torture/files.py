"""Mutate input files at random. Each must give a normal result or one sentence, within 10 seconds."""

from __future__ import annotations

import io
import multiprocessing
import random
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.torture import Case, count_cases

CASES = 5_400
_SECONDS = 10
_WALL_SECONDS = 120
_BATCH_SIZE = 600
_INSERTIONS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b",", b";", b"\t", b"%", b"{", b"}", b"[", b"@", b"\\"),
    *(b"1e999", b"-1e400", b"9" * 400, b"nan", b"inf", b"NULL", b"?", b"1_000", b"0x1F", b"1e-400", b"2026-13-45"),
    *("é".encode(), "é".encode("latin-1"), "日本".encode("utf-16"), "\u202e".encode(), b"=cmd()", b"[[" * 200, b"a" * 100_000),
)


def run(scale: float) -> Iterator[Case]:
    """Attack every reader with mutated files."""
    n_cases = count_cases(CASES, scale)
    seeds = list(range(n_cases))
    batches = [seeds[start : start + _BATCH_SIZE] for start in range(0, n_cases, _BATCH_SIZE)]
    context = multiprocessing.get_context("fork")
    for batch in batches:
        yield from _run_batch(batch, context)


def _run_batch(seeds: list[int], context: Any) -> Iterator[Case]:
    """Run cases in a process of their own. If it is lost, the case in progress is a crash, and the others continue."""
    remaining = list(seeds)
    while remaining:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run_cases, args=(remaining, sender))
        process.start()
        sender.close()
        started: tuple[str, int] | None = None
        reason = "the process ended"
        while True:
            if not receiver.poll(_WALL_SECONDS):
                reason = f"no answer within {_WALL_SECONDS} s"
                process.kill()
                break
            try:
                message = receiver.recv()
            except EOFError:
                break
            if isinstance(message, Case):
                remaining.remove(message.seed)
                started = None
                yield message
            else:
                started = message
        process.join()
        if started is not None:
            remaining.remove(started[1])
            yield Case("files", started[0], started[1], "crash", f"{reason} (exit code {process.exitcode})")


def _run_cases(seeds: list[int], sender: Any) -> None:
    originals = build_originals()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        for kind, (suffix, content, call) in originals.items():  # imports and compilation do not count
            path = Path(folder, f"{kind}.{suffix}")
            path.write_bytes(content)
            call(path)
        for seed in seeds:
            rng = random.Random(seed)
            kind = sorted(originals)[seed % len(originals)]
            suffix, content, call = originals[kind]
            path = Path(folder, f"{kind}.{suffix}")
            path.write_bytes(mutate(content, rng))
            sender.send((kind, seed))
            sender.send(Case("files", kind, seed, *judge_call(call, path)))
    sender.close()


def judge_call(call: Callable[[Path], Any], path: Path) -> tuple[str, str]:
    """Call a reader, and return the outcome and a detail."""
    from fairtrial.errors import FairtrialError, FairtrialWarning, SpecError

    signal.signal(signal.SIGPROF, _raise_timeout)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # processor time, because other programs may run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FairtrialWarning)
            call(path)
    except SpecError as error:
        lines = str(error).splitlines()
        return ("refused", str(error)) if len(lines) == max(1, len(error.problems)) else ("crash", f"several lines: {error}")
    except FairtrialError as error:
        return ("refused", str(error)) if "\n" not in str(error).strip() else ("crash", f"several lines: {error}")
    except BaseException:
        return "crash", traceback.format_exc()[-2500:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "identical", ""


def _raise_timeout(*_: object) -> None:
    raise TimeoutError(f"no answer within {_SECONDS} s")


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Apply one to three random mutations to the content of a file."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        content = rng.choice(_MUTATIONS)(content, rng)
    return content


def _flip_bits(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 40])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _replace_bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 3, 20])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _cut_out(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.choice([1, 2, 10, 100, 1000]) :]


def _repeat_part(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    part = content[start : start + rng.choice([1, 5, 50, 500])]
    return content[:start] + part * rng.choice([2, 3, 50]) + content[start:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.choice(_INSERTIONS) + content[start:]


def _change_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    index, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.choice(["duplicate", "delete", "swap", "copy", "join"])
    if change == "duplicate":
        lines.insert(index, lines[index])
    elif change == "delete":
        del lines[index]
    elif change == "swap":
        lines[index], lines[other] = lines[other], lines[index]
    elif change == "copy":
        lines[index] = lines[other]
    else:
        lines[index : index + 2] = [b"".join(lines[index : index + 2])]
    return b"\n".join(lines)


def _change_word(content: bytes, rng: random.Random) -> bytes:
    """Replace a number or a word, found at a random position, with something extreme."""
    start = rng.randrange(len(content) + 1)
    end = start
    while start > 0 and content[start - 1 : start].isalnum():
        start -= 1
    while end < len(content) and content[end : end + 1].isalnum():
        end += 1
    return content[:start] + rng.choice(_INSERTIONS) + content[end:]


def _recode(content: bytes, rng: random.Random) -> bytes:
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037", "utf-7"])
    return content.decode("latin-1").encode(encoding, "replace")


def _change_ends(content: bytes, rng: random.Random) -> bytes:
    return content.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"", b"\x0b", b"\x00", b"\xe2\x80\xa8"]))


_MUTATIONS = (
    *(_flip_bits, _replace_bytes, _truncate, _cut_out, _repeat_part, _insert, _insert),
    *(_change_line, _change_line, _change_word, _change_word, _recode, _change_ends),
)


def build_originals() -> dict[str, tuple[str, bytes, Callable[[Path], Any]]]:
    """Build the intact files: suffix, content, and the function that reads the mutated file."""
    from fairtrial import compare, data

    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    table = pd.DataFrame(
        {
            "size": (rng.normal(size=40) + labels).round(3),
            "count": rng.integers(0, 9, 40),
            "colour": np.array(["red", "green", "blue"])[rng.integers(0, 3, 40)],
            "class": np.array(["no", "yes"])[labels],
        }
    )
    predictions = pd.DataFrame(
        {
            "row": np.arange(40),
            "y_true": np.array(["no", "yes"])[labels],
            **{model: (0.4 * labels + 0.6 * rng.random(40)).round(3) for model in ("tree", "bayes")},
        }
    )
    long = predictions.melt(id_vars=["row", "y_true"], var_name="model", value_name="score")
    scores = pd.DataFrame({learner: rng.random(12).round(3) for learner in ("tree", "bayes", "rule")})
    scores.insert(0, "dataset", [f"data-{index}" for index in range(12)])
    return {
        "data-csv": ("csv", table.to_csv(index=False, sep=";").encode(), data.read),
        "data-arff": ("arff", _format_arff(table, "{red,green,blue}").encode(), data.read),
        "data-keel": ("dat", _format_keel(table).encode(), data.read),
        "data-parquet": ("parquet", _to_parquet(table), data.read),
        "data-json": ("jsonl", table.to_json(orient="records", lines=True).encode(), data.read),
        "predictions-csv": ("csv", predictions.to_csv(index=False).encode(), _judge),
        "predictions-long-csv": ("csv", long.to_csv(index=False, sep=";").encode(), _judge),
        "predictions-json": ("jsonl", predictions.to_json(orient="records", lines=True).encode(), _judge),
        "predictions-parquet": ("parquet", _to_parquet(predictions), _judge),
        "predictions-streamed-csv": ("csv", predictions.to_csv(index=False).encode(), _judge_streamed),
        "predictions-streamed-parquet": ("parquet", _to_parquet(predictions), _judge_streamed),
        "scores-csv": ("csv", scores.to_csv(index=False).encode(), compare),
        "scores-parquet": ("parquet", _to_parquet(scores), compare),
        "scores-json": ("jsonl", scores.to_json(orient="records", lines=True).encode(), compare),
        "study-toml": ("toml", _STUDY.encode(), _plan_study),
    }


def _judge(path: Path) -> str:
    from fairtrial import judge

    return str(judge(path, resamples=100))


def _judge_streamed(path: Path) -> str:
    from fairtrial import judge

    return str(judge(path, resamples=100, stream=True))


def _plan_study(path: Path) -> Any:
    from fairtrial import Study
    from fairtrial.study.plan.plan import plan_study

    return plan_study(Study.read(path).resolve()).n_trials


def _to_parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    return buffer.getvalue()


def _format_arff(table: pd.DataFrame, colours: str) -> str:
    head = f"@attribute size numeric\n@attribute count integer\n@attribute colour {colours}\n@attribute class {{no,yes}}\n"
    return f"% a comment\n@relation small\n{head}@data\n{table.to_csv(index=False, header=False)}"


def _format_keel(table: pd.DataFrame) -> str:
    head = "@attribute size real [-5.0, 5.0]\n@attribute count integer [0, 9]\n@attribute colour {red, green, blue}\n"
    head += "@attribute class {no, yes}\n@inputs size, count, colour\n@outputs class\n"
    return f"@relation small\n{head}@data\n{table.to_csv(index=False, header=False)}"


_STUDY = """name = "small"
seed = 7
measures = ["accuracy", "auc"]

[data]
sets = ["iris", "wine"]

[learners]
bayes = "gaussian-nb"
tree = { learner = "sklearn.tree.DecisionTreeClassifier", parameters = { max_depth = 3, min_samples_leaf = 2 } }

[conditions]
class-noise = [0, 0.1]

[resampling]
scheme = "stratified"
folds = 3
repeats = 2

[verdict]
measure = "auc"
alpha = 0.05

[limits]
time = "10 min"
memory = "2 GB"
"""
