"""Galdi and Tagliaferri: estimates of a learner's error, compared with the true error on simulated problems."""
