"""Figures, drawn as Altair charts.

Functions named `draw_study_*` take the results of a study and a `Selection`. Other `draw_*` functions take the data to be
drawn, usually as frames.
"""
