"""Galdi and Tagliaferri: estimates of a learner's error on simulated problems."""
