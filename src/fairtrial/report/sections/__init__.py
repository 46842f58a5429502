"""Sections of a report: functions registered by `@section` that return a Section, or None if it does not apply."""
