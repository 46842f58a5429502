"""Sections of a report. Functions with the decorator `@section` return a `Section`, or None if the section does not apply."""
