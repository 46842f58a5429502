"""Regenerate ripper.json: the rules of WEKA's JRip as it prints them, and its class probabilities on the test rows.

And ripper_examples.json: its rules on the data sets that come with WEKA, which are not copied here.
"""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import NAMES, ask, built_in, distributions, every_third, write_arff

EXAMPLES = Path("/usr/share/doc/weka/examples")
EXAMPLE_NAMES = [
    "diabetes",
    "ionosphere",
    "segment-challenge",
    "credit-g",
    "vote",
    "breast-cancer",
    "labor",
    "soybean",
    "glass",
    "iris",
    "weather.nominal",
    "weather.numeric",
    "contact-lenses",
    "unbalanced",
]
LEARNER = "weka.classifiers.rules.JRip"
OPTIONS = {
    "default": [],
    "seed 7": ["-S", 7],
    "built only": ["-O", 0],
    "unpruned": ["-P"],
    "many folds": ["-F", 5, "-O", 4, "-N", 4, "-S", -3],
    "errors allowed": ["-E", "-N", 0.5],
}


def rules(text):
    """The list of rules in what JRip prints."""
    return text[text.index("JRIP rules") : text.index("\n", text.index("Number of Rules")) + 1]


def examples():
    return {
        f"{name} {seed}": rules(ask(LEARNER, "-t", EXAMPLES / f"{name}.arff", "-no-cv", "-v", "-S", seed))
        for name in EXAMPLE_NAMES
        for seed in (1, 5)
    }


def main():
    Path(__file__).with_name("ripper_examples.json").write_text(json.dumps(examples(), indent=0) + "\n")
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{part}.arff" for part in ("train", "test")]
        for name in NAMES:
            for part, path in zip(every_third(built_in(name)), paths, strict=True):
                write_arff(part, path)
            for case, options in OPTIONS.items():
                asked = [LEARNER, "-t", paths[0], "-T", paths[1], *options]
                answers[f"{name}, {case}"] = {"text": rules(ask(*asked)), "probabilities": distributions(*asked)}
    Path(__file__).with_name("ripper.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
