"""Significance: whether a difference between learners is more than chance, how large it is, and what to say about it."""
