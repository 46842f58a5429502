"""Sections of a report. Functions decorated with `@section` return a `Section`, or None if the section does not apply."""
