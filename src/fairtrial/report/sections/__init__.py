"""Sections of a report. Functions with the decorator `@section` return a Section, or None if it does not apply."""
