"""The specification of a study: read it from TOML or Python, check it, and resolve its names."""
