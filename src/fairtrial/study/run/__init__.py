"""Running trials: engines, supervised worker processes, and the coordinator that stores their records."""
