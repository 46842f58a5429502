"""Compiled loops over arrays.

The loops do not use strings and do not check their input. Each loop has a plain NumPy version in tests/reference.
"""
