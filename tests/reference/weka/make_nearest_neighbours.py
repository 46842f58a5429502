"""Regenerate nearest_neighbours.json: class probabilities of WEKA's IBk on the test rows, three decimals."""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import built_in, distributions, every_third, write_arff

OPTIONS = {"1": ["-K", "1"], "3": ["-K", "3"], "5": ["-K", "5"]}


def nominal_part():
    """The nominal columns of the mixed set: many ties, and gaps."""
    return built_in("mixed").drop(columns=["size", "whole"])


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in {"iris": built_in("iris"), "wine": built_in("wine"), "nominal": nominal_part()}.items():
            train, test = every_third(frame)
            paths = [Path(folder) / f"{name}-{part}.arff" for part in ("train", "test")]
            write_arff(train, paths[0])
            write_arff(test, paths[1])
            for count, options in OPTIONS.items():
                asked = ["weka.classifiers.lazy.IBk", "-t", paths[0], "-T", paths[1], *options]
                answers[f"{name} {count}"] = distributions(*asked)
    Path(__file__).with_name("nearest_neighbours.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
