"""From a declaration to trials: what each is known by, which are missing, how they travel."""
