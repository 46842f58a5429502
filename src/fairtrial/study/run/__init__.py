"""Running trials: the coordinator, engines, supervisors and worker processes."""
