"""Read study specifications from TOML or Python, check them, and resolve the names in them."""
