"""Pages and pictures, made from finished frames."""
