"""Japkowicz: performance of learners that are trained in one environment and tested in another."""
