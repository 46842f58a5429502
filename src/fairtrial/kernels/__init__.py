"""Compiled loops over arrays, without strings or validation. Each loop has a plain NumPy version in tests/reference."""
