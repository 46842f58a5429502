"""Regenerate c45/*.json: J48's trees, and the probabilities that they give.

`python -m tests.reference.weka.make_c45` needs Java and WEKA 3.6.14 (`WEKA_JAR`). trees.json holds the printed trees of sets
that come with scikit-learn or are drawn by a seed; real.json holds leaves, size and a hash of the printed tree for the ELA
paper's sets and for WEKA's example files, where they are at hand.
"""

import csv
import hashlib
import json
import re
import subprocess
import tempfile
import warnings
from pathlib import Path

from fairtrial.data import read_arff, read_keel
from tests.reference.trees import drawn
from tests.reference.weka.asking import JAR, SETS, built_in, write_arff

HERE = Path(__file__).parent / "c45"
SHARED = Path(__file__).resolve().parents[4] / "shared"
EXAMPLES = Path("/usr/share/doc/weka/examples")
SEEDS = range(16)
OPTIONS = ["", "-U", "-S -C 0.1", "-M 5 -A", "-B"]
RENAMED = {"monk": "monk-2", "new-thyroid": "newthyroid"}
NO_CLASSES = ("Reuters", "cpu")  # text attributes or a numeric class: not for J48


def real_sets():
    """The ELA paper's 32 sets and WEKA's example files, as far as they are there."""
    table = SHARED / "oracles" / "ela_table2_datasets.csv"
    names = [row["dataset"] for row in csv.DictReader(table.open())] if table.is_file() else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reader knows of damaged files
        for name in names:
            yield f"ela {name}", read_keel(SHARED / "data" / "keel-standard" / f"{RENAMED.get(name, name)}.dat")
    for path in sorted(EXAMPLES.glob("*.arff")):
        if not path.stem.startswith(NO_CLASSES):
            yield f"weka {path.stem}", read_arff(path)


def fingerprint(text):
    return hashlib.sha256(text.encode()).hexdigest()


def write_weighted(frame, weights, path):
    """An ARFF file whose rows end in their weight."""
    write_arff(frame, path)
    head, body = path.read_text().split("@data\n")
    rows = [f"{line}, {{{weight}}}" for line, weight in zip(body.splitlines(), weights, strict=True)]
    path.write_text(head + "@data\n" + "\n".join(rows) + "\n")


def grown(options, paths, *, builds=1, probabilities=False):
    """Of each file the printed tree, the seconds of the quickest build and the probabilities of its rows."""
    told = [options, str(builds), str(probabilities).lower(), *map(str, paths)]
    command = ["java", "-Xmx2g", "-cp", JAR, str(HERE / "Trees.java"), *told]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for part in printed.split("@file ")[1:]:
        seconds = float(re.search(r"@seconds (.*)", part).group(1))
        tree = part.split("@tree")[1].split("@row")[0].strip()
        rows = [[float(value) for value in line.split()[1:]] for line in part.splitlines() if line.startswith("@row")]
        yield tree, seconds, rows


def main():
    trees, real = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        known = {}
        for name in SETS:
            write_arff(built_in(name), known.setdefault(name, Path(folder) / f"{name}.arff"))
        for seed in SEEDS:
            write_weighted(*drawn(seed), known.setdefault(f"drawn {seed}", Path(folder) / f"drawn{seed}.arff"))
        for options in OPTIONS:
            for name, (tree, _, rows) in zip(known, grown(options, known.values(), probabilities=True), strict=True):
                kept = rows[:12] if name.startswith("drawn") else []
                trees[f"{name} {options}".strip()] = {"tree": tree, "probabilities": kept}
        paths = {}
        for name, data in real_sets():
            write_arff(data.frame(), paths.setdefault(name, Path(folder) / f"{name.replace(' ', '-')}.arff"))
        for name, (tree, _, _) in zip(paths, grown("", paths.values()), strict=True):
            leaves, size = (int(re.search(rf"{what}\s*:\s*(\d+)", tree).group(1)) for what in ("of Leaves", "of the tree"))
            real[name] = {"leaves": leaves, "size": size, "sha256": fingerprint(tree)}
    (HERE / "trees.json").write_text(json.dumps(trees, indent=0) + "\n")
    (HERE / "real.json").write_text(json.dumps(real, indent=0) + "\n")


if __name__ == "__main__":
    main()
