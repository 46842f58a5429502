"""Sections of a report: functions registered by `@section`. Each returns a Section, or None if it does not apply."""
