"""Regenerate naive_bayes.json: class probabilities of WEKA's NaiveBayes on the test rows, three decimals."""

from tests.reference.weka.asking import NAMES, built_in, distributions, write_answers

BAYES = "weka.classifiers.bayes.NaiveBayes"
QUESTIONS = {"normal": [BAYES], "kernel": [BAYES, "-K"], "discretised": [BAYES, "-D"]}

if __name__ == "__main__":
    write_answers(__file__, {name: built_in(name) for name in NAMES}, QUESTIONS, distributions)
