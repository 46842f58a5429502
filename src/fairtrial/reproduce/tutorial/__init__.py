"""Japkowicz: worked examples and tables of a tutorial on the evaluation of classifiers."""
