"""Regenerate nearest_neighbours.json: class probabilities of WEKA's IBk on the test rows, three decimals."""

from tests.reference.weka.asking import built_in, distributions, write_answers

QUESTIONS = {count: ["weka.classifiers.lazy.IBk", "-K", count] for count in ("1", "3", "5")}


def nominal_part():
    """The nominal columns of the mixed set: many ties, and gaps."""
    return built_in("mixed").drop(columns=["size", "whole"])


if __name__ == "__main__":
    frames = {"iris": built_in("iris"), "wine": built_in("wine"), "nominal": nominal_part()}
    write_answers(__file__, frames, QUESTIONS, distributions)
