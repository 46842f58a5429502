"""Japkowicz: learners trained in one environment and tested in another."""
