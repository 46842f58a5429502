"""SCV against DOB-SCV on imbalanced data, and both against a known truth."""
