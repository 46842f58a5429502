"""The plan of a study: how trials are identified, selected and grouped into chunks."""
