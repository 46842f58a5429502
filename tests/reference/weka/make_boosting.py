"""Regenerate boosting.json: class probabilities of WEKA's DecisionStump and of AdaBoostM1 over it, three decimals."""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import NAMES, built_in, distributions, every_third, write_arff

ASKED = {"stump": "weka.classifiers.trees.DecisionStump", "boosted": "weka.classifiers.meta.AdaBoostM1"}


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            train, test = every_third(built_in(name))
            paths = [Path(folder) / f"{name}-{part}.arff" for part in ("train", "test")]
            write_arff(train, paths[0])
            write_arff(test, paths[1])
            for learner, asked in ASKED.items():
                answers[f"{name} {learner}"] = distributions(asked, "-t", paths[0], "-T", paths[1])
    Path(__file__).with_name("boosting.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
