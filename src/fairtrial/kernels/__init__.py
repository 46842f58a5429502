"""Compiled loops over arrays.

The loops work on numbers only and do not check their input. The tests compare them with plain implementations.
"""
