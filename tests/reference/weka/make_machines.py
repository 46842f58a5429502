"""Regenerate machines.json: what WEKA's SMO predicts for the test rows, with linear, quadratic and Pearson VII kernels."""

from tests.reference.weka.asking import NAMES, built_in, predicted, write_answers

SMO, KERNELS = "weka.classifiers.functions.SMO", "weka.classifiers.functions.supportVector"
QUESTIONS = {
    "linear": [SMO, "-C", "1"],
    "quadratic": [SMO, "-C", "1", "-K", f"{KERNELS}.PolyKernel -E 2"],
    "puk": [SMO, "-C", "100", "-K", f"{KERNELS}.Puk -O 1 -S 1"],
}

if __name__ == "__main__":
    write_answers(__file__, {name: built_in(name) for name in NAMES}, QUESTIONS, predicted)
