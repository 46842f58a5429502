"""Berrar: ranking measures on simulated scores with noise."""
