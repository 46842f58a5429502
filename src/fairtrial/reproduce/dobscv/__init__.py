"""López, Fernández and Herrera: stratified cross-validation (SCV) and DOB-SCV on imbalanced data sets."""
