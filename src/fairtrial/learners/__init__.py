"""The learners of the papers as scikit-learn estimators, and a catalogue of others."""
