"""Regenerate machines.json: which test rows WEKA's SMO gets right, with linear, quadratic and Pearson VII kernels."""

import json
import tempfile
from pathlib import Path

from tests.reference.weka.asking import NAMES, built_in, every_third, predicted, write_arff

KERNELS = {
    "linear": ["-C", "1"],
    "quadratic": ["-C", "1", "-K", "weka.classifiers.functions.supportVector.PolyKernel -E 2"],
    "puk": ["-C", "100", "-K", "weka.classifiers.functions.supportVector.Puk -O 1 -S 1"],
}


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            train, test = every_third(built_in(name))
            paths = [Path(folder) / f"{name}-{part}.arff" for part in ("train", "test")]
            write_arff(train, paths[0])
            write_arff(test, paths[1])
            for kernel, options in KERNELS.items():
                asked = ["weka.classifiers.functions.SMO", "-t", paths[0], "-T", paths[1], *options]
                answers[f"{name} {kernel}"] = predicted(*asked)
    Path(__file__).with_name("machines.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
