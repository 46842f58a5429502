"""Results derived from evidence: scores, losses, curves, verdicts."""
