"""Estimates of a learner's error against the error that is known, since the problems are simulated."""
