"""The results file: its protocol, the SQLite backend, export and merge."""
