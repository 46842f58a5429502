"""Results derived from stored predictions: scores, losses, curves, summaries and the verdict."""
