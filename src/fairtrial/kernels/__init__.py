"""Compiled loops over arrays.

The loops do not use strings or check their input. Each loop has a plain NumPy version in tests/reference.
"""
