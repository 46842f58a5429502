"""Compiled loops over arrays, without strings or validation. Each has a plain NumPy version in tests/reference."""
