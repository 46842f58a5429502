"""The worked examples and tables of the tutorial, computed anew."""
