"""Results computed from stored predictions: scores, curves, robustness and the verdict."""
