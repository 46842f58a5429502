"""Regenerate boosting.json: class probabilities of WEKA's DecisionStump and of AdaBoostM1 over it, three decimals."""

from tests.reference.weka.asking import NAMES, built_in, distributions, write_answers

QUESTIONS = {"stump": ["weka.classifiers.trees.DecisionStump"], "boosted": ["weka.classifiers.meta.AdaBoostM1"]}

if __name__ == "__main__":
    write_answers(__file__, {name: built_in(name) for name in NAMES}, QUESTIONS, distributions)
