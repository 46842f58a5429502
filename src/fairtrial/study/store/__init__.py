"""The results file: its interface, the SQLite backend, export and merge."""
