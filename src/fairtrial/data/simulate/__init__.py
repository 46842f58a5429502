"""Populations that can be drawn from at will: the flu domain, and problems whose best possible error is known."""
