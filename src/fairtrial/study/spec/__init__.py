"""The specification of a study: read from TOML or Python, checked, and its names resolved."""
