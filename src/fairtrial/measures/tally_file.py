"""Tallies of files that are larger than memory, counted by DuckDB."""
