"""López, Fernández and Herrera: SCV and DOB-SCV on imbalanced data sets."""
