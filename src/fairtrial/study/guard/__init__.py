"""Trials under guard: a process of their own, limits, and blame for what fails."""
