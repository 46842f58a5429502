"""Berrar: ranking measures on real data with noise."""
