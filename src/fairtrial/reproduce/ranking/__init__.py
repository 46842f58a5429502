"""Berrar's experiments with ranking measures under noise: on simulated scores, and on real data."""
