"""Figures. Each `draw_*` function takes finished frames and returns an Altair chart."""
