"""A study declared, in TOML or in Python: read, checked, and its names resolved."""
