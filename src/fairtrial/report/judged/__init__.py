"""The report of a judgement on predictions, section by section."""
