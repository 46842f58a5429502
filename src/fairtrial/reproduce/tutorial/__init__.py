"""The worked examples and tables of a tutorial on evaluating classifiers, computed again."""
