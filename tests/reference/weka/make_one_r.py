"""Regenerate one_r.json: the rules of WEKA's OneR as it prints them, and the classes that it predicts on the test rows."""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import NAMES, ask, built_in, every_third, predicted, write_arff

LEARNER = "weka.classifiers.rules.OneR"
BUCKETS = [1, 6, 20]


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{part}.arff" for part in ("train", "test")]
        for name in NAMES:
            for part, path in zip(every_third(built_in(name)), paths, strict=True):
                write_arff(part, path)
            for bucket in BUCKETS:
                asked = [LEARNER, "-t", paths[0], "-T", paths[1], "-B", bucket]
                text = ask(*asked).lstrip("\n").split("correct)\n")[0] + "correct)\n"
                text = text[text.rindex("\n\n") + 2 :] if "\n\n" in text else text
                answers[f"{name} {bucket}"] = {"text": text, "predicted": predicted(*asked)}
    Path(__file__).with_name("one_r.json").write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
