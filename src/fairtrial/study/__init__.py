"""Whole studies: declared, run, kept."""
