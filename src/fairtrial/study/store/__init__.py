"""The file that keeps the evidence."""
