"""Predictions of any origin: read, checked, judged."""
