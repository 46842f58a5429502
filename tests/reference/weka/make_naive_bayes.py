"""Regenerate naive_bayes.json: class probabilities of WEKA's NaiveBayes on the test rows, three decimals."""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import NAMES, built_in, distributions, every_third, write_arff

OPTIONS = {"normal": [], "kernel": ["-K"], "discretised": ["-D"]}


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            train, test = every_third(built_in(name))
            paths = [Path(folder) / f"{name}-{part}.arff" for part in ("train", "test")]
            write_arff(train, paths[0])
            write_arff(test, paths[1])
            for numeric, options in OPTIONS.items():
                asked = ["weka.classifiers.bayes.NaiveBayes", "-t", paths[0], "-T", paths[1], *options]
                answers[f"{name} {numeric}"] = distributions(*asked)
    Path(__file__).with_name("naive_bayes.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
