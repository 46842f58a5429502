"""One trial: the condition applied, the learner fitted and asked, what it left."""
