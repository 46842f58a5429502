"""Sections, tables and figures of a report."""

import dataclasses

import pandas as pd
import pytest

from fairtrial.report.section import Figure, ReportTable, Section


def test_parts_are_frozen_and_have_defaults():
    table = ReportTable("means", "Means", pd.DataFrame({"x": [1]}))
    figure = Figure("roc", "ROC", None, "a curve")
    section = Section("scores", "Scores", tables=(table,), figures=(figure,))
    assert (table.formats, table.note, table.best, table.long) == ({}, "", None, False)
    assert figure.frame is None
    assert (section.sentences, section.notes, section.subsections) == ((), (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        section.title = "other"


def test_tables_do_not_share_their_formats():
    one, other = (ReportTable(key, "", pd.DataFrame()) for key in ("a", "b"))
    one.formats["x"] = "{:.1f}"
    assert other.formats == {}
