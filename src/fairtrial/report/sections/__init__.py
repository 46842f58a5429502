"""The sections of a report, one in each module: `section(results)` gives it, or None where it does not apply."""
