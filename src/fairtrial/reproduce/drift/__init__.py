"""The drift study of the tutorial: learners that are trained in one environment and used in another."""
