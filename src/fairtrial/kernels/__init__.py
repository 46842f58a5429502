"""Compiled loops: arrays in, arrays out; no strings, no validation. Each has a plain-NumPy twin in tests/reference."""
