"""Specifications of studies: reading them from TOML or Python, checking them, and resolving the names in them."""
