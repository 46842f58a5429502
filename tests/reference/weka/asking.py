"""Ask WEKA 3.6.14 (Debian's package `weka`): write a table as ARFF, run a class of it, read what it predicts."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

JAR = os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar")
SETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
NAMES = [*SETS, "mixed"]


def built_in(name):
    """One of scikit-learn's sets as a frame, the class last and as text; or the mixed one."""
    if name == "mixed":
        return mixed()
    bunch = SETS[name](as_frame=True)
    classes = [str(each) for each in bunch.target_names]
    names = [re.sub(r"\W+", "_", column).strip("_") for column in bunch.data.columns]
    frame = bunch.data.set_axis(names, axis=1).astype(float)
    return frame.assign(**{"class": pd.Categorical.from_codes(bunch.target, classes)})


def mixed(seed=7, n=240):
    """Numeric and nominal columns with gaps, three classes, made from a seed by arithmetic that no library can change."""
    state, rows = seed, []

    def draw():
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return state / 2**31

    for _ in range(n):
        place = int(draw() * 3)
        size = round(place * 1.5 + sum(draw() for _ in range(4)), 2)
        hue = ["red", "green", "blue", "grey"][int((draw() * 2 + place) % 4)]
        flag = "yes" if draw() < 0.3 + 0.2 * place else "no"
        whole = float(int(draw() * 6) + place)
        row = [size, hue, flag, whole]
        rows.append([None if draw() < 0.06 else cell for cell in row] + ["abc"[place if draw() < 0.9 else int(draw() * 3)]])
    frame = pd.DataFrame(rows, columns=["size", "hue", "flag", "whole", "class"])
    values = {"hue": ["red", "green", "blue", "grey"], "flag": ["no", "yes"], "class": ["a", "b", "c"]}
    typed = {name: pd.Categorical(frame[name], declared) for name, declared in values.items()}
    return frame.assign(**typed).astype({"size": float, "whole": float})


def every_third(frame):
    """Training and test rows: every third row tests."""
    test = frame.index % 3 == 2
    return frame[~test], frame[test]


def quoted(text):
    return "'" + str(text).replace("\\", "\\\\").replace("'", "\\'") + "'"


def cell_text(cell):
    return "?" if pd.isna(cell) else quoted(cell) if isinstance(cell, str) else repr(float(cell))


def write_arff(frame, path):
    """The frame with its category columns as nominal attributes, in declared order."""
    lines = [f"@relation {quoted(Path(path).stem)}"]
    for column in frame.columns:
        nominal = isinstance(frame[column].dtype, pd.CategoricalDtype)
        values = "{" + ",".join(map(quoted, frame[column].cat.categories)) + "}" if nominal else "numeric"
        lines.append(f"@attribute {quoted(column)} {values}")
    lines.append("@data")
    lines += [",".join(map(cell_text, row)) for row in frame.itertuples(index=False)]
    Path(path).write_text("\n".join(lines) + "\n")


def ask(*arguments):
    """What a WEKA class prints."""
    command = ["java", "-Xmx2g", "-cp", JAR, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def distributions(*arguments):
    """Class probabilities of the test rows, in order, to three decimals."""
    lines = ask(*arguments, "-p", "0", "-distribution").splitlines()
    rows = [line.split()[-1] for line in lines if re.match(r"\s*\d+\s+\S+:\S+\s+\S+:", line)]
    return [[float(cell.lstrip("*")) for cell in row.split(",")] for row in rows]


def predicted(*arguments):
    """Numbers (from 0) of the predicted classes of the test rows, in order."""
    lines = ask(*arguments, "-p", "0").splitlines()
    rows = [line.split() for line in lines if re.match(r"\s*\d+\s+\S+:\S+\s+\S+:", line)]
    return [int(row[2].split(":")[0]) - 1 for row in rows]


def write_answers(script, frames, questions, answer):
    """Ask each question about each frame, trained on two thirds and tested on every third row; keep the answers as JSON."""
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in frames.items():
            paths = [Path(folder) / f"{name}-{part}.arff" for part in ("train", "test")]
            for part, path in zip(every_third(frame), paths, strict=True):
                write_arff(part, path)
            for what, (asked, *options) in questions.items():
                answers[f"{name} {what}"] = answer(asked, "-t", paths[0], "-T", paths[1], *options)
    file = Path(script).with_name(Path(script).stem.removeprefix("make_") + ".json")
    file.write_text(json.dumps(answers) + "\n")
