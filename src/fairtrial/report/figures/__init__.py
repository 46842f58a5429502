"""Figures: each takes finished frames and returns an Altair chart."""
