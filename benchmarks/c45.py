"""Time C45 against WEKA's J48 (its own clock, in one warm JVM) and scikit-learn's tree: `python -m benchmarks.c45`.

J48 needs Java and WEKA 3.6.14 (`WEKA_JAR`), and the real data sets next to the repository. C45 has two times: `fit` includes
reading and checking the frame; `build` starts from typed columns, like the clock of J48. The script prints the table and, with
`--write`, writes it to benchmarks/C45.md.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from tests.reference.weka.asking import write_arff
from tests.reference.weka.make_c45 import grown, real_sets

from fairtrial.learners.c45 import C45, build_tree
from fairtrial.learners.learner import get_declared_order

LEAST_ROWS = 1000


def quickest(work, repeats):
    """Return the shortest of several wall-clock times in milliseconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def building(X, y):
    """Return a function that only builds the tree."""
    learner = C45()
    training = learner._read_training(X, y)
    declared = len(get_declared_order(y, learner.classes_))
    return lambda: build_tree(training, learner._make_settings(), learner._order, declared)


def against_j48(builds):
    """Measure each real data set with more than a thousand rows."""
    sets = {name: data for name, data in real_sets() if len(data) > LEAST_ROWS}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name.replace(' ', '-')}.arff" for name in sets]
        for data, path in zip(sets.values(), paths, strict=True):
            write_arff(data.frame(), path)
        for (name, data), (_, seconds, _) in zip(sets.items(), grown("", paths, builds=builds), strict=True):
            X, y = data.X, data.y
            fit, build = quickest(lambda: C45().fit(X, y), builds), quickest(building(X, y), builds)  # noqa: B023
            facts = {"set": name, "rows": len(data), "columns": X.shape[1], "J48 ms": 1000 * seconds, "build ms": build}
            rows.append({**facts, "fit ms": fit, "J48/build": 1000 * seconds / build, "J48/fit": 1000 * seconds / fit})
    return pd.DataFrame(rows)


def against_scikit_learn(repeats):
    """100,000 rows of 20 numeric columns."""
    rows = []
    for noise in (0.0, 0.1):
        X, y = make_classification(100_000, 20, n_informative=8, flip_y=noise, random_state=0)
        ours = quickest(lambda: C45().fit(X, y), repeats)  # noqa: B023
        theirs = quickest(lambda: DecisionTreeClassifier(random_state=0).fit(X, y), repeats)  # noqa: B023
        rows.append({"label noise": noise, "C45 ms": ours, "DecisionTreeClassifier ms": theirs, "theirs/C45": theirs / ours})
    return pd.DataFrame(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=int, default=30, help="builds of each tree, of which the quickest counts")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    C45().fit(np.arange(8.0).reshape(-1, 1), [0, 1] * 4)  # compiled before the clock runs
    tables = [against_j48(chosen.builds), against_scikit_learn(3)]
    text = "\n\n".join(table.round(2).to_string(index=False) for table in tables)
    print(text)
    if chosen.write:
        page = f"# C4.5: time to build a tree\n\nFastest of {chosen.builds} builds; `python -m benchmarks.c45 --write`.\n\n"
        Path(__file__).with_name("C45.md").write_text(f"{page}```text\n{text}\n```\n")


if __name__ == "__main__":
    main()
